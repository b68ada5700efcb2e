// What the conformance suite expects of one backend: the file conformance.txt in its folder.
//
//   takes aten::add.out 12             it takes at least so many calls of the kernels' suite
//   tolerance aten::exp.out 1e-5 1e-6  relative and absolute, where looser than the suite's own
//
// A line that starts with # is a comment; each tolerance has one above it that gives the reason.

#pragma once

#include <map>
#include <string>

#include "test/support/case_values.h"

namespace taper::test {

struct Expectations {
  std::map<std::string, int> takes;
  std::map<std::string, Tolerance> tolerances;
  std::string problem;  // Of the file; empty if it is fine.
};

Expectations read_expectations(const std::string& path);

// What holds for a case: its own tolerance or that of the dtype, unless the backend's is looser.
std::optional<Tolerance> tolerance_of(const Expectations& expected, const OpCase& c);

}  // namespace taper::test
