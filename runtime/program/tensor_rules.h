// The rules that any tensor in a file must keep, whichever file it is in.

#pragma once

#include <cstddef>
#include <cstdint>

#include "taper/span.h"
#include "taper/status.h"

namespace taper::internal {

// Checks dtype, rank, sizes and dim order as they stand on the wire, and gives the bytes they make.
// Returns `code` naming the rule that is broken; kNotSupported for a dtype that exists but that no
// kernel computes with.
Status check_shape(Error code, int8_t scalar_type, Span<const int32_t> sizes,
                   Span<const uint8_t> dim_order, uint64_t* bytes);

// True if [offset, offset + size) lies within `room`. Cannot overflow.
constexpr bool fits(uint64_t offset, uint64_t size, uint64_t room) {
  return offset <= room && size <= room - offset;
}

// True if `offset` is a multiple of `power`, a power of two. A device of 32 bits cannot divide 64.
constexpr bool is_multiple(uint64_t offset, size_t power) { return (offset & (power - 1)) == 0; }

}  // namespace taper::internal
