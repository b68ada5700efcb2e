// What the conformance suite expects of a backend, from the file conformance.txt in its folder.
//
//   takes aten::add.out 12             it takes at least this many calls of the kernels' suite
//   tolerance aten::exp.out 1e-5 1e-6  relative and absolute, if looser than the suite's own
//   half 6e-3                          relative, of results in float16, if looser than rounding
//
// A line that starts with # is a comment; the one above a tolerance gives the reason.

#pragma once

#include <map>
#include <string>

#include "test/support/case_values.h"

namespace taper::test {

struct Expectations {
  std::map<std::string, int> takes;
  std::map<std::string, Tolerance> tolerances;
  double half = 0;
  std::string problem;  // What is wrong with the file; empty if nothing is.
};

Expectations read_expectations(const std::string& path);

// The tolerance of a case: its own or its dtype's, unless the backend's is looser.
std::optional<Tolerance> tolerance_of(const Expectations& expected, const OpCase& c);

}  // namespace taper::test
