// Reads the nodes of a payload in order. Every argument must be known when a node reads it, and
// every result is written once, so the graph has no cycles.

#include "backends/xnnpack/runtime/graph/subgraph.h"

#include <iterator>
#include <limits>

#include "backends/xnnpack/payload_format.h"
#include "backends/xnnpack/runtime/graph/node_kinds.h"
#include "backends/xnnpack/runtime/payload/payload.h"
#include "backends/xnnpack/runtime/payload/value_reader.h"
#include "backends/xnnpack/runtime/stages/make_array.h"

namespace taper::xnnpack {
namespace {

constexpr uint32_t kMaxArguments = 4096;

template <typename Vector>
size_t count_of(const Vector* vector) {
  return vector != nullptr ? vector->size() : 0;
}

uint64_t times(uint64_t a, uint64_t b) {
  uint64_t product;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}
uint64_t plus(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

Status read_range(const wire::XNode& wire, XnnNode& node) {
  node.min = -std::numeric_limits<float>::infinity();
  node.max = std::numeric_limits<float>::infinity();
  if (wire.range() == nullptr) return {};
  node.min = wire.range()->min();
  node.max = wire.range()->max();
  TAPER_XNNPACK_REQUIRE(node.min < node.max, "the range of a node is empty");
  return {};
}

}  // namespace

bool Shape::operator==(const Shape& other) const {
  if (rank != other.rank) return false;
  for (uint32_t d = 0; d < rank; ++d) {
    if (dims[d] != other.dims[d]) return false;
  }
  return true;
}

uint64_t element_count(const Shape& shape) {
  uint64_t count = 1;
  for (uint32_t d = 0; d < shape.rank; ++d) count = times(count, shape.dims[d]);
  return count;
}

Status Subgraph::read(Span<const uint8_t> payload, const BackendInitContext& context,
                      uint64_t max_bytes) {
  Result<Payload> parts = open_payload(payload);
  if (!parts.ok()) return parts.status();
  const wire::XNNGraph& graph = *parts->graph;
  description_ = parts->description;
  is_taper_ = parts->is_taper;
  TAPER_TRY(read_values(graph, parts->constants, context, max_bytes));
  TAPER_TRY(read_arguments(graph));
  TAPER_TRY(read_nodes(graph, max_bytes));
  find_needed();
  TAPER_TRY(infer_shapes());
  for (uint32_t id : arguments()) {
    const XnnValue& value = values_[id];
    TAPER_XNNPACK_REQUIRE(!value.is_output || value.is_known, "an output is never computed");
    TAPER_XNNPACK_REQUIRE(value.shape.rank == value.declared.rank,
                          "an output has another rank than it declares");
  }
  TAPER_TRY(count_results());
  TAPER_REQUIRE(total_bytes() <= max_bytes, Error::kOutOfResources,
                "the XNNPACK graph needs more memory than XnnpackOptions::max_bytes allows");
  return {};
}

Status Subgraph::read_values(const wire::XNNGraph& graph, Span<const uint8_t> constants,
                             const BackendInitContext& context, uint64_t max_bytes) {
  value_count_ = count_of(graph.values());
  values_ = make_array<XnnValue>(value_count_);
  TAPER_REQUIRE(values_ != nullptr, Error::kDelegateMemoryAllocationFailed,
                "there is no memory for the values of the XNNPACK graph");
  const ValueReader reader(graph, constants, context, is_taper_);
  for (uint32_t i = 0; i < value_count_; ++i) {
    XnnValue& value = values_[i];
    TAPER_TRY(reader.read(*graph.values()->Get(i), i, value));
    if (value.owned != nullptr) TAPER_TRY(count_owned(value, max_bytes));
  }
  return {};
}

Status Subgraph::count_owned(const XnnValue& value, uint64_t max_bytes) {
  owned_bytes_ = plus(owned_bytes_, stored_bytes(value.type, value.declared));
  TAPER_REQUIRE(owned_bytes_ <= max_bytes, Error::kOutOfResources,
                "the XNNPACK graph needs more memory than XnnpackOptions::max_bytes allows");
  return {};
}

// ExecuTorch's XNNPACK multiplies floats with filters of float16. Here these become floats.
Status Subgraph::widen_filter(const XnnNode& node, uint64_t max_bytes) {
  if (!has_filter(node) || values_[node.inputs[0]].type != wire::DataType::FP32) return {};
  XnnValue& filter = values_[node.inputs[1]];
  if (filter.data == nullptr || filter.type != wire::DataType::FP16) return {};
  filter.type = wire::DataType::FP32;
  TAPER_TRY(count_owned(filter, max_bytes));
  return own_constant(filter);
}

Status Subgraph::read_arguments(const wire::XNNGraph& graph) {
  argument_count_ = graph.extern_count();
  TAPER_XNNPACK_REQUIRE(argument_count_ <= kMaxArguments, "the graph has too many arguments");
  arguments_ = make_array<uint32_t>(argument_count_);
  TAPER_REQUIRE(arguments_ != nullptr, Error::kDelegateMemoryAllocationFailed,
                "there is no memory for the arguments of the XNNPACK graph");
  for (size_t i = 0; i < argument_count_; ++i) arguments_[i] = kNone;
  for (uint32_t i = 0; i < value_count_; ++i) {
    const uint32_t place = values_[i].external_id;
    if (place == kNone) continue;
    TAPER_XNNPACK_REQUIRE(place < argument_count_ && arguments_[place] == kNone,
                          "two values have the same argument, or the argument does not exist");
    arguments_[place] = i;
  }
  for (uint32_t id : arguments()) {
    TAPER_XNNPACK_REQUIRE(id != kNone, "an argument has no value");
  }
  return {};
}

Status Subgraph::read_nodes(const wire::XNNGraph& graph, uint64_t max_bytes) {
  node_count_ = count_of(graph.nodes());
  nodes_ = make_array<XnnNode>(node_count_);
  TAPER_REQUIRE(nodes_ != nullptr, Error::kDelegateMemoryAllocationFailed,
                "there is no memory for the nodes of the XNNPACK graph");
  for (uint32_t i = 0; i < node_count_; ++i) {
    const wire::XNode& wire = *graph.nodes()->Get(i);
    XnnNode& node = nodes_[i];
    node.kind = find_kind(wire.content_type());
    TAPER_XNNPACK_REQUIRE(node.kind != nullptr && wire.content() != nullptr,
                          "a node of the XNNPACK graph has an unknown kind");
    TAPER_XNNPACK_REQUIRE(is_taper_ || !is_taper_kind(wire.content_type()),
                          "a payload for ExecuTorch contains a node of Taper's own kinds");
    node.content = wire.content();
    node.content_type = wire.content_type();
    node.origin = wire.debug_handle();
    TAPER_TRY(read_range(wire, node));
    node.kind->arguments(node);
    TAPER_XNNPACK_REQUIRE((node.flags & ~node.kind->allowed_flags) == 0,
                          "a node of the XNNPACK graph has an unknown flag");
    for (size_t a = 0; a < std::size(node.inputs); ++a) {
      const uint32_t id = node.inputs[a];
      if (id == kNone && a >= node.kind->required) continue;
      TAPER_XNNPACK_REQUIRE(id < value_count_ && values_[id].is_known,
                            "a node reads a value that has not been computed");
    }
    const uint32_t id = node.output;
    TAPER_XNNPACK_REQUIRE(id < value_count_ && !values_[id].is_known,
                          "a node writes an input, a constant or the result of another node");
    values_[id].is_known = true;
    TAPER_TRY(widen_filter(node, max_bytes));
    TAPER_TRY(node.kind->check(node, values()));
  }
  return {};
}

void Subgraph::find_needed() {
  for (uint32_t id : arguments()) values_[id].is_needed = true;
  for (size_t i = node_count_; i-- > 0;) {
    XnnNode& node = nodes_[i];
    node.is_needed = values_[node.output].is_needed;
    for (uint32_t id : node.inputs) {
      if (node.is_needed && id != kNone) values_[id].is_needed = true;
    }
  }
}

Status Subgraph::infer_shapes(bool may_be_empty) {
  for (const XnnNode& node : nodes()) {
    TAPER_TRY(node.kind->infer(node, values()));
    const uint64_t count = element_count(values_[node.output].shape);
    TAPER_XNNPACK_REQUIRE((count > 0 || may_be_empty) && count <= kMaxElements,
                          "a result of the XNNPACK graph is empty or too large");
  }
  return {};
}

uint64_t Subgraph::total_bytes() const { return plus(fixed_bytes(), results_bytes_); }

uint64_t Subgraph::fixed_bytes() const {
  uint64_t total = 0;
  for (uint32_t id : arguments()) {
    if (values_[id].is_input) total = plus(total, times(element_count(values_[id].declared), 4));
  }
  for (size_t i = 0; i < node_count_; ++i) {
    const XnnNode& node = nodes_[i];
    const XnnValue& result = values_[node.output];
    for (uint32_t id : node.inputs) {
      if (id == kNone || values_[id].data == nullptr) continue;
      total = plus(total, times(element_count(values_[id].shape), 4));
    }
    if (node.kind->window == nullptr) continue;
    // XNNPACK keeps a pointer to every pixel of every window.
    const uint64_t windows = times(result.shape.dims[1], result.shape.dims[2]);
    total = plus(total, times(times(windows, node.kind->window(node)), sizeof(void*)));
  }
  return total;
}

// From the last node to the first: a result is in memory from the node that computes it to the last
// one that reads it.
Status Subgraph::count_results() {
  const auto is_alive = make_array<bool>(value_count_);
  TAPER_REQUIRE(is_alive != nullptr, Error::kDelegateMemoryAllocationFailed,
                "there is no memory to count that of the XNNPACK graph");
  uint64_t alive = 0, most = 0;
  for (size_t i = node_count_; i-- > 0 && most < UINT64_MAX;) {
    const XnnNode& node = nodes_[i];
    const uint64_t own = times(element_count(values_[node.output].shape), 4);
    if (!is_alive[node.output]) alive = plus(alive, own);
    for (uint32_t id : node.inputs) {
      const bool is_result = id != kNone && !values_[id].is_input && values_[id].data == nullptr;
      if (!is_result || is_alive[id]) continue;
      is_alive[id] = true;
      alive = plus(alive, times(element_count(values_[id].shape), 4));
    }
    most = std::max(most, plus(alive, times(own, node.kind->intermediates)));
    alive -= own;
  }
  results_bytes_ = most;
  return {};
}

}  // namespace taper::xnnpack
