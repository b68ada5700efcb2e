// Builds the stages once. An execution passes them only what has changed since the last one: new
// sizes lead to new shapes, which our own rules check first; new memory is bound.

#include "backends/xnnpack/runtime/subgraph_executor.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <new>

#include "backends/xnnpack/runtime/graph/node_kinds.h"
#include "backends/xnnpack/runtime/payload/value_reader.h"
#include "backends/xnnpack/runtime/stages/make_array.h"
#include "backends/xnnpack/runtime/stages/node_work.h"

namespace taper::xnnpack {
namespace {

using wire::DataType;

ScalarType scalar_type(DataType type) {
  switch (type) {
    case DataType::FP16:
      return ScalarType::kHalf;
    case DataType::QINT8:
      return ScalarType::kChar;
    case DataType::QUINT8:
      return ScalarType::kByte;
    default:
      return ScalarType::kFloat;
  }
}

// The sizes of a tensor in memory order. A 0-d tensor may have rank 1 in the graph.
bool physical_shape(const Tensor& tensor, uint32_t rank, Shape* shape) {
  *shape = {};
  shape->rank = rank;
  if (tensor.dim() == 0 && rank == 1) {
    shape->dims[0] = 1;
    return true;
  }
  if (tensor.dim() != static_cast<int64_t>(rank)) return false;
  for (uint32_t d = 0; d < rank; ++d) {
    shape->dims[d] = static_cast<uint32_t>(tensor.size(tensor.dim_order()[d]));
  }
  return true;
}

// Whether nodes take less than so many seconds on average, with the largest sizes.
bool is_faster_alone(const Subgraph& graph, double wake_seconds) {
  constexpr double kOperationsPerSecond = 50e9, kBytesPerSecond = 30e9;
  double seconds = 0;
  size_t count = 0;
  for (const XnnNode& node : graph.nodes()) {
    if (!node.is_needed) continue;
    const NodeWork work = work_of(graph, {&node, 1});
    seconds += work.operations / kOperationsPerSecond + work.bytes / kBytesPerSecond;
    ++count;
  }
  return seconds < static_cast<double>(count) * wake_seconds;
}

}  // namespace

SubgraphExecutor::~SubgraphExecutor() {
  if (cache_ != nullptr) cache_->remove(packed_);
}

Status SubgraphExecutor::load(Span<const uint8_t> payload, const BackendInitContext& context,
                              uint64_t max_bytes, const Shared& shared, PackedCache& cache) {
  shares_memory_ = shared.memory != nullptr;
  TAPER_TRY(graph_.read(payload, context, max_bytes));
  TAPER_TRY(cache.begin(packed_, graph_, context, shared.packing()));
  Shared all = shared;
  all.weights = packed_.weights.provider();
  if (is_faster_alone(graph_, shared.wake_seconds)) all.pool = nullptr;
  TAPER_TRY(stages_.build(graph_, max_bytes, all));
  packed_.weights.end();
  TAPER_TRY(make_arguments());
  TAPER_TRY(stages_.reshape());
  is_shaped_ = true;
  cache.add(packed_);
  cache_ = &cache;
  return {};
}

Status SubgraphExecutor::make_arguments() {
  const size_t count = graph_.arguments().size();
  arguments_ = make_array<Argument>(count);
  ranges_ = make_array<Range>(count);
  TAPER_REQUIRE(arguments_ != nullptr && ranges_ != nullptr, Error::kDelegateMemoryAllocationFailed,
                "there is no memory for the arguments");
  for (size_t i = 0; i < count; ++i) {
    const XnnValue& value = graph_.values()[graph_.arguments()[i]];
    if (!value.is_input) continue;
    arguments_[i].capacity = stored_bytes(value.type, value.declared);
    const size_t bytes = static_cast<size_t>(arguments_[i].capacity) + XNN_EXTRA_BYTES;
    arguments_[i].padded.reset(new (std::nothrow) uint8_t[bytes]);
    TAPER_REQUIRE(arguments_[i].padded != nullptr, Error::kDelegateMemoryAllocationFailed,
                  "there is no memory for the arguments");
  }
  return {};
}

void SubgraphExecutor::tell_memory(MemoryListener& listener) const {
  using Kind = MemoryBlock::Kind;
  const PackedWeights& weights = packed_.weights;
  if (weights.packed_bytes() > 0) {
    listener.add(MemoryBlock{"packed weights", weights.packed_bytes(), Kind::kOwn});
  }
  if (weights.found_bytes() > 0) {
    listener.add(MemoryBlock{"packed weights, in a file", weights.found_bytes(), Kind::kFile});
  }
  uint64_t inputs = 0;
  for (size_t i = 0; i < graph_.arguments().size(); ++i) {
    if (arguments_[i].padded != nullptr) inputs += arguments_[i].capacity + XNN_EXTRA_BYTES;
  }
  listener.add(MemoryBlock{"copies of inputs", inputs, Kind::kOwn});
  stages_.tell_memory(listener, shares_memory_ ? Kind::kShared : Kind::kOwn);
}

Status SubgraphExecutor::execute(Span<EValue* const> args) {
  TAPER_REQUIRE(args.size() == graph_.arguments().size(), Error::kInvalidProgram,
                "the call has another number of arguments than the XNNPACK graph");
  bool is_empty = false;
  TAPER_TRY(read_sizes(args, &is_empty));
  if (!is_shaped_) {
    TAPER_TRY(graph_.infer_shapes(is_empty));
    // Results without elements need sizes alone, such as those of a layer over a batch of none.
    if (is_empty && has_no_results()) return resize_outputs(args);
    TAPER_TRY(check_empty_values());
    TAPER_TRY(stages_.reshape());
    is_shaped_ = true;
    is_bound_ = false;
  }
  TAPER_TRY(resize_outputs(args));
  TAPER_TRY(bind(args));
  return stages_.run();
}

bool SubgraphExecutor::has_no_results() const {
  for (uint32_t id : graph_.arguments()) {
    const XnnValue& value = graph_.values()[id];
    if (value.is_output && element_count(value.shape) > 0) return false;
  }
  return true;
}

// Refuses empty values, such as the past of a decoder before its first step, to nodes that XNNPACK
// cannot compute from them.
Status SubgraphExecutor::check_empty_values() const {
  const Span<const XnnValue> values = graph_.values();
  for (const XnnNode& node : graph_.nodes()) {
    if (!node.is_needed || node.kind->takes_empty) continue;
    bool is_empty = element_count(values[node.output].shape) == 0;
    for (uint32_t id : node.inputs) {
      is_empty = is_empty || (id != kNone && element_count(values[id].shape) == 0);
    }
    TAPER_REQUIRE(!is_empty, Error::kNotSupported,
                  "a node of the XNNPACK graph has no elements to compute from");
  }
  return {};
}

Status SubgraphExecutor::read_sizes(Span<EValue* const> args, bool* is_empty) {
  for (size_t i = 0; i < args.size(); ++i) {
    XnnValue& value = graph_.values()[graph_.arguments()[i]];
    TAPER_REQUIRE(args[i]->is_tensor(), Error::kInvalidProgram,
                  "an argument of the XNNPACK graph is not a tensor");
    const Tensor& tensor = args[i]->to_tensor();
    TAPER_REQUIRE(tensor.scalar_type() == scalar_type(value.type), Error::kInvalidProgram,
                  "an argument of the XNNPACK graph has another dtype");
    if (!value.is_input) continue;
    Shape shape;
    TAPER_REQUIRE(physical_shape(tensor, value.declared.rank, &shape), Error::kInvalidProgram,
                  "an argument of the XNNPACK graph has another rank");
    *is_empty = *is_empty || tensor.numel() == 0;
    if (shape == value.shape) continue;
    value.shape = shape;
    is_shaped_ = false;
  }
  return {};
}

Status SubgraphExecutor::resize_outputs(Span<EValue* const> args) {
  for (size_t i = 0; i < args.size(); ++i) {
    const XnnValue& value = graph_.values()[graph_.arguments()[i]];
    if (!value.is_output) continue;
    Tensor& tensor = args[i]->to_tensor();
    TAPER_REQUIRE(!tensor.is_constant(), Error::kInvalidProgram,
                  "an output of the XNNPACK graph is a constant, which must not be written");
    if (tensor.dim() == 0 && value.shape.rank == 1) {
      TAPER_REQUIRE(value.shape.dims[0] == 1, Error::kInvalidProgram,
                    "an output of the XNNPACK graph has another rank");
      continue;
    }
    TAPER_REQUIRE(tensor.dim() == static_cast<int64_t>(value.shape.rank), Error::kInvalidProgram,
                  "an output of the XNNPACK graph has another rank");
    int32_t sizes[kMaxRank];
    for (uint32_t d = 0; d < value.shape.rank; ++d) {
      TAPER_REQUIRE(value.shape.dims[d] <= INT32_MAX, Error::kNotSupported,
                    "an output of the XNNPACK graph is too large");
      sizes[tensor.dim_order()[d]] = static_cast<int32_t>(value.shape.dims[d]);
    }
    TAPER_TRY(tensor.resize({sizes, value.shape.rank}));
  }
  return {};
}

Status SubgraphExecutor::check_apart(Span<EValue* const> args) {
  for (size_t i = 0; i < args.size(); ++i) {
    const Tensor& tensor = args[i]->to_tensor();
    const auto* data = static_cast<const uint8_t*>(tensor.const_data());
    ranges_[i] = {data, data + tensor.nbytes(), graph_.values()[graph_.arguments()[i]].is_output};
  }
  std::sort(ranges_.get(), ranges_.get() + args.size(),
            [](const Range& a, const Range& b) { return std::less<>()(a.begin, b.begin); });
  const uint8_t* end = nullptr;  // The end of all previous ranges, and of the results among them.
  const uint8_t* end_of_outputs = nullptr;
  for (const Range& range : Span<const Range>(ranges_.get(), args.size())) {
    const uint8_t* before = range.is_output ? end : end_of_outputs;
    TAPER_REQUIRE(before == nullptr || !std::less<>()(range.begin, before), Error::kInvalidProgram,
                  "a result of the XNNPACK graph overlaps another argument");
    end = std::max(end, range.end, std::less<>());
    if (range.is_output) end_of_outputs = std::max(end_of_outputs, range.end, std::less<>());
  }
  return {};
}

Status SubgraphExecutor::bind(Span<EValue* const> args) {
  bool changed = !is_bound_ || !stages_.is_placed();
  for (size_t i = 0; i < args.size(); ++i) {
    const XnnValue& value = graph_.values()[graph_.arguments()[i]];
    const Tensor& tensor = args[i]->to_tensor();
    const size_t bytes = tensor.nbytes();
    Argument& argument = arguments_[i];
    void* data = tensor.mutable_data();
    if (bytes == 0 && value.is_input) data = argument.padded.get();  // XNNPACK requires an address.
    TAPER_REQUIRE(data != nullptr, Error::kInvalidState,
                  "an argument of the XNNPACK graph has no memory");
    if (value.is_input && may_be_read_past(data, bytes)) {
      TAPER_REQUIRE(bytes <= argument.capacity, Error::kNotSupported,
                    "an input of the XNNPACK graph is larger than it declares");
      std::memcpy(argument.padded.get(), data, bytes);
      data = argument.padded.get();
    }
    changed |= argument.bound != data;
    argument.bound = data;
    stages_.place(i, data);
  }
  if (!changed) return {};
  is_bound_ = false;
  TAPER_TRY(check_apart(args));
  TAPER_TRY(stages_.bind());
  is_bound_ = true;
  return {};
}

}  // namespace taper::xnnpack
