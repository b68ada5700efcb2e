// Compares an array with the expected one: integers and bools must be equal; floating-point values
// may differ by `tolerance` times max(1, the largest absolute expected value). NaN equals NaN, and
// an infinity equals only itself.

#pragma once

#include <string>

#include "tools/npy.h"

namespace taper::tools {

struct Comparison {
  bool equal = false;
  double largest_error = 0;
  std::string text;  // "largest error 1.2e-06, allowed 3.4e-04", or what differs.
};

Comparison compare(const NpyArray& got, const NpyArray& expected, double tolerance);

// How far the elements of an array are from the expected ones.
struct ArrayDifference {
  double largest = 0;   // Infinite if one is not finite and the other is something else.
  double scale = 0;     // The largest finite absolute value of those expected.
  double decibels = 0;  // Signal to noise; infinite if nothing differs.
};

// The dtypes may differ. REQUIRES: as many elements, both complex or neither.
ArrayDifference difference_of(const NpyArray& got, const NpyArray& expected);

// The largest finite absolute value.
inline double largest_of(const NpyArray& array) { return difference_of(array, array).scale; }

}  // namespace taper::tools
