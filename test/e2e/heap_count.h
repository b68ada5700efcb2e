// Counts calls of the heap in this program: malloc and its relatives from everything that is linked
// statically (the linker's --wrap), and operator new from anywhere.

#pragma once

#include <cstddef>

namespace taper::test {

// Calls so far that allocate.
size_t heap_calls();

}  // namespace taper::test
