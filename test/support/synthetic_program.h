// A .pte of many additions in a row, made without the compiler: what loading and dispatch cost can
// be measured on it alone.

#pragma once

#include <cstdint>
#include <vector>

namespace taper::test {

// `calls` times aten::add.out of two float tensors of `elements` into one of two planned tensors,
// in turn. One input, one output, method "forward". The bytes lie at a multiple of 16.
std::vector<uint8_t> chain_of_adds(int calls, int32_t elements);

}  // namespace taper::test
