// The rules that every tensor in a file must obey, be it a .pte or a .ptd.

#pragma once

#include <cstddef>
#include <cstdint>

#include "taper/span.h"
#include "taper/status.h"

namespace taper::internal {

// Checks dtype, rank, sizes and dim order as they are in the file, and computes the size in bytes.
// Returns `code` with a text that names the broken rule; kNotSupported for a dtype that exists but
// that no kernel supports.
Status check_shape(Error code, int8_t scalar_type, Span<const int32_t> sizes,
                   Span<const uint8_t> dim_order, uint64_t* bytes);

// True if [offset, offset + size) lies within `room`. Cannot overflow.
constexpr bool fits(uint64_t offset, uint64_t size, uint64_t room) {
  return offset <= room && size <= room - offset;
}

// True if `offset` is a multiple of `power`, a power of two. It avoids 64-bit division, which
// 32-bit devices lack.
constexpr bool is_multiple(uint64_t offset, size_t power) { return (offset & (power - 1)) == 0; }

}  // namespace taper::internal
