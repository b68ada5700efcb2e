// A .pte of many consecutive additions, written without the compiler, to measure the cost of
// loading and dispatch.

#pragma once

#include <cstdint>
#include <vector>

namespace taper::test {

// A method "forward" with `calls` calls of aten::add.out on float tensors of `elements` elements,
// which write to two planned tensors alternately. It has one input and one output. The bytes are
// aligned to 16.
std::vector<uint8_t> chain_of_adds(int calls, int32_t elements);

}  // namespace taper::test
