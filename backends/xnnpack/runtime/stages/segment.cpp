// Builds XNNPACK's graph of a segment once; later only changes are passed to XNNPACK.

#include "backends/xnnpack/runtime/stages/segment.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "backends/xnnpack/library/epilogue.h"
#include "backends/xnnpack/library/placed_workspace.h"
#include "backends/xnnpack/library/profiled_nodes.h"
#include "backends/xnnpack/runtime/graph/node_kinds.h"
#include "backends/xnnpack/runtime/stages/hand_over.h"
#include "backends/xnnpack/runtime/stages/make_array.h"

namespace taper::xnnpack {
namespace {

using wire::DataType;

// Deletes XNNPACK's description of a graph in its destructor.
struct SubgraphOwner {
  xnn_subgraph_t graph = nullptr;
  ~SubgraphOwner() {
    if (graph != nullptr) xnn_delete_subgraph(graph);
  }
};

xnn_datatype xnn_type(DataType type) {
  switch (type) {
    case DataType::FP32:
      return xnn_datatype_fp32;
    case DataType::FP16:
      return xnn_datatype_fp16;
    case DataType::QINT8:
      return xnn_datatype_qint8;
    case DataType::QUINT8:
      return xnn_datatype_quint8;
    case DataType::QINT32:
      return xnn_datatype_qint32;
    case DataType::QCINT8:
      return xnn_datatype_qcint8;
    case DataType::QCINT32:
      return xnn_datatype_qcint32;
    case DataType::QCINT4:
      return xnn_datatype_qcint4;
    case DataType::QDINT8:
      return xnn_datatype_qdint8;
    case DataType::QBINT4:
      return xnn_datatype_qbint4;
    default:
      return xnn_datatype_invalid;
  }
}

}  // namespace

// Visits the nodes that XNNPACK computes, without those of epilogues, by number.
template <typename Visit>
void Segment::visit_nodes(Visit visit) const {
  for (size_t n = first_; n < last_; n += 1 + epilogues_[n].nodes) {
    if (graph_->nodes()[n].is_needed) visit(n);
  }
}

// Visits every value that one of these reads or writes, some more than once.
template <typename Visit>
void Segment::visit_values(Visit visit) const {
  visit_nodes([&](size_t n) {
    const XnnNode& node = graph_->nodes()[n];
    const Fusion& epilogue = epilogues_[n];
    for (uint32_t id : node.inputs) {
      if (id != kNone) visit(id, false);
    }
    if (epilogue.inputs[1] != kNone) visit(epilogue.inputs[1], false);
    visit(epilogue.nodes > 0 ? epilogue.output : node.output, true);
  });
}

Segment::~Segment() {
  if (runtime_ != nullptr) xnn_delete_runtime(runtime_);
  if (workspace_ != nullptr) xnn_release_workspace(workspace_);
}

Status Segment::build(const Subgraph& graph, size_t first, size_t last, const Fusion* epilogues,
                      const Shared& shared, bool in_half) {
  graph_ = &graph;
  first_ = first;
  last_ = last;
  epilogues_ = epilogues;
  TAPER_TRY(find_externals());
  if (shared.profiler != nullptr) node_ends_ = make_array<uint32_t>(last - first);
  TAPER_TRY(status_of(taper_create_placed_workspace(&workspace_),
                      "there is no memory for the workspace"));
  const uint32_t flags = shared.profiler != nullptr ? XNN_FLAG_BASIC_PROFILING : 0;
  if (in_half && create(shared, flags | XNN_FLAG_FORCE_FP16_INFERENCE).ok()) return {};
  return create(shared, flags);
}

Status Segment::create(const Shared& shared, uint32_t flags) {
  SubgraphOwner subgraph;
  TAPER_TRY(
      status_of(xnn_create_subgraph(static_cast<uint32_t>(external_count_), 0, &subgraph.graph),
                "XNNPACK cannot create a graph"));
  const bool in_half = (flags & XNN_FLAG_FORCE_FP16_INFERENCE) != 0;
  const Status defined = define(subgraph.graph, in_half);
  for (XnnValue& value : graph_->values()) value.xnn_id = kNone;
  TAPER_TRY(defined);
  const pthreadpool_t pool = pool_for(*graph_, first_, last_, shared);
  return status_of(
      xnn_create_runtime_v4(subgraph.graph, shared.weights, workspace_, pool, flags, &runtime_),
      "XNNPACK refuses the graph");
}

// Numbers external values in the order of their first use; xnn_id holds the number meanwhile.
Status Segment::find_externals() {
  const Span<XnnValue> values = graph_->values();
  visit_values([&](uint32_t id, bool) {
    if (!values[id].is_shared || values[id].xnn_id != kNone) return;
    values[id].xnn_id = static_cast<uint32_t>(external_count_++);
  });
  externals_ = make_array<External>(external_count_);
  bound_ = make_array<xnn_external_value>(external_count_);
  const bool has_memory = externals_ != nullptr && bound_ != nullptr;
  visit_values([&](uint32_t id, bool is_result) {
    const uint32_t place = values[id].xnn_id;
    if (!has_memory || !values[id].is_shared) return;
    externals_[place].id = id;
    externals_[place].is_result |= is_result;
  });
  for (XnnValue& value : values) value.xnn_id = kNone;
  TAPER_REQUIRE(has_memory, Error::kDelegateMemoryAllocationFailed,
                "there is no memory for the arguments");
  return {};
}

Status Segment::define(xnn_subgraph_t subgraph, bool in_half) {
  const Span<XnnValue> values = graph_->values();
  Status status;
  for (uint32_t place = 0; place < external_count_; ++place) {
    XnnValue& value = values[externals_[place].id];
    TAPER_TRY(define_value(subgraph, place, value));
  }
  visit_values([&](uint32_t id, bool) {
    if (!status.ok() || values[id].xnn_id != kNone) return;
    status = define_value(subgraph, XNN_INVALID_VALUE_ID, values[id]);
  });
  uint32_t conversions = 0;
  visit_nodes([&](size_t n) {
    if (!status.ok()) return;
    status = define_node(subgraph, n);
    if (node_ends_ == nullptr) return;
    if (in_half) conversions += conversions_of(n);
    node_ends_[n - first_] = taper_defined_nodes(subgraph) + conversions;
  });
  return status;
}

Status Segment::define_node(xnn_subgraph_t subgraph, size_t n) const {
  const XnnNode& node = graph_->nodes()[n];
  const Span<XnnValue> values = graph_->values();
  const Fusion& epilogue = epilogues_[n];
  // The node computes what its epilogue then changes in place.
  if (epilogue.nodes > 0) values[node.output].xnn_id = values[epilogue.output].xnn_id;
  xnn_status status = node.kind->define(subgraph, node, values);
  if (status == xnn_status_success && epilogue.nodes > 0) {
    taper_epilogue tiles = {};
    tiles.apply = finish_tile;
    tiles.context = &epilogue;
    status = taper_define_epilogue(subgraph, &tiles, id_of(epilogue.inputs[1], values));
  }
  return status_of(status, "XNNPACK refuses a node of the graph");
}

// How many nodes XNNPACK puts before and after a node in float16: one for each operand that is
// float32 outside and that no node before it reads, and one for such a result. The xnn_id of what
// is outside is its place.
uint32_t Segment::conversions_of(size_t n) const {
  const XnnNode& node = graph_->nodes()[n];
  const auto is_read_before = [&](uint32_t id) {
    return std::any_of(&graph_->nodes()[first_], &graph_->nodes()[n], [&](const XnnNode& other) {
      return other.is_needed && std::find(std::begin(other.inputs), std::end(other.inputs), id) !=
                                    std::end(other.inputs);
    });
  };
  const Span<const XnnValue> values = graph_->values();
  uint32_t count = values[node.output].is_shared ? 1 : 0;
  for (uint32_t id : node.inputs) {
    if (id == kNone || !values[id].is_shared) continue;
    const bool is_argument = !externals_[values[id].xnn_id].is_result;
    if (is_argument && !is_read_before(id)) ++count;
  }
  return count;
}

Status Segment::define_value(xnn_subgraph_t subgraph, uint32_t place, XnnValue& value) const {
  const XnnDims shape(value.shape);
  const size_t rank = shape.rank;
  const size_t* dims = shape.sizes;
  const xnn_datatype type = xnn_type(value.type);
  uint32_t flags = 0;
  if (place != XNN_INVALID_VALUE_ID) {
    flags = externals_[place].is_result ? XNN_VALUE_FLAG_EXTERNAL_OUTPUT
                                        : XNN_VALUE_FLAG_EXTERNAL_INPUT;
  }
  xnn_status status;
  if (value.nonbatch_dims > 0) {
    status = xnn_define_dynamically_quantized_tensor_value(
        subgraph, type, rank, value.nonbatch_dims, dims, place, flags, &value.xnn_id);
  } else if (value.group_scales != nullptr) {
    status = xnn_define_blockwise_quantized_tensor_value(
        subgraph, type, value.zero_point, value.group_scales, rank, value.channel_dim,
        value.group_size, dims, value.data, place, flags, &value.xnn_id);
  } else if (value.scales != nullptr) {
    status = xnn_define_channelwise_quantized_tensor_value_v2(
        subgraph, type, value.zero_point, value.scales, rank, value.channel_dim, dims, value.data,
        place, flags, &value.xnn_id);
  } else if (value.scale > 0) {
    status = xnn_define_quantized_tensor_value(subgraph, type, value.zero_point, value.scale, rank,
                                               dims, value.data, place, flags, &value.xnn_id);
  } else {
    status = xnn_define_tensor_value(subgraph, type, rank, dims, value.data, place, flags,
                                     &value.xnn_id);
  }
  return status_of(status, "XNNPACK refuses a tensor of the graph");
}

Status Segment::reshape(Span<const XnnValue> values) {
  for (uint32_t place = 0; place < external_count_; ++place) {
    if (externals_[place].is_result) continue;
    const XnnDims shape(values[externals_[place].id].shape);
    TAPER_TRY(status_of(xnn_reshape_external_value(runtime_, place, shape.rank, shape.sizes),
                        "XNNPACK refuses the sizes of an input"));
  }
  Status status;
  visit_nodes([&](size_t n) {
    const Fusion& epilogue = epilogues_[n];
    if (epilogue.inputs[1] == kNone) return;
    if (values[epilogue.inputs[1]].shape == values[epilogue.output].shape) return;
    status = refuse("the shapes of a sum differ, but were equal when the graph was loaded");
  });
  TAPER_TRY(status);
  is_bound_ = false;
  return status_of(xnn_reshape_runtime(runtime_), "XNNPACK cannot run the graph at these sizes");
}

uint64_t Segment::scratch_bytes() const { return taper_workspace_bytes(workspace_); }

Status Segment::bind(Span<void* const> places, void* scratch) {
  bool changed = !is_bound_ || scratch != scratch_;
  if (scratch != scratch_) taper_place_workspace(runtime_, scratch);
  scratch_ = scratch;
  for (uint32_t place = 0; place < external_count_; ++place) {
    void* data = places[externals_[place].id];
    changed |= bound_[place].data != data;
    bound_[place] = {place, data};
  }
  if (!changed) return {};
  TAPER_TRY(status_of(xnn_setup_runtime_v2(runtime_, external_count_, bound_.get()),
                      "XNNPACK refuses the memory of the arguments"));
  is_bound_ = true;
  return {};
}

// The node of ours that node `number` of XNNPACK's graph is a part of. Null if it is not known.
const XnnNode* Segment::node_of(uint32_t number) const {
  const XnnNode* found = nullptr;
  if (node_ends_ == nullptr) return found;
  visit_nodes([&](size_t n) {
    if (found == nullptr && number < node_ends_[n - first_]) found = &graph_->nodes()[n];
  });
  return found;
}

bool Segment::tell_steps(NodeTimes& times) const {
  size_t count = 0, bytes = 0;
  if (xnn_get_runtime_profiling_info(runtime_, xnn_profile_info_num_operators, sizeof(count),
                                     &count, &bytes) != xnn_status_success) {
    return false;
  }
  std::vector<taper_profiled_node> nodes(count);
  std::vector<char> names;
  const auto get_names = [&](size_t size, char* to) {
    return xnn_get_runtime_profiling_info(runtime_, xnn_profile_info_operator_name, size, to,
                                          &bytes) == xnn_status_success;
  };
  get_names(0, nullptr);  // Says how many bytes they need.
  names.resize(bytes + 1);
  const bool has_all = count > 0 && get_names(bytes, names.data()) &&
                       taper_profiled_nodes(runtime_, nodes.data(), count) == count;
  if (!has_all) return false;
  const char* name = names.data();
  const auto node_at = [&](size_t i) { return i < count ? node_of(nodes[i].node) : nullptr; };
  for (size_t i = 0; i < count; ++i) {
    const XnnNode* node = node_at(i);
    const bool is_part =
        node != nullptr && ((i > 0 && node_at(i - 1) == node) || node_at(i + 1) == node);
    if (is_part) {
      times.add_part(*node, name, nodes[i].seconds);
    } else {
      const size_t own = node != nullptr ? 1 + epilogues_[node - graph_->nodes().data()].nodes : 0;
      times.add({node, own}, name, nodes[i].seconds);
    }
    name += std::strlen(name) + 1;
  }
  return true;
}

Status Segment::run() {
  return status_of(xnn_invoke_runtime(runtime_), "XNNPACK cannot run the graph");
}

}  // namespace taper::xnnpack
