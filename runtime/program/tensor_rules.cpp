// The rules that every tensor in a file must obey; see tensor_rules.h.

#include "runtime/program/tensor_rules.h"

#include "runtime/core/shape.h"
#include "taper/scalar_type.h"
#include "taper/tensor.h"

namespace taper::internal {
namespace {

// Quantized, bit and 8-bit float types, which the schema has but no kernel supports.
bool is_known_elsewhere(int8_t type) {
  return (type >= 12 && type <= 14) || type == 16 || type == 17 || (type >= 22 && type <= 26);
}

}  // namespace

Status check_shape(Error code, int8_t scalar_type, Span<const int32_t> sizes,
                   Span<const uint8_t> dim_order, uint64_t* bytes) {
  TAPER_REQUIRE(!is_known_elsewhere(scalar_type), Error::kNotSupported,
                "a tensor has a dtype that this runtime does not support");
  const ScalarType type = static_cast<ScalarType>(scalar_type);
  TAPER_REQUIRE(is_valid(type), code, "a tensor has an unknown dtype");
  TAPER_REQUIRE(sizes.size() <= kMaxRank, code, "a tensor has more than 16 dimensions");
  TAPER_REQUIRE(dim_order.size() == sizes.size(), code,
                "a tensor's dim order differs from its sizes in length");
  TAPER_REQUIRE(is_permutation(dim_order), code, "a tensor's dim order is not a permutation");
  const int64_t elements = count_elements(sizes);
  TAPER_REQUIRE(elements >= 0, code, "a tensor's size is negative or too large");
  TAPER_REQUIRE(elements == 0 || strides_fit(sizes, dim_order.data()), code,
                "a tensor's strides exceed 32 bits");
  *bytes = static_cast<uint64_t>(elements) * element_size(type);
  TAPER_REQUIRE(*bytes <= SIZE_MAX / 2, code, "a tensor is larger than the address space");
  return {};
}

}  // namespace taper::internal
