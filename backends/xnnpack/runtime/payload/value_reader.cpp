// Checks everything that a file states about a value, since XNNPACK checks little of it.

#include "backends/xnnpack/runtime/payload/value_reader.h"

#include <xnnpack.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>

#include "kernels_portable/engine/half.h"

namespace taper::xnnpack {
namespace {

using wire::DataType;

constexpr uint32_t kInputFlag = 1;
constexpr uint32_t kOutputFlag = 2;
constexpr size_t kPage = 4096;  // The smallest page of any system.
constexpr uint32_t kMinGroup = 32;

bool is_scale(float scale) { return std::isnormal(scale) && scale > 0; }

// The bits of an element; 0 for types that no value may have.
uint32_t bits_of(DataType type) {
  switch (type) {
    case DataType::FP32:
    case DataType::QINT32:
    case DataType::QCINT32:
      return 32;
    case DataType::FP16:
      return 16;
    case DataType::QINT8:
    case DataType::QUINT8:
    case DataType::QCINT8:
    case DataType::QDINT8:
      return 8;
    case DataType::QCINT4:
    case DataType::QBINT4:
      return 4;
    default:
      return 0;
  }
}

// Whether arguments of the delegate may have the type, which has at most one scale.
bool is_argument_type(DataType type) {
  return type == DataType::FP32 || type == DataType::FP16 || type == DataType::QINT8 ||
         type == DataType::QUINT8;
}

bool has_one_scale(DataType type) {
  return type == DataType::QINT8 || type == DataType::QUINT8 || type == DataType::QINT32;
}

// The upper half of a float, rounded to nearest.
uint16_t to_bfloat16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

float from_bfloat16(uint16_t upper) {
  const uint32_t bits = uint32_t{upper} << 16;
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

template <typename T>
bool is_aligned(const uint8_t* data) {
  return reinterpret_cast<uintptr_t>(data) % alignof(T) == 0;
}

// Memory of its own for a constant.
Status make_owned(XnnValue& value) {
  const uint64_t size = stored_bytes(value.type, value.declared);
  const bool fits = size <= SIZE_MAX - XNN_EXTRA_BYTES;
  if (fits) {
    value.owned.reset(new (std::nothrow) uint8_t[static_cast<size_t>(size) + XNN_EXTRA_BYTES]());
  }
  TAPER_REQUIRE(fits && value.owned != nullptr, Error::kDelegateMemoryAllocationFailed,
                "there is no memory for a constant of the XNNPACK graph");
  value.data = value.owned.get();
  return {};
}

// The halves of bytes that a constant is stored as, by the index of the element, without a sign.
class HalfBytes {
 public:
  explicit HalfBytes(const XnnValue& value)
      : bytes_(value.stored), columns_(value.declared.last()), row_bytes_((columns_ + 1) / 2) {}
  int at(uint64_t i) const { return at(i / columns_, i % columns_); }
  int at(uint64_t row, uint64_t column) const {
    const uint8_t both = bytes_[row * row_bytes_ + column / 2];
    return column % 2 == 0 ? both & 15 : both >> 4;
  }

 private:
  const uint8_t* bytes_;
  uint64_t columns_, row_bytes_;
};

// Writes the floats of `count` integers, of which read(i) is number i.
template <typename Read>
void widen(const wire::Steps& steps, uint64_t count, const Read& read, uint8_t* to) {
  const auto* zero_points = steps.zero_point();
  uint32_t item = 0;
  for (uint64_t i = 0, left = steps.span(); i < count; ++i, --left) {
    if (left == 0) {
      left = steps.span();
      item = item + 1 == steps.scale()->size() ? 0 : item + 1;
    }
    const float zero_point = zero_points != nullptr ? zero_points->Get(item) : 0;
    const float element = (static_cast<float>(read(i)) - zero_point) * steps.scale()->Get(item);
    std::memcpy(to + i * sizeof(element), &element, sizeof(element));
  }
}

bool are_finite(const flatbuffers::Vector<float>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(),
                     [](float number) { return std::isfinite(number); });
}

}  // namespace

bool may_be_read_past(const void* data, uint64_t bytes) {
  const uintptr_t last = reinterpret_cast<uintptr_t>(data) + static_cast<uintptr_t>(bytes) - 1;
  return last / kPage != (last + XNN_EXTRA_BYTES) / kPage;
}

uint64_t stored_bytes(DataType type, const Shape& shape) {
  const uint32_t bits = bits_of(type);
  const uint64_t count = element_count(shape);
  if (bits == 0 || count > kMaxElements) return UINT64_MAX;
  if (bits != 4) return count * (bits / 8);
  if (shape.rank == 0 || shape.last() == 0) return UINT64_MAX;
  return count / shape.last() * ((uint64_t{shape.last()} + 1) / 2);  // A row is whole bytes.
}

Status ValueReader::read(const wire::XValue& wire, uint32_t id, XnnValue& value) const {
  if (const wire::Tensor* tensor = wire.content_as_Tensor()) {
    TAPER_TRY(read_tensor(*tensor, id, value));
    TAPER_XNNPACK_REQUIRE(value.type == DataType::FP32 || value.type == DataType::FP16,
                          "a tensor of the XNNPACK graph has an unsupported type");
  } else if (const wire::QuantizedTensor* quantized = wire.content_as_QuantizedTensor()) {
    TAPER_XNNPACK_REQUIRE(quantized->tensor() != nullptr, "a value of the graph is not a tensor");
    TAPER_TRY(read_tensor(*quantized->tensor(), id, value));
    if ((quantized->tensor()->flags() & kHalfBytesFlag) != 0) {
      TAPER_TRY(read_half_bytes(*quantized, value));
    }
    TAPER_TRY(read_quantization(*quantized, value));
  } else {
    return refuse("a value of the XNNPACK graph is not a tensor");
  }
  return {};
}

Status ValueReader::read_tensor(const wire::Tensor& tensor, uint32_t id, XnnValue& value) const {
  value.type = tensor.datatype();
  TAPER_XNNPACK_REQUIRE(value.type != DataType::BF16,
                        "the graph computes in bfloat16, which this XNNPACK lacks: lower without "
                        "XnnpackPartitioner(enable_bf16=True), and the kernels do");
  TAPER_XNNPACK_REQUIRE(bits_of(value.type) != 0, "a value of the graph has an unsupported type");
  TAPER_XNNPACK_REQUIRE(tensor.id() == id, "the id of a value of the graph is not its index");
  TAPER_XNNPACK_REQUIRE(tensor.quantize_to() == DataType::INVALID,
                        "a file so old that it quantises inputs implicitly is not supported");
  const uint32_t rank = tensor.rank();
  TAPER_XNNPACK_REQUIRE(
      rank <= kMaxRank && (tensor.dims() != nullptr ? tensor.dims()->size() : 0) == rank,
      "a tensor of the graph has more than six dimensions, or its rank is wrong");
  value.declared.rank = rank;
  for (uint32_t d = 0; d < rank; ++d) value.declared.dims[d] = tensor.dims()->Get(d);
  value.shape = value.declared;
  const uint64_t count = element_count(value.declared);
  TAPER_XNNPACK_REQUIRE(count > 0 && count <= kMaxElements,
                        "a tensor of the graph is empty or too large");
  const uint32_t flags = kInputFlag | kOutputFlag | (widens_constants_ ? kHalfBytesFlag : 0);
  TAPER_XNNPACK_REQUIRE((tensor.flags() & ~flags) == 0,
                        "a tensor of the graph has an unknown flag");
  value.is_input = (tensor.flags() & kInputFlag) != 0;
  value.is_output = (tensor.flags() & kOutputFlag) != 0;
  value.external_id = tensor.external_id();
  TAPER_XNNPACK_REQUIRE((value.external_id != kNone) == (value.is_input != value.is_output) &&
                            !(value.is_input && value.is_output),
                        "a tensor of the graph is an argument without a direction, or with two");
  TAPER_XNNPACK_REQUIRE(value.external_id == kNone || is_argument_type(value.type),
                        "an argument of the delegate has a type that arguments cannot have");
  value.is_known = value.is_input;
  return tensor.constant() != 0 ? read_constant(tensor, value) : Status();
}

Result<ValueReader::Constant> ValueReader::constant(uint32_t number) const {
  Constant constant;
  const auto* list = graph_.constants();
  if (list != nullptr && list->size() > 0) {
    TAPER_XNNPACK_REQUIRE(number < list->size(), "a constant of the graph is not in its list");
    const wire::Constant& entry = *list->Get(number);
    if (entry.name() != nullptr) {
      Result<NamedData> data = context_.find_data(entry.name()->string_view());
      if (!data.ok()) return data.status();
      constant.bytes = data->bytes;
      constant.is_in_program = data->is_in_program;
      return constant;
    }
    TAPER_XNNPACK_REQUIRE(
        entry.offset() <= constants_.size() && entry.size() <= constants_.size() - entry.offset(),
        "a constant of the graph lies outside the payload");
    constant.bytes =
        constants_.subspan(static_cast<size_t>(entry.offset()), static_cast<size_t>(entry.size()));
    constant.end = constants_.end();
    return constant;
  }
  const auto* buffers = graph_.constant_buffers();
  TAPER_XNNPACK_REQUIRE(buffers != nullptr && number < buffers->size(),
                        "a constant of the graph is not in its list");
  const auto* bytes = buffers->Get(number)->storage();
  TAPER_XNNPACK_REQUIRE(bytes != nullptr, "a constant of the graph has no bytes");
  constant.bytes = Span<const uint8_t>(bytes->data(), bytes->size());
  return constant;
}

Status ValueReader::read_constant(const wire::Tensor& tensor, XnnValue& value) const {
  Result<Constant> found = constant(tensor.constant());
  if (!found.ok()) return found.status();
  const uint64_t needed = stored_bytes(value.type, value.declared);
  TAPER_XNNPACK_REQUIRE(needed <= found->bytes.size(),
                        "a constant of the graph is shorter than its type and sizes require");
  TAPER_XNNPACK_REQUIRE(value.external_id == kNone, "a constant of the graph is an argument");
  value.data = value.stored = found->bytes.data();
  value.stored_size = static_cast<size_t>(needed);
  value.is_in_program = found->is_in_program;
  value.is_known = true;
  if (widens_constants_ && value.type == DataType::FP16) {
    value.type = DataType::FP32;
    return own_constant(value);
  }
  const bool is_followed =
      found->end != nullptr && found->end - (value.data + value.stored_size) >= XNN_EXTRA_BYTES;
  const bool may_stay = is_followed || !may_be_read_past(value.data, needed);
  return is_aligned<uint32_t>(value.data) && may_stay ? Status() : own_constant(value);
}

Status own_constant(XnnValue& value) {
  TAPER_TRY(make_owned(value));
  const size_t size = static_cast<size_t>(stored_bytes(value.type, value.declared));
  if (size == value.stored_size) {
    std::memcpy(value.owned.get(), value.stored, size);
    return {};
  }
  for (size_t i = 0; i < size / sizeof(float); ++i) {
    portable::Half half;
    std::memcpy(&half.bits, value.stored + i * sizeof(half.bits), sizeof(half.bits));
    const float number = portable::half_to_float(half);
    std::memcpy(value.owned.get() + i * sizeof(number), &number, sizeof(number));
  }
  return {};
}

Status ValueReader::read_quantization(const wire::QuantizedTensor& tensor, XnnValue& value) const {
  if (const wire::PerTensor* one = tensor.quantization_as_PerTensor()) {
    value.scale = one->scale();
    value.zero_point = one->zero_point();
    const bool is_signed = value.type != DataType::QUINT8;
    TAPER_XNNPACK_REQUIRE(has_one_scale(value.type) && is_scale(value.scale),
                          "a scale is not a positive number, or the type has none");
    TAPER_XNNPACK_REQUIRE(value.type == DataType::QINT32
                              ? value.zero_point == 0
                              : value.zero_point >= (is_signed ? -128 : 0) &&
                                    value.zero_point <= (is_signed ? 127 : 255),
                          "a zero point is out of the range of its type");
    return {};
  }
  if (const wire::PerToken* token = tensor.quantization_as_PerToken()) {
    TAPER_XNNPACK_REQUIRE(value.type == DataType::QDINT8 && value.external_id == kNone &&
                              value.data == nullptr && token->nonbatch_dims() >= 1 &&
                              token->nonbatch_dims() <= static_cast<int32_t>(value.declared.rank),
                          "a tensor cannot be quantised at run time");
    value.nonbatch_dims = static_cast<uint32_t>(token->nonbatch_dims());
    return {};
  }
  TAPER_XNNPACK_REQUIRE(value.data != nullptr, "a tensor with several scales is not a constant");
  if (const wire::PerChannel* channels = tensor.quantization_as_PerChannel()) {
    return read_channels(*channels, value);
  }
  if (const wire::PerGroup* groups = tensor.quantization_as_PerGroup()) {
    return read_groups(*groups, value);
  }
  if (const wire::Steps* steps = tensor.quantization_as_Steps()) return read_steps(*steps, value);
  return refuse("a quantised tensor of the graph has no scale");
}

// Integers of four bits become bytes, with one scale or with those of channels.
Status ValueReader::read_half_bytes(const wire::QuantizedTensor& tensor, XnnValue& value) const {
  const bool has_one = tensor.quantization_as_PerTensor() != nullptr;
  TAPER_XNNPACK_REQUIRE(value.type == DataType::QCINT4 && value.stored != nullptr &&
                            (has_one || tensor.quantization_as_PerChannel() != nullptr),
                        "a value of the graph cannot be stored in half bytes");
  value.type = has_one ? DataType::QINT8 : DataType::QCINT8;
  TAPER_TRY(make_owned(value));
  const HalfBytes halves(value);
  const uint64_t columns = value.declared.last(), rows = element_count(value.declared) / columns;
  uint8_t* to = value.owned.get();
  for (uint64_t row = 0; row < rows; ++row) {
    for (uint64_t column = 0; column < columns; ++column) {
      *to++ = static_cast<uint8_t>(halves.at(row, column) - 8);
    }
  }
  return {};
}

Status ValueReader::read_steps(const wire::Steps& steps, XnnValue& value) const {
  TAPER_XNNPACK_REQUIRE(
      widens_constants_ && (value.type == DataType::QINT8 || value.type == DataType::QUINT8 ||
                            value.type == DataType::QCINT4),
      "a constant of the graph is stored in steps, but its type or the payload does not allow it");
  const auto *scales = steps.scale(), *zero_points = steps.zero_point();
  TAPER_XNNPACK_REQUIRE(scales != nullptr && scales->size() > 0 && steps.span() > 0 &&
                            are_finite(*scales) &&
                            (zero_points == nullptr ||
                             (zero_points->size() == scales->size() && are_finite(*zero_points))),
                        "the scales of a constant that is stored in steps are not valid");
  const DataType type = value.type;
  const auto* table = steps.table();
  TAPER_XNNPACK_REQUIRE(table == nullptr || (type == DataType::QUINT8 && table->size() == 256) ||
                            (type == DataType::QCINT4 && table->size() == 16),
                        "the table of a constant that is stored in steps is not valid");
  value.type = DataType::FP32;
  TAPER_TRY(make_owned(value));
  const uint8_t* from = value.stored;
  const uint64_t count = element_count(value.declared);
  const auto widen_each = [&](const auto& number_at) {
    widen(steps, count, number_at, value.owned.get());
  };
  if (type == DataType::QCINT4) {
    const HalfBytes halves(value);
    if (table == nullptr) {
      widen_each([&](uint64_t i) { return halves.at(i) - 8; });
    } else {
      widen_each([&](uint64_t i) { return table->Get(static_cast<uint32_t>(halves.at(i))); });
    }
  } else if (table != nullptr) {
    widen_each([&](uint64_t i) { return table->Get(from[i]); });
  } else if (type == DataType::QINT8) {
    widen_each([&](uint64_t i) { return static_cast<int8_t>(from[i]); });
  } else {
    widen_each([&](uint64_t i) { return from[i]; });
  }
  return {};
}

Status ValueReader::read_channels(const wire::PerChannel& channels, XnnValue& value) const {
  TAPER_XNNPACK_REQUIRE(value.type == DataType::QCINT8 || value.type == DataType::QCINT32 ||
                            value.type == DataType::QCINT4,
                        "a tensor has scales per channel, but its type does not allow them");
  TAPER_XNNPACK_REQUIRE(channels.channel_dim() >= 0 &&
                            channels.channel_dim() < static_cast<int32_t>(value.declared.rank),
                        "the channel dimension of the scales does not exist");
  value.channel_dim = static_cast<uint32_t>(channels.channel_dim());
  value.scale_count = value.declared.dims[value.channel_dim];
  size_t count = channels.scale() != nullptr ? channels.scale()->size() : 0;
  if (channels.scale_buffer() != 0) {
    Result<Constant> found = constant(channels.scale_buffer());
    if (!found.ok()) return found.status();
    const Span<const uint8_t> bytes = found->bytes;
    TAPER_XNNPACK_REQUIRE(is_aligned<float>(bytes.data()), "the scales are not aligned");
    value.scales = reinterpret_cast<const float*>(bytes.data());
    count = bytes.size() / sizeof(float);
  } else if (count > 0) {
    value.scales = channels.scale()->data();
  }
  TAPER_XNNPACK_REQUIRE(count >= value.scale_count, "there are fewer scales than channels");
  for (uint32_t i = 0; i < value.scale_count; ++i) {
    TAPER_XNNPACK_REQUIRE(is_scale(value.scales[i]), "a scale is not a positive number");
  }
  // The number that the library subtracts from four-bit weights.
  value.zero_point = value.type == DataType::QCINT4 ? 8 : 0;
  return {};
}

Status ValueReader::read_groups(const wire::PerGroup& groups, XnnValue& value) const {
  TAPER_XNNPACK_REQUIRE(value.type == DataType::QBINT4 && value.declared.rank == 2 &&
                            groups.channel_dim() == 0 &&
                            groups.group_size() >= static_cast<int32_t>(kMinGroup) &&
                            groups.group_size() % static_cast<int32_t>(kMinGroup) == 0,
                        "the groups of scales are not supported");
  value.group_size = static_cast<uint32_t>(groups.group_size());
  TAPER_XNNPACK_REQUIRE(value.declared.dims[1] % value.group_size == 0,
                        "the size of a channel is not a multiple of the group size");
  const uint64_t count =
      uint64_t{value.declared.dims[0]} * (value.declared.dims[1] / value.group_size);
  if (groups.scale_buffer() != 0) {
    Result<Constant> found = constant(groups.scale_buffer());
    if (!found.ok()) return found.status();
    const Span<const uint8_t> bytes = found->bytes;
    TAPER_XNNPACK_REQUIRE(
        is_aligned<uint16_t>(bytes.data()) && bytes.size() / sizeof(uint16_t) >= count,
        "there are fewer scales than groups");
    value.group_scales = reinterpret_cast<const uint16_t*>(bytes.data());
  } else {
    TAPER_XNNPACK_REQUIRE(groups.scale() != nullptr && groups.scale()->size() >= count,
                          "there are fewer scales than groups");
    value.made_scales.reset(new (std::nothrow) uint16_t[static_cast<size_t>(count)]);
    TAPER_REQUIRE(value.made_scales != nullptr, Error::kDelegateMemoryAllocationFailed,
                  "there is no memory for the scales of the XNNPACK graph");
    for (uint32_t i = 0; i < count; ++i) {
      value.made_scales[i] = to_bfloat16(groups.scale()->Get(i));
    }
    value.group_scales = value.made_scales.get();
  }
  for (uint64_t i = 0; i < count; ++i) {
    TAPER_XNNPACK_REQUIRE(is_scale(from_bfloat16(value.group_scales[i])),
                          "a scale is not a positive number");
  }
  value.zero_point = 8;
  return {};
}

}  // namespace taper::xnnpack
