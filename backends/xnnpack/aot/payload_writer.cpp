// Builds the graph and serialises it; see payload_writer.h.

#include "backends/xnnpack/aot/payload_writer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

#include "backends/xnnpack/aot/compute_in_bytes.h"
#include "backends/xnnpack/aot/fold_pads.h"
#include "backends/xnnpack/aot/fuse_nodes.h"
#include "backends/xnnpack/aot/merge_pixels.h"
#include "backends/xnnpack/aot/stored_integers.h"
#include "backends/xnnpack/aot/types_of_parts.h"
#include "backends/xnnpack/payload_format.h"
#include "exir/delegate/content_name.h"
#include "exir/delegate/half_constants.h"
#include "exir/ir/failure.h"
#include "exir/ir/scales.h"
#include "kernels_portable/engine/half.h"

namespace taper::xnnpack {
namespace {

using exir::Failure;
using exir::Sym;
using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
using wire::NodeContent;

constexpr size_t kHeaderBytes = 32;  // 30, padded to align the next part.
constexpr size_t kPartAlignment = 16;
constexpr uint64_t kNamed = UINT64_MAX;

uint32_t upper(const Sym& size, const exir::SymRanges& ranges) {
  const int64_t most = size.is_int() ? size.as_int() : size.range(ranges).max;
  if (most < 0 || most > INT32_MAX) throw Failure("a size in a delegate has no upper bound");
  return static_cast<uint32_t>(most);
}

// The number of elements for the upper bounds of the sizes.
uint64_t most_elements(const Dims& dims, const exir::SymRanges& ranges) {
  uint64_t count = 1;
  for (const Sym& size : dims) {
    if (__builtin_mul_overflow(count, uint64_t{upper(size, ranges)}, &count)) {
      throw Failure("a tensor in a delegate has too many elements");
    }
  }
  return count;
}

// Writes the tables of nodes.
class NodeTables {
 public:
  explicit NodeTables(FlatBufferBuilder& fbb) : fbb_(fbb) {}

  Offset<void> operator()(const NodeSpec& n) {
    switch (n.kind) {
      case NodeContent::Add:
      case NodeContent::Divide:
      case NodeContent::Minimum:
      case NodeContent::Multiply:
      case NodeContent::Subtract:
      case NodeContent::Maximum:
      case NodeContent::PRelu:
      case NodeContent::BatchMatrixMultiply:
        return wire::CreateBinary(fbb_, in(n, 0), in(n, 1), n.output, n.flags).Union();
      case NodeContent::FullyConnected:
        return wire::CreateFullyConnected(fbb_, in(n, 0), in(n, 1), in(n, 2), n.output, n.flags)
            .Union();
      case NodeContent::Conv2d:
      case NodeContent::DepthwiseConv2d:
      case NodeContent::ConvTranspose2d:
        return convolution(n);
      case NodeContent::AvgPool2d:
      case NodeContent::MaxPool2d:
        return pooling(n);
      case NodeContent::Transpose:
        return wire::CreateTransposeDirect(fbb_, length(n.list), &n.list, in(n, 0), n.output)
            .Union();
      case NodeContent::Reshape:
        return wire::CreateReshapeDirect(fbb_, length(n.list), &n.list, in(n, 0), n.output, 0,
                                         n.sources.empty() ? nullptr : &n.sources)
            .Union();
      case NodeContent::Slice:
        return wire::CreateSliceDirect(fbb_, length(n.list), &n.list, &n.list2, in(n, 0), n.output)
            .Union();
      case NodeContent::ConstantPad:
        return wire::CreateConstantPadDirect(fbb_, &n.list, &n.list2, n.number, in(n, 0), n.output)
            .Union();
      case NodeContent::ResizeBilinear:
        return wire::CreateResizeBilinear(fbb_, n.list.at(0), n.list.at(1), in(n, 0), n.output,
                                          n.flags)
            .Union();
      case NodeContent::LeakyRelu:
        return wire::CreateLeakyRelu(fbb_, n.number, in(n, 0), n.output, n.flags).Union();
      case NodeContent::Elu:
        return wire::CreateElu(fbb_, n.number, in(n, 0), n.output, n.flags).Union();
      case NodeContent::Concatenate2:
      case NodeContent::Concatenate3:
      case NodeContent::Concatenate4:
      case NodeContent::Concatenate5:
        return wire::CreateConcatenate(fbb_, n.list.at(0), in(n, 0), in(n, 1), in(n, 2), in(n, 3),
                                       n.output, n.flags, in(n, 4))
            .Union();
      case NodeContent::LayerNorm:
      case NodeContent::RmsNorm:
        return wire::CreateRowNorm(fbb_, in(n, 0), in(n, 1), in(n, 2), n.output, n.list.at(0),
                                   n.number)
            .Union();
      case NodeContent::GroupNorm:
      case NodeContent::ImageGroupNorm:
        return wire::CreateGroupNorm(fbb_, in(n, 0), in(n, 1), in(n, 2), n.output, n.list.at(0),
                                     n.number)
            .Union();
      case NodeContent::BatchNorm:
        return wire::CreateChannelScale(fbb_, in(n, 0), in(n, 1), in(n, 2), n.output).Union();
      case NodeContent::ByteTable:
        return wire::CreateByteTable(fbb_, in(n, 0), in(n, 1), n.output).Union();
      case NodeContent::DimSoftmax:
        return wire::CreateDimSoftmax(fbb_, in(n, 0), n.output, n.list.at(0)).Union();
      default:
        return wire::CreateUnary(fbb_, in(n, 0), n.output, n.flags).Union();
    }
  }

 private:
  static Id in(const NodeSpec& n, size_t i) { return i < n.inputs.size() ? n.inputs[i] : kNone; }
  static uint32_t length(const std::vector<uint32_t>& list) {
    return static_cast<uint32_t>(list.size());
  }

  Offset<void> convolution(const NodeSpec& n) {
    const Window& w = n.window;
    return wire::CreateConvolution(fbb_, w.padding[0], w.padding[1], w.padding[2], w.padding[3],
                                   w.kernel[0], w.kernel[1], w.stride[0], w.stride[1],
                                   w.dilation[0], w.dilation[1], w.group_in, w.group_out, w.groups,
                                   w.adjustment[0], w.adjustment[1], in(n, 0), in(n, 1), in(n, 2),
                                   n.output, n.flags)
        .Union();
  }

  Offset<void> pooling(const NodeSpec& n) {
    const Window& w = n.window;
    return wire::CreatePooling(fbb_, w.padding[0], w.padding[1], w.padding[2], w.padding[3],
                               w.kernel[0], w.kernel[1], w.stride[0], w.stride[1], w.dilation[0],
                               w.dilation[1], in(n, 0), n.output, n.flags)
        .Union();
  }

  FlatBufferBuilder& fbb_;
};

// Whether ExecuTorch's runtime does not support the node.
bool is_taper_node(const NodeSpec& node) {
  const bool adds_up = node.kind == NodeContent::GlobalAvgPool2d && (node.flags & kSumFlag) != 0;
  return is_taper_kind(node.kind) || adds_up || !node.sources.empty();
}

Offset<wire::XNode> write_node(const NodeSpec& spec, FlatBufferBuilder& fbb) {
  const Offset<void> content = NodeTables(fbb)(spec);
  Offset<wire::Range> range;
  if (std::isfinite(spec.min) || std::isfinite(spec.max)) {
    range = wire::CreateRange(fbb, spec.min, spec.max);
  }
  return wire::CreateXNode(fbb, spec.kind, content, spec.origin, range);
}

// `scale_buffer` is the constant that holds the scales of groups.
Offset<wire::XValue> write_quantized(const Quantization& q, Offset<wire::Tensor> tensor,
                                     uint32_t scale_buffer, FlatBufferBuilder& fbb) {
  Offset<void> how;
  auto kind = wire::Quantization::PerTensor;
  if (q.type == wire::DataType::QDINT8) {
    how = wire::CreatePerToken(fbb, q.shared_dims).Union();
    kind = wire::Quantization::PerToken;
  } else if (q.group != 0) {
    const auto count = static_cast<uint32_t>(q.scales.size());
    how = wire::CreatePerGroup(fbb, 0, 0, q.group, scale_buffer, count).Union();
    kind = wire::Quantization::PerGroup;
  } else if (!q.scales.empty()) {
    how = wire::CreatePerChannelDirect(fbb, &q.scales, static_cast<int32_t>(q.dim)).Union();
    kind = wire::Quantization::PerChannel;
  } else {
    how = wire::CreatePerTensor(fbb, q.scale, q.zero_point).Union();
  }
  const auto value = wire::CreateQuantizedTensor(fbb, tensor, kind, how);
  return wire::CreateXValue(fbb, wire::ValueContent::QuantizedTensor, value.Union());
}

// A constant of floats that is stored as integers or codes. Halves of bytes have a sign if they are
// integers.
Offset<wire::XValue> write_stored(const ValueSpec& value, Offset<wire::Tensor> tensor,
                                  FlatBufferBuilder& fbb) {
  const exir::Scales& scales = *value.integers;
  std::vector<float> points = scales.zero_points;
  const bool gain_sign = scales.dtype == ScalarType::kByte && scales.table.empty();
  if (value.stored.type == wire::DataType::QCINT4 && gain_sign) {
    points.resize(scales.items.size());
    for (float& point : points) point -= 8;
  }
  const auto how =
      wire::CreateStepsDirect(fbb, &scales.items, points.empty() ? nullptr : &points,
                              value.stored.span, scales.table.empty() ? nullptr : &scales.table);
  const auto stored =
      wire::CreateQuantizedTensor(fbb, tensor, wire::Quantization::Steps, how.Union());
  return wire::CreateXValue(fbb, wire::ValueContent::QuantizedTensor, stored.Union());
}

template <typename T>
void put(std::vector<uint8_t>& bytes, size_t at, T number) {
  std::memcpy(bytes.data() + at, &number, sizeof(number));
}

std::vector<uint8_t> with_header(const FlatBufferBuilder& fbb) {
  const size_t size = fbb.GetSize();
  const size_t padded = (size + kPartAlignment - 1) / kPartAlignment * kPartAlignment;
  std::vector<uint8_t> bytes(kHeaderBytes + padded, 0);
  std::memcpy(bytes.data() + 4, "XH00", 4);
  put<uint16_t>(bytes, 8, 30);
  put<uint32_t>(bytes, 10, kHeaderBytes);
  put<uint32_t>(bytes, 14, static_cast<uint32_t>(size));
  put<uint32_t>(bytes, 18, static_cast<uint32_t>(kHeaderBytes + padded));
  put<uint64_t>(bytes, 22, 0);  // All constants have names.
  std::memcpy(bytes.data() + kHeaderBytes, fbb.GetBufferPointer(), size);
  return bytes;
}

}  // namespace

Id PayloadWriter::add_input(Dims dims) {
  ValueSpec value;
  value.dims = std::move(dims);
  value.is_input = true;
  value.external = extern_count_++;
  const auto id = static_cast<Id>(list_.values.size());
  known_.add(id, value.dims);
  list_.values.push_back(std::move(value));
  return id;
}

Id NodeList::add_constant(Dims dims, exir::TensorData data) {
  constants.push_back(std::move(data));
  ValueSpec value;
  value.dims = std::move(dims);
  value.constant = static_cast<uint32_t>(constants.size());
  values.push_back(std::move(value));
  return static_cast<Id>(values.size()) - 1;
}

const exir::TensorData& NodeList::data(Id id) {
  exir::TensorData& data = constants[values[id].constant - 1];
  if (data.data == nullptr && values[id].made_from != nullptr) {
    data = exir::elements_of(*values[id].made_from);
  }
  return data;
}

Id PayloadWriter::add_constant(Dims dims, exir::TensorData data,
                               std::shared_ptr<const exir::Scales> integers) {
  const Id id = list_.add_constant(std::move(dims), std::move(data));
  list_.values[id].integers = std::move(integers);
  return id;
}

Id PayloadWriter::add_number(float number) {
  std::vector<uint8_t> bytes(sizeof(float));
  std::memcpy(bytes.data(), &number, sizeof(float));
  return add_constant({Sym(1)}, exir::own_bytes(std::move(bytes)));
}

Id PayloadWriter::add(NodeSpec spec, Dims dims) {
  ValueSpec value;
  value.dims = std::move(dims);
  value.maker = static_cast<int64_t>(list_.nodes.size());
  for (const Id id : spec.inputs) {
    if (id != kNone) list_.values[id].is_read = true;
  }
  spec.output = static_cast<Id>(list_.values.size());
  spec.origin = origin_;
  known_.add(spec.output, value.dims);
  list_.values.push_back(std::move(value));
  list_.nodes.push_back(std::move(spec));
  return list_.nodes.back().output;
}

Id PayloadWriter::add_move(NodeSpec spec, Dims dims) {
  const Quantization how = list_.values[spec.inputs[0]].quantization;
  const Id moved = add(std::move(spec), std::move(dims));
  if (how.type == wire::DataType::QINT8) list_.values[moved].quantization = how;
  return moved;
}

void PayloadWriter::set_output(Id id) {
  list_.values[id].is_output = true;
  list_.values[id].external = extern_count_++;
}

NodeSpec* NodeList::maker(Id id) {
  return values[id].maker < 0 ? nullptr : &nodes[static_cast<size_t>(values[id].maker)];
}

std::vector<uint32_t> NodeList::count_reads() const {
  std::vector<uint32_t> reads(values.size());
  const std::vector<bool> live = live_nodes();
  for (Id id = 0; id < values.size(); ++id) reads[id] = values[id].is_output ? 2 : 0;
  for (size_t n = 0; n < nodes.size(); ++n) {
    for (const Id id : nodes[n].inputs) {
      if (live[n] && id != kNone) ++reads[id];
    }
  }
  return reads;
}

std::vector<bool> NodeList::live_nodes() const {
  std::vector<bool> read(values.size());
  for (size_t i = 0; i < values.size(); ++i) read[i] = values[i].is_output;
  std::vector<bool> live(nodes.size());
  for (size_t i = nodes.size(); i-- > 0;) {
    live[i] = read[nodes[i].output];
    for (const Id id : nodes[i].inputs) {
      if (live[i] && id != kNone) read[id] = true;
    }
  }
  return live;
}

void NodeList::find_size_sources(const std::vector<bool>& live) {
  KnownSizes known;
  for (Id id = 0; id < values.size(); ++id) {
    if (values[id].is_input) known.add(id, values[id].dims);
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!live[i]) continue;
    const Dims& dims = values[nodes[i].output].dims;
    if (nodes[i].kind == NodeContent::Reshape && count_open(dims) > 1) {
      const auto sources = known.sources(dims);
      if (!sources) throw Failure("several dynamic sizes of a reshape have no source");
      for (const SizeSource& s : *sources) {
        nodes[i].sources.emplace_back(s.value, s.dim, s.times, s.over);
      }
    }
    known.add(nodes[i].output, dims);
  }
}

void NodeList::postpone_open_reshapes() {
  std::vector<bool> made(values.size());
  for (Id id = 0; id < values.size(); ++id) made[id] = values[id].maker < 0;
  const auto is_ready = [&](const NodeSpec& node) {
    for (const Id id : node.inputs) {
      if (id != kNone && !made[id]) return false;
    }
    for (const wire::SizeSource& source : node.sources) {
      if (source.value() != kNone && !made[source.value()]) return false;
    }
    return true;
  };
  std::vector<NodeSpec> ordered;
  std::vector<bool> done(nodes.size());
  // Appends all nodes that are ready, either reshapes or others, in order; false if there are none.
  const auto take = [&](bool is_reshape) {
    bool any = false;
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (done[i] || nodes[i].sources.empty() == is_reshape || !is_ready(nodes[i])) continue;
      done[i] = any = made[nodes[i].output] = true;
      ordered.push_back(std::move(nodes[i]));
    }
    return any;
  };
  while (take(false) || take(true)) {
  }
  nodes = std::move(ordered);
}

// XNNPACK takes the scales of groups with 16 bits.
exir::TensorData in_16_bits(const std::vector<float>& scales) {
  std::vector<uint8_t> bytes(scales.size() * sizeof(uint16_t));
  for (size_t i = 0; i < scales.size(); ++i) {
    put(bytes, i * sizeof(uint16_t), portable::float_to_bfloat16(scales[i]).bits);
  }
  return exir::own_bytes(std::move(bytes));
}

// XNNPACK lays out a graph for the upper bounds of sizes, which need not agree as the sizes do: if
// n is padded to a multiple of 4 and the bound of the sum is 73, that is no number of rows of 4.
bool PayloadWriter::fits_upper_bounds(Id id, const Dims& dims) const {
  const uint64_t count = most_elements(this->dims(id), ranges_);
  if (count_open(dims) != 1) return count == most_elements(dims, ranges_);
  Dims fixed;
  std::copy_if(dims.begin(), dims.end(), std::back_inserter(fixed),
               [](const Sym& size) { return size.is_int(); });
  const uint64_t known = most_elements(fixed, ranges_);
  return known == 0 || count % known == 0;
}

bool has_weights(NodeContent kind) {
  return kind == NodeContent::Conv2d || kind == NodeContent::DepthwiseConv2d ||
         kind == NodeContent::ConvTranspose2d || kind == NodeContent::FullyConnected;
}

// Whether all that reads a constant of floats multiplies floats with it, which ExecuTorch's XNNPACK
// does with filters of float16 as well.
std::vector<bool> find_filters(const NodeList& list, const std::vector<bool>& live) {
  std::vector<bool> is_filter(list.values.size(), true);
  for (size_t i = 0; i < list.nodes.size(); ++i) {
    if (!live[i]) continue;
    const NodeSpec& node = list.nodes[i];
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      if (node.inputs[k] == kNone) continue;
      const bool takes_floats =
          list.values[node.inputs[0]].quantization.type == wire::DataType::FP32;
      if (!has_weights(node.kind) || k != 1 || !takes_floats) is_filter[node.inputs[k]] = false;
    }
  }
  return is_filter;
}

// Values that are not read are written without their constants, so that ids need not change.
exir::Delegate PayloadWriter::finish() {
  if (!for_executorch_) fuse_nodes(list_);
  compute_in_bytes(list_, {!for_executorch_, splits_weights_});
  fold_pads(list_);
  merge_pixels(list_);
  FlatBufferBuilder fbb(4096);
  list_.find_size_sources(list_.live_nodes());
  list_.postpone_open_reshapes();
  const std::vector<bool> live = list_.live_nodes();
  if (!for_executorch_) store_integers(list_, live);
  const std::vector<bool> filters = find_filters(list_, live);
  std::vector<bool> read(list_.values.size());
  std::vector<Offset<wire::XNode>> nodes;
  bool is_taper = false;
  for (size_t i = 0; i < list_.nodes.size(); ++i) {
    if (!live[i]) continue;
    for (const Id id : list_.nodes[i].inputs) {
      if (id != kNone) read[id] = true;
    }
    is_taper = is_taper || is_taper_node(list_.nodes[i]);
    nodes.push_back(write_node(list_.nodes[i], fbb));
  }
  exir::Delegate out;
  std::vector<Offset<wire::Constant>> constants = {wire::CreateConstant(fbb, 0, 0)};
  const auto add = [&](const exir::TensorData& data) {
    out.data.push_back({exir::content_name(data), data});
    constants.push_back(
        wire::CreateConstantDirect(fbb, kNamed, data.bytes, out.data.back().name.c_str()));
    return static_cast<uint32_t>(constants.size()) - 1;
  };
  std::vector<Offset<wire::XValue>> values;
  std::vector<uint32_t> inputs, outputs;
  for (Id id = 0; id < list_.values.size(); ++id) {
    const ValueSpec& value = list_.values[id];
    const bool has_groups = value.quantization.group != 0 && read[id];
    const uint32_t scales = has_groups ? add(in_16_bits(value.quantization.scales)) : 0;
    const bool is_left_out = value.constant != 0 && !read[id];
    wire::DataType type = is_left_out ? wire::DataType::FP32 : value.quantization.type;
    const bool is_float = type == wire::DataType::FP32;
    uint32_t constant = 0;
    const bool is_stored = value.stored.bytes.data != nullptr;
    if (is_stored) {
      constant = add(value.stored.bytes);
      type = value.stored.type;
      is_taper = true;
    } else if (value.constant != 0 && read[id]) {
      const exir::TensorData& data = list_.data(id);
      const bool may_be_halves = is_float && (filters[id] || !for_executorch_);
      const exir::TensorData halves = may_be_halves ? exir::as_halves(data) : exir::TensorData();
      const bool has_halves = halves.data != nullptr;
      constant = add(has_halves ? halves : data);
      if (has_halves) type = wire::DataType::FP16;
      is_taper = is_taper || (has_halves && !for_executorch_);
    }
    if (value.is_input) inputs.push_back(id);
    if (value.is_output) outputs.push_back(id);
    std::vector<uint32_t> dims;
    for (const Sym& size : value.dims) dims.push_back(upper(size, ranges_));
    const bool has_halves = is_stored && !is_float;
    const uint32_t flags = (value.is_input ? 1u : 0u) | (value.is_output ? 2u : 0u) |
                           (has_halves ? kHalfBytesFlag : 0u);
    const auto tensor = wire::CreateTensorDirect(fbb, type, static_cast<uint32_t>(dims.size()),
                                                 &dims, constant, value.external, flags, id);
    values.push_back(is_stored && is_float ? write_stored(value, tensor, fbb)
                     : is_float
                         ? wire::CreateXValue(fbb, wire::ValueContent::Tensor, tensor.Union())
                         : write_quantized(value.quantization, tensor, scales, fbb));
  }
  const auto graph = wire::CreateXNNGraphDirect(fbb, "0", &nodes, &values, extern_count_, &inputs,
                                                &outputs, nullptr, nullptr, &constants);
  fbb.Finish(graph, is_taper ? kTaperIdentifier : wire::XNNGraphIdentifier());
  out.payload = with_header(fbb);
  out.computed_in = types_of_parts(list_, live);
  return out;
}

}  // namespace taper::xnnpack
