// A few operators for tests of the runtime, which then need no kernel library.
//
//   test::add.out     (Tensor a, Tensor b, Tensor(a!) out)   float32, out takes the sizes of a
//   test::fill        (Scalar value, Tensor(a!) out)         float32
//   test::less        (Scalar a, Scalar b, Scalar(a!) out)   writes a bool slot
//   test::rows        (Tensor self, Scalar(a!) out)          writes an int slot
//   test::increment   (Scalar(a!) value)                     writes an int slot
//   test::view        (Tensor self, int[] size, Tensor(a) out) makes out a view of self's memory
//   test::sum_list    (Tensor[] list, Tensor(a!) out)        float32
//   test::kinds       one argument of every plain kind; checks nothing
//   test::assert      (bool condition, str message)          kInvalidArgument if it does not hold
//   test::fail        (Tensor(a!) out)                       always kInvalidArgument
//   test::scratch     (int bytes)                            kOutOfResources without that much temp

#pragma once

#include "taper/kernel.h"

namespace taper::test {

KernelTable test_kernels();

// test_kernels() as the list of tables for MethodOptions.
Span<const KernelTable> test_tables();

}  // namespace taper::test
