// Parses conformance.txt.

#include "test/backends/expectations.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace taper::test {
namespace {

// Returns false if the line is malformed, or if a tolerance has no reason above it.
bool read_line(const std::string& line, bool has_reason, Expectations& out) {
  std::istringstream words(line);
  std::string what, op, rest;
  words >> what;
  if (what == "half") return has_reason && words >> out.half && !(words >> rest);
  words >> op;
  if (what == "takes" && words >> out.takes[op]) return !(words >> rest);
  Tolerance& tolerance = out.tolerances[op];
  return what == "tolerance" && has_reason && words >> tolerance.relative >> tolerance.absolute &&
         !(words >> rest);
}

}  // namespace

Expectations read_expectations(const std::string& path) {
  Expectations out;
  std::ifstream file(path);
  if (!file) out.problem = path + " is missing";
  bool has_reason = false;
  for (std::string line; out.problem.empty() && std::getline(file, line);) {
    if (line.empty() || line[0] == '#') {
      has_reason = !line.empty();
    } else if (!read_line(line, has_reason, out)) {
      out.problem = path + ": '" + line + "' is malformed, or lacks a reason above it";
    }
  }
  return out;
}

std::optional<Tolerance> tolerance_of(const Expectations& expected, const OpCase& c) {
  const auto own = own_tolerance(c);
  const auto found = expected.tolerances.find(c.kernel);
  if (found == expected.tolerances.end()) return own;
  if (!own) return found->second;
  return Tolerance{std::max(own->relative, found->second.relative),
                   std::max(own->absolute, found->second.absolute)};
}

}  // namespace taper::test
