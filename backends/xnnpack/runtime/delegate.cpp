// Builds XNNPACK's graph once. An execution tells XNNPACK only what has changed since the last one:
// new sizes lead to new shapes, checked by our own rules first; new memory is bound.

#include "backends/xnnpack/runtime/delegate.h"

#include <cstring>
#include <new>

#include "backends/xnnpack/runtime/node_kinds.h"
#include "backends/xnnpack/runtime/value_reader.h"

namespace taper::xnnpack {
namespace {

using wire::DataType;

Status status_of(xnn_status status, const char* text) {
  if (status == xnn_status_success) return {};
  return Status(status == xnn_status_out_of_memory ? Error::kDelegateMemoryAllocationFailed
                                                   : Error::kDelegateInvalidCompatibility,
                text);
}

// Deletes XNNPACK's description of a graph when it goes.
struct Subgraph {
  xnn_subgraph_t graph = nullptr;
  ~Subgraph() {
    if (graph != nullptr) xnn_delete_subgraph(graph);
  }
};

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

// The sizes of a tensor as they lie in memory. A number counts as one element of one dimension.
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

}  // namespace

Delegate::~Delegate() {
  if (runtime_ != nullptr) xnn_delete_runtime(runtime_);
}

Status Delegate::load(Span<const uint8_t> payload, const BackendInitContext& context,
                      uint64_t max_bytes, const Shared& shared) {
  TAPER_TRY(graph_.read(payload, context, max_bytes));
  TAPER_TRY(build(shared));
  TAPER_TRY(make_arguments());
  return reshape();
}

Status Delegate::define_value(xnn_subgraph_t graph, Value& value) const {
  size_t dims[kMaxRank];
  for (uint32_t d = 0; d < value.shape.rank; ++d) dims[d] = value.shape.dims[d];
  const size_t rank = value.shape.rank;
  const xnn_datatype type = xnn_type(value.type);
  const uint32_t flags = (value.is_input ? XNN_VALUE_FLAG_EXTERNAL_INPUT : 0u) |
                         (value.is_output ? XNN_VALUE_FLAG_EXTERNAL_OUTPUT : 0u);
  xnn_status status;
  if (value.nonbatch_dims > 0) {
    status = xnn_define_dynamically_quantized_tensor_value(
        graph, type, rank, value.nonbatch_dims, dims, value.external_id, flags, &value.xnn_id);
  } else if (value.group_scales != nullptr) {
    status = xnn_define_blockwise_quantized_tensor_value(
        graph, type, value.zero_point, value.group_scales, rank, value.channel_dim,
        value.group_size, dims, value.data, value.external_id, flags, &value.xnn_id);
  } else if (value.scales != nullptr) {
    status = xnn_define_channelwise_quantized_tensor_value_v2(
        graph, type, value.zero_point, value.scales, rank, value.channel_dim, dims, value.data,
        value.external_id, flags, &value.xnn_id);
  } else if (value.scale > 0) {
    status =
        xnn_define_quantized_tensor_value(graph, type, value.zero_point, value.scale, rank, dims,
                                          value.data, value.external_id, flags, &value.xnn_id);
  } else {
    status = xnn_define_tensor_value(graph, type, rank, dims, value.data, value.external_id, flags,
                                     &value.xnn_id);
  }
  return status_of(status, "XNNPACK refuses a tensor of the graph");
}

Status Delegate::build(const Shared& shared) {
  Subgraph subgraph;
  const auto arguments = static_cast<uint32_t>(graph_.arguments().size());
  TAPER_TRY(
      status_of(xnn_create_subgraph(arguments, 0, &subgraph.graph), "XNNPACK cannot make a graph"));
  for (Value& value : graph_.values()) {
    if (value.is_known && value.is_needed) TAPER_TRY(define_value(subgraph.graph, value));
  }
  for (const Node& node : graph_.nodes()) {
    if (!node.is_needed) continue;
    TAPER_TRY(status_of(node.kind->define(subgraph.graph, node, graph_.values()),
                        "XNNPACK refuses a node of the graph"));
  }
  // One of its own would leak when XNNPACK refuses the graph; the runtime holds this one too.
  xnn_workspace_t workspace = shared.workspace;
  if (workspace == nullptr) {
    TAPER_TRY(status_of(xnn_create_workspace(&workspace), "there is no memory for the workspace"));
  }
  const xnn_status made =
      xnn_create_runtime_v4(subgraph.graph, nullptr, workspace, shared.pool, 0, &runtime_);
  if (shared.workspace == nullptr) xnn_release_workspace(workspace);
  return status_of(made, "XNNPACK refuses the graph");
}

Status Delegate::make_arguments() {
  const size_t count = graph_.arguments().size();
  arguments_.reset(new (std::nothrow) Argument[count + 1]);
  external_.reset(new (std::nothrow) xnn_external_value[count + 1]);
  TAPER_REQUIRE(arguments_ != nullptr && external_ != nullptr,
                Error::kDelegateMemoryAllocationFailed, "there is no memory for the arguments");
  for (size_t i = 0; i < count; ++i) {
    const Value& value = graph_.values()[graph_.arguments()[i]];
    if (!value.is_input) continue;
    arguments_[i].capacity = stored_bytes(value.type, value.declared);
    const size_t bytes = static_cast<size_t>(arguments_[i].capacity) + XNN_EXTRA_BYTES;
    arguments_[i].padded.reset(new (std::nothrow) uint8_t[bytes]);
    TAPER_REQUIRE(arguments_[i].padded != nullptr, Error::kDelegateMemoryAllocationFailed,
                  "there is no memory for the arguments");
  }
  return {};
}

Status Delegate::execute(Span<EValue* const> args) {
  TAPER_REQUIRE(args.size() == graph_.arguments().size(), Error::kInvalidProgram,
                "the XNNPACK graph takes another number of arguments");
  TAPER_TRY(read_sizes(args));
  if (!is_shaped_) {
    TAPER_TRY(graph_.infer_shapes());
    TAPER_TRY(reshape());
  }
  TAPER_TRY(resize_outputs(args));
  TAPER_TRY(bind(args));
  return status_of(xnn_invoke_runtime(runtime_), "XNNPACK cannot run the graph");
}

Status Delegate::read_sizes(Span<EValue* const> args) {
  for (size_t i = 0; i < args.size(); ++i) {
    Value& value = graph_.values()[graph_.arguments()[i]];
    TAPER_REQUIRE(args[i]->is_tensor(), Error::kInvalidProgram,
                  "an argument of the XNNPACK graph is no tensor");
    const Tensor& tensor = args[i]->to_tensor();
    TAPER_REQUIRE(tensor.scalar_type() == scalar_type(value.type), Error::kInvalidProgram,
                  "an argument of the XNNPACK graph has another type");
    if (!value.is_input) continue;
    Shape shape;
    TAPER_REQUIRE(physical_shape(tensor, value.declared.rank, &shape), Error::kInvalidProgram,
                  "an argument of the XNNPACK graph has another number of dimensions");
    TAPER_REQUIRE(tensor.numel() > 0, Error::kNotSupported,
                  "an argument of the XNNPACK graph is empty");
    if (shape == value.shape) continue;
    value.shape = shape;
    is_shaped_ = false;
  }
  return {};
}

Status Delegate::reshape() {
  for (uint32_t id : graph_.arguments()) {
    const Value& value = graph_.values()[id];
    if (!value.is_input) continue;
    size_t dims[kMaxRank];
    for (uint32_t d = 0; d < value.shape.rank; ++d) dims[d] = value.shape.dims[d];
    TAPER_TRY(
        status_of(xnn_reshape_external_value(runtime_, value.external_id, value.shape.rank, dims),
                  "XNNPACK refuses the sizes of an input"));
  }
  TAPER_TRY(
      status_of(xnn_reshape_runtime(runtime_), "XNNPACK cannot run the graph at these sizes"));
  is_shaped_ = true;
  is_bound_ = false;
  return {};
}

Status Delegate::resize_outputs(Span<EValue* const> args) {
  for (size_t i = 0; i < args.size(); ++i) {
    const Value& value = graph_.values()[graph_.arguments()[i]];
    if (!value.is_output) continue;
    Tensor& tensor = args[i]->to_tensor();
    TAPER_REQUIRE(!tensor.is_constant(), Error::kInvalidProgram,
                  "an output of the XNNPACK graph must not be written");
    if (tensor.dim() == 0 && value.shape.rank == 1) {
      TAPER_REQUIRE(value.shape.dims[0] == 1, Error::kInvalidProgram,
                    "an output of the XNNPACK graph has another number of dimensions");
      continue;
    }
    TAPER_REQUIRE(tensor.dim() == static_cast<int64_t>(value.shape.rank), Error::kInvalidProgram,
                  "an output of the XNNPACK graph has another number of dimensions");
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

Status Delegate::bind(Span<EValue* const> args) {
  bool changed = !is_bound_;
  for (size_t i = 0; i < args.size(); ++i) {
    const Value& value = graph_.values()[graph_.arguments()[i]];
    const Tensor& tensor = args[i]->to_tensor();
    void* data = tensor.mutable_data();
    TAPER_REQUIRE(data != nullptr, Error::kInvalidState,
                  "an argument of the XNNPACK graph has no memory");
    Argument& argument = arguments_[i];
    const size_t bytes = tensor.nbytes();
    if (value.is_input && may_be_read_past(data, bytes)) {
      TAPER_REQUIRE(bytes <= argument.capacity, Error::kNotSupported,
                    "an input of the XNNPACK graph is larger than it declares");
      std::memcpy(argument.padded.get(), data, bytes);
      data = argument.padded.get();
    }
    changed |= argument.bound != data;
    argument.bound = data;
    external_[i] = {static_cast<uint32_t>(i), data};
  }
  if (!changed) return {};
  TAPER_TRY(status_of(xnn_setup_runtime_v2(runtime_, args.size(), external_.get()),
                      "XNNPACK refuses the memory of the arguments"));
  is_bound_ = true;
  return {};
}

}  // namespace taper::xnnpack
