// Builds payloads for tests, valid or invalid, and runs them in a backend without a program.

#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "backends/xnnpack/payload_format.h"
#include "backends/xnnpack/runtime/xnnpack_backend.h"
#include "backends/xnnpack/schema_generated.h"
#include "schema/program_generated.h"

namespace taper::xnnpack {

using Floats = std::vector<float>;
using Sizes = std::vector<uint32_t>;

// Builds a payload. Every field can be made invalid before finish().
class PayloadBuilder {
 public:
  struct Steps {
    Floats scales, zero_points;
    uint32_t span = 1;
    Floats table = {};
  };
  struct Tensor {
    Sizes sizes;
    uint32_t flags = 0;
    uint32_t external = UINT32_MAX;
    uint32_t constant = 0;
    wire::DataType type = wire::DataType::FP32;
    std::optional<uint32_t> id = std::nullopt;  // By default its index.
    std::optional<uint32_t> rank = std::nullopt;
    std::optional<float> scale = std::nullopt;  // Set if it is quantised.
    Floats scales = {};                         // Of channels of dimension 0, in its place.
    int32_t zero_point = 0;
    std::optional<Steps> steps = std::nullopt;  // Set if floats are stored as integers.
    int32_t group_size = 0;                     // If each group of a channel has one of `scales`.
    bool is_dynamic = false;  // Whether each row is quantised when it is computed.
  };
  struct Entry {
    wire::NodeContent kind;
    flatbuffers::Offset<void> content;
    std::optional<std::pair<float, float>> range = std::nullopt;
    uint32_t origin = 0;  // The node of a program that it computes, counted from 1.
  };
  struct Constant {
    uint64_t offset = 0, size = 0;
    std::string name = {};
  };
  // How the windows of a convolution lie.
  struct Windows {
    uint32_t top = 0, left = 0, bottom = 0, right = 0;  // Padding.
    uint32_t step = 1;
    uint32_t dilation_down = 1, dilation_across = 1;
    uint32_t groups = 1;
    std::optional<uint32_t> step_across = std::nullopt;  // If it is another one than `step`.

    static Windows padded(uint32_t by) { return {by, by, by, by}; }
  };

  std::deque<Tensor> tensors;
  std::vector<Entry> nodes;
  std::vector<Constant> constants = {{}};
  std::vector<uint8_t> data;
  uint32_t extern_count = 0;
  bool has_old_constants = false;  // Whether they lie in the graph, as in old files.
  std::string identifier = wire::XNNGraphIdentifier();
  flatbuffers::FlatBufferBuilder fbb;

  uint32_t input(Sizes sizes) { return add({std::move(sizes), 1, extern_count++}); }
  uint32_t output(Sizes sizes) { return add({std::move(sizes), 2, extern_count++}); }
  uint32_t inner(Sizes sizes) { return add({std::move(sizes)}); }
  uint32_t constant(Sizes sizes, const Floats& values) {
    const size_t bytes = values.size() * sizeof(float);
    constants.push_back({data.size(), bytes});
    data.resize(data.size() + (bytes + 15) / 16 * 16);
    std::memcpy(data.data() + constants.back().offset, values.data(), bytes);
    Tensor tensor{std::move(sizes)};
    tensor.constant = static_cast<uint32_t>(constants.size() - 1);
    return add(tensor);
  }
  // Integers of one scale; a constant has a zero point of 0.
  uint32_t bytes(Sizes sizes, float scale, int32_t zero_point) {
    const uint32_t id = add({std::move(sizes)});
    tensors[id].type = wire::DataType::QINT8;
    tensors[id].scale = scale;
    tensors[id].zero_point = zero_point;
    return id;
  }
  uint32_t constant(Sizes sizes, const std::vector<int8_t>& values, float scale) {
    return integers(std::move(sizes), values, wire::DataType::QINT8, scale);
  }
  uint32_t constant(Sizes sizes, const std::vector<int32_t>& values, float scale) {
    return integers(std::move(sizes), values, wire::DataType::QINT32, scale);
  }
  uint32_t add(Tensor tensor) {
    tensors.push_back(std::move(tensor));
    return static_cast<uint32_t>(tensors.size() - 1);
  }

  void unary(wire::NodeContent kind, uint32_t x, uint32_t y) {
    nodes.push_back({kind, wire::CreateUnary(fbb, x, y).Union()});
  }
  void binary(wire::NodeContent kind, uint32_t a, uint32_t b, uint32_t y, uint32_t flags = 0) {
    nodes.push_back({kind, wire::CreateBinary(fbb, a, b, y, flags).Union()});
  }
  void transposed(uint32_t x, const std::vector<uint32_t>& perm, uint32_t y) {
    const auto rank = static_cast<uint32_t>(perm.size());
    nodes.push_back({wire::NodeContent::Transpose,
                     wire::CreateTransposeDirect(fbb, rank, &perm, x, y).Union()});
  }
  void reshaped(uint32_t x, const Sizes& sizes, uint32_t y) {
    const auto rank = static_cast<uint32_t>(sizes.size());
    nodes.push_back(
        {wire::NodeContent::Reshape, wire::CreateReshapeDirect(fbb, rank, &sizes, x, y).Union()});
  }
  void connected(uint32_t x, uint32_t filter, uint32_t bias, uint32_t y) {
    nodes.push_back({wire::NodeContent::FullyConnected,
                     wire::CreateFullyConnected(fbb, x, filter, bias, y).Union()});
  }
  // Adds a node of one of Taper's own kinds, which changes the identifier of the payload.
  void taper_node(wire::NodeContent kind, flatbuffers::Offset<void> content) {
    identifier = kTaperIdentifier;
    nodes.push_back({kind, content});
  }
  // Adds a convolution, a depthwise one if the filter is [1, height, width, channels] and there are
  // groups.
  void convolved(uint32_t x, uint32_t filter, uint32_t bias, uint32_t y, const Windows& windows) {
    const Sizes& window = tensors[filter].sizes;
    const bool is_depthwise = windows.groups > 1 && window[0] == 1;
    wire::ConvolutionBuilder c(fbb);
    c.add_padding_top(windows.top), c.add_padding_right(windows.right);
    c.add_padding_bottom(windows.bottom), c.add_padding_left(windows.left);
    c.add_kernel_height(window[1]), c.add_kernel_width(window[2]);
    c.add_stride_height(windows.step);
    c.add_stride_width(windows.step_across.value_or(windows.step));
    c.add_dilation_height(windows.dilation_down), c.add_dilation_width(windows.dilation_across);
    c.add_groups(windows.groups);
    c.add_group_input_channels(is_depthwise ? 1 : window[3]);
    c.add_group_output_channels((is_depthwise ? window[3] : window[0]) / windows.groups);
    c.add_input(x), c.add_filter(filter), c.add_bias(bias), c.add_output(y);
    nodes.push_back({is_depthwise ? wire::NodeContent::DepthwiseConv2d : wire::NodeContent::Conv2d,
                     c.Finish().Union()});
  }

  std::vector<uint8_t> finish() {
    std::vector<flatbuffers::Offset<wire::XValue>> values;
    for (size_t i = 0; i < tensors.size(); ++i) values.push_back(value(i));
    std::vector<flatbuffers::Offset<wire::XNode>> list;
    for (const Entry& node : nodes) {
      flatbuffers::Offset<wire::Range> range;
      if (node.range) range = wire::CreateRange(fbb, node.range->first, node.range->second);
      list.push_back(wire::CreateXNode(fbb, node.kind, node.content, node.origin, range));
    }
    if (has_old_constants) return finish_with_buffers(list, values);
    std::vector<flatbuffers::Offset<wire::Constant>> entries;
    for (const Constant& c : constants) {
      flatbuffers::Offset<flatbuffers::String> name;
      if (!c.name.empty()) name = fbb.CreateString(c.name);
      entries.push_back(wire::CreateConstant(fbb, c.offset, c.size, name));
    }
    fbb.Finish(wire::CreateXNNGraphDirect(fbb, "0", &list, &values, extern_count, nullptr, nullptr,
                                          nullptr, nullptr, &entries),
               identifier.c_str());
    return with_header();
  }

 private:
  std::vector<uint8_t> finish_with_buffers(
      const std::vector<flatbuffers::Offset<wire::XNode>>& list,
      const std::vector<flatbuffers::Offset<wire::XValue>>& values) {
    std::vector<flatbuffers::Offset<wire::Buffer>> buffers;
    for (const Constant& c : constants) {
      fbb.ForceVectorAlignment(static_cast<size_t>(c.size), 1, 16);
      const auto bytes = fbb.CreateVector(data.data() + c.offset, static_cast<size_t>(c.size));
      buffers.push_back(wire::CreateBuffer(fbb, bytes));
    }
    data.clear();
    fbb.Finish(wire::CreateXNNGraphDirect(fbb, "0", &list, &values, extern_count, nullptr, nullptr,
                                          &buffers),
               identifier.c_str());
    return with_header();
  }

  template <typename T>
  uint32_t integers(Sizes sizes, const std::vector<T>& values, wire::DataType type, float scale) {
    Floats words((values.size() * sizeof(T) + 3) / 4);
    std::memcpy(words.data(), values.data(), values.size() * sizeof(T));
    const uint32_t id = constant(std::move(sizes), words);
    tensors[id].type = type;
    tensors[id].scale = scale;
    return id;
  }

  flatbuffers::Offset<wire::XValue> value(size_t i) {
    const Tensor& t = tensors[i];
    const uint32_t rank = t.rank.value_or(static_cast<uint32_t>(t.sizes.size()));
    const auto tensor =
        wire::CreateTensorDirect(fbb, t.type, rank, &t.sizes, t.constant, t.external, t.flags,
                                 t.id.value_or(static_cast<uint32_t>(i)));
    if (t.steps) {
      const auto how =
          wire::CreateStepsDirect(fbb, &t.steps->scales,
                                  t.steps->zero_points.empty() ? nullptr : &t.steps->zero_points,
                                  t.steps->span, t.steps->table.empty() ? nullptr : &t.steps->table)
              .Union();
      return quantized(tensor, wire::Quantization::Steps, how);
    }
    if (t.is_dynamic) {
      const auto how = wire::CreatePerToken(fbb, 1).Union();
      return quantized(tensor, wire::Quantization::PerToken, how);
    }
    if (t.group_size > 0) {
      const auto how = wire::CreatePerGroupDirect(fbb, &t.scales, 0, t.group_size).Union();
      return quantized(tensor, wire::Quantization::PerGroup, how);
    }
    if (!t.scales.empty()) {
      const auto how = wire::CreatePerChannelDirect(fbb, &t.scales, 0).Union();
      return quantized(tensor, wire::Quantization::PerChannel, how);
    }
    if (!t.scale) return wire::CreateXValue(fbb, wire::ValueContent::Tensor, tensor.Union());
    return quantized(tensor, wire::Quantization::PerTensor,
                     wire::CreatePerTensor(fbb, *t.scale, t.zero_point).Union());
  }
  flatbuffers::Offset<wire::XValue> quantized(flatbuffers::Offset<wire::Tensor> tensor,
                                              wire::Quantization kind,
                                              flatbuffers::Offset<void> how) {
    const auto stored = wire::CreateQuantizedTensor(fbb, tensor, kind, how);
    return wire::CreateXValue(fbb, wire::ValueContent::QuantizedTensor, stored.Union());
  }

  std::vector<uint8_t> with_header() const {
    const auto padded = (fbb.GetSize() + 15) / 16 * 16;
    std::vector<uint8_t> bytes(32 + padded, 0);
    const auto put = [&](size_t at, auto number) {
      std::memcpy(bytes.data() + at, &number, sizeof(number));
    };
    std::memcpy(bytes.data() + 4, "XH00", 4);
    put(8, uint16_t{30});
    put(10, uint32_t{32});
    put(14, uint32_t{fbb.GetSize()});
    put(18, static_cast<uint32_t>(32 + padded));
    put(22, uint64_t{data.size()});
    std::memcpy(bytes.data() + 32, fbb.GetBufferPointer(), fbb.GetSize());
    bytes.insert(bytes.end(), data.begin(), data.end());
    return bytes;
  }
};

// A tensor and its memory.
struct HeldFloats {
  std::vector<int32_t> sizes, strides;
  std::vector<uint8_t> order;
  Floats data;
  taper::Tensor tensor;
  EValue value;

  HeldFloats(std::vector<int32_t> shape, Floats values, size_t capacity = 0)
      : sizes(std::move(shape)), strides(sizes.size()), data(std::move(values)) {
    for (size_t d = 0; d < sizes.size(); ++d) order.push_back(static_cast<uint8_t>(d));
    data.resize(std::max(capacity, data.size()) + 8);
    tensor = taper::Tensor(ScalarType::kFloat, sizes.size(), sizes.data(), order.data(),
                           strides.data(), data.data(), ShapeDynamism::kDynamicBound);
    if (capacity > 0) tensor.set_data(data.data(), static_cast<int64_t>(capacity));
    value = EValue(&tensor);
  }
  HeldFloats(const HeldFloats&) = delete;
  Floats result() const {
    return Floats(data.begin(), data.begin() + static_cast<ptrdiff_t>(tensor.numel()));
  }
};

// A compile spec in the form in which a file stores it.
class Specs {
 public:
  Specs(const char* key, const std::vector<uint8_t>& value) {
    const auto spec = taper::wire::CreateCompileSpecDirect(fbb_, key, &value);
    at_ = fbb_.CreateVector(&spec, 1);
    fbb_.Finish(at_);
  }
  operator CompileSpecs() const {
    return CompileSpecs(flatbuffers::GetTemporaryPointer(fbb_, at_));
  }

 private:
  mutable flatbuffers::FlatBufferBuilder fbb_;  // GetTemporaryPointer() is not const.
  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<taper::wire::CompileSpec>>> at_;
};

// Options for so many threads, which sleep as soon as they have nothing to do.
inline XnnpackOptions on_threads(uint32_t threads) {
  XnnpackOptions options;
  options.threads = threads;
  options.wake_seconds = 0;
  return options;
}

// A payload that is loaded in a backend.
class Loaded {
 public:
  explicit Loaded(const std::vector<uint8_t>& payload, XnnpackOptions options = one_thread())
      : own_(std::in_place, options), backend_(*own_) {
    load(payload);
  }
  // Loads it in a backend that others use, too.
  Loaded(const std::vector<uint8_t>& payload, XnnpackBackend& backend,
         std::string_view method = "forward", CompileSpecs specs = CompileSpecs())
      : method_(method), specs_(specs), backend_(backend) {
    load(payload);
  }
  ~Loaded() {
    if (handle_ != nullptr) backend_.destroy(handle_);
  }
  Loaded(const Loaded&) = delete;

  static XnnpackOptions one_thread() {
    XnnpackOptions options;
    options.threads = 1;
    return options;
  }

  Status run(const std::vector<EValue*>& args) {
    BackendExecutionContext context("forward", {});
    return backend_.execute(context, handle_, args);
  }

  Status status;

 private:
  void load(const std::vector<uint8_t>& payload) {
    bytes_.resize(payload.size() + 16);
    // The payload starts at a multiple of 16, as in a file.
    const size_t skip = (16 - reinterpret_cast<uintptr_t>(bytes_.data()) % 16) % 16;
    std::copy(payload.begin(), payload.end(), bytes_.begin() + static_cast<ptrdiff_t>(skip));
    BackendInitContext context(method_, nullptr, nullptr, {});
    Result<void*> handle = backend_.init(context, {bytes_.data() + skip, payload.size()}, specs_);
    status = handle.status();
    if (handle.ok()) handle_ = *handle;
  }

  std::string_view method_ = "forward";
  CompileSpecs specs_;
  std::vector<uint8_t> bytes_;
  std::optional<XnnpackBackend> own_;
  XnnpackBackend& backend_;
  void* handle_ = nullptr;
};

// Changes each byte of a payload in turn, and runs what can still be loaded: nothing may crash.
inline void run_with_each_byte_changed(const std::vector<uint8_t>& good, HeldFloats& in,
                                       HeldFloats& out) {
  for (size_t i = 0; i < good.size(); ++i) {
    for (const uint8_t change : {1, 0x80, 0xff}) {
      std::vector<uint8_t> bad = good;
      bad[i] = static_cast<uint8_t>(bad[i] ^ change);
      Loaded loaded(bad);
      if (loaded.status.ok()) (void)loaded.run({&in.value, &out.value}).ok();
    }
  }
}

}  // namespace taper::xnnpack
