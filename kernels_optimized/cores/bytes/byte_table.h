// Replaces bytes by the entries of a table, for functions between quantised tensors.

#pragma once

#include <cstddef>
#include <cstdint>

namespace taper::optimized {

// out[i] = table[in[i] + 128] for signed bytes; the table has 256 entries. `out` may be `in`. Any
// processor. Threads: accesses only the memory that is passed.
void look_up_bytes(const uint8_t* table, const uint8_t* in, size_t count, uint8_t* out);

}  // namespace taper::optimized
