#include "backends/vulkan/runtime/arguments.h"

namespace taper::vulkan {
namespace {

// ExecuTorch's exporter writes int64 as int32, so that an argument may be the other; and float32 as
// float16, if it is told to.
bool fits(ScalarType argument, ScalarType stated, bool is_half) {
  const auto is_index = [](ScalarType dtype) {
    return dtype == ScalarType::kInt || dtype == ScalarType::kLong;
  };
  return argument == stated || (is_index(argument) && is_index(stated)) ||
         (is_half && argument == ScalarType::kHalf);
}

// A size, given as a number or as a tensor of one element.
Result<int64_t> number_of(const EValue& arg) {
  if (arg.is_int()) return arg.to_int();
  const bool is_number = arg.is_tensor() && arg.to_tensor().numel() == 1 &&
                         (arg.to_tensor().scalar_type() == ScalarType::kLong ||
                          arg.to_tensor().scalar_type() == ScalarType::kInt);
  TAPER_REQUIRE(is_number, Error::kInvalidType, "an argument of the payload is not a number");
  const Tensor& tensor = arg.to_tensor();
  return tensor.scalar_type() == ScalarType::kLong ? *tensor.const_data_ptr<int64_t>()
                                                   : *tensor.const_data_ptr<int32_t>();
}

}  // namespace

Status take_sizes(const EValue& arg, PayloadValue& input, bool& changed) {
  if (input.kind != Kind::kTensor) {
    const Result<int64_t> number = number_of(arg);
    TAPER_TRY(number.status());
    changed = changed || *number != input.integer;
    input.integer = *number;
    return {};
  }
  TAPER_REQUIRE(arg.is_tensor(), Error::kInvalidType, "an argument of the payload is not a tensor");
  const Tensor& tensor = arg.to_tensor();
  TAPER_REQUIRE(fits(tensor.scalar_type(), input.dtype, input.is_half), Error::kInvalidType,
                "an input has another dtype than the payload says");
  TAPER_REQUIRE(static_cast<size_t>(tensor.dim()) == input.limits.rank && tensor.is_contiguous(),
                Error::kInvalidArgument, "an input has another rank than the payload says");
  for (size_t i = 0; i < input.limits.rank; ++i) {
    const int64_t size = tensor.size(static_cast<int64_t>(i));
    TAPER_REQUIRE(size <= input.limits[i], Error::kInvalidArgument,
                  "an input is larger than the payload says");
    changed = changed || size != input.dims[i];
    input.dims[i] = size;
  }
  changed = changed || input.is_read;
  input.given = static_cast<const uint8_t*>(tensor.const_data());
  input.given_dtype = tensor.scalar_type();
  return {};
}

Status set_number(EValue& arg, int64_t number) {
  if (arg.is_int()) {
    arg = EValue(number);
    return {};
  }
  const bool takes_one = arg.is_tensor() && arg.to_tensor().numel() == 1 &&
                         (arg.to_tensor().scalar_type() == ScalarType::kLong ||
                          arg.to_tensor().scalar_type() == ScalarType::kInt) &&
                         !arg.to_tensor().is_constant();
  TAPER_REQUIRE(takes_one, Error::kInvalidType, "an output is not what the payload says");
  if (arg.to_tensor().scalar_type() == ScalarType::kLong) {
    *arg.to_tensor().mutable_data_ptr<int64_t>() = number;
  } else {
    *arg.to_tensor().mutable_data_ptr<int32_t>() = static_cast<int32_t>(number);
  }
  return {};
}

Status resize_output(EValue& arg, const PayloadValue& output, const Dims& dims) {
  TAPER_REQUIRE(arg.is_tensor() &&
                    fits(arg.to_tensor().scalar_type(), output.dtype, output.is_half) &&
                    !arg.to_tensor().is_constant(),
                Error::kInvalidType, "an output is not what the payload says");
  int32_t sizes[Dims::kMaxRank];
  for (size_t i = 0; i < dims.rank; ++i) sizes[i] = static_cast<int32_t>(dims[i]);
  TAPER_TRY(arg.to_tensor().resize({sizes, dims.rank}));
  TAPER_REQUIRE(arg.to_tensor().is_contiguous(), Error::kInvalidArgument,
                "an output is not contiguous");
  return {};
}

}  // namespace taper::vulkan
