// Runs every case of the kernels' test suite through every backend that takes it, and compares the
// results with PyTorch's.
//
// Each case is a graph of one node in several variants: its tensors are inputs, or some are
// constants, or their sizes are dynamic; all results are returned, or only the first. Cases that a
// backend does not take are skipped: a kernel runs them, which has its own tests.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>

#include "test/backends/case_run.h"
#include "test/support/op_cases.h"

namespace taper::test {
namespace {

constexpr int kMostFailures = 5;  // The most failures reported per file.

struct Variant {
  const char* name;
  Known known;
  Returned returned = Returned::kAll;
};

constexpr Variant kVariants[] = {
    {"all inputs", Known::kNothing},
    {"all constant but the first", Known::kAllButFirst},
    {"the first constant", Known::kFirst},
    {"dynamic sizes", Known::kOnlyBounds},
    {"all inputs, first result", Known::kNothing, Returned::kFirst},
    {"all constant but the first, first result", Known::kAllButFirst, Returned::kFirst},
    {"dynamic sizes, first result", Known::kOnlyBounds, Returned::kFirst},
};

// The number of calls that each backend took, by kernel.
std::map<std::string, std::map<std::string, int>>& taken() {
  static std::map<std::string, std::map<std::string, int>> counts;
  return counts;
}

struct Param {
  const Subject* subject;
  std::string family;  // "op_add"
};

void PrintTo(const Param& param, std::ostream* out) {
  *out << param.subject->name << ", " << param.family;
}

std::vector<Param> params() {
  std::vector<Param> all;
  for (const Subject& subject : subjects()) {
    for (const std::string& family : op_case_families()) all.push_back({&subject, family});
  }
  return all;
}

bool holds_calls_of(const std::vector<OpCase>& cases, const std::string& kernel) {
  return std::any_of(cases.begin(), cases.end(), [&](const OpCase& c) {
    return c.kernel == kernel && case_graph(c, Known::kNothing, Returned::kAll).graph != nullptr;
  });
}

class BackendCases : public testing::TestWithParam<Param> {};

TEST_P(BackendCases, AreAsPyTorchComputesThem) {
  const std::string path = op_case_path(GetParam().family);
  std::string problem;
  const std::vector<OpCase> cases = read_op_cases(path, &problem);
  ASSERT_EQ(problem, "");
  const Subject& subject = *GetParam().subject;
  const std::unique_ptr<Device> device = make_device(subject);
  int failures = 0;
  for (const OpCase& c : cases) {
    for (const Variant& variant : kVariants) {
      const CaseResult result = run_case(c, variant.known, variant.returned, subject, *device);
      if (result.is_taken) ++taken()[subject.name][c.kernel];
      if (result.wrong.empty() || ++failures > kMostFailures) continue;
      ADD_FAILURE() << path << ":" << c.line << ": " << c.kernel << " (" << variant.name
                    << "): " << result.wrong;
    }
  }
  for (const auto& [kernel, least] : subject.expected.takes) {
    if (!holds_calls_of(cases, kernel)) continue;
    EXPECT_GE(taken()[subject.name][kernel], least) << kernel << " is taken less often";
  }
}

std::string test_name(const testing::TestParamInfo<Param>& info) {
  return info.param.subject->name + "_" + info.param.family;
}

INSTANTIATE_TEST_SUITE_P(Suite, BackendCases, testing::ValuesIn(params()), test_name);

// With TAPER_CONFORMANCE_TAKES set, prints the counts in the format of conformance.txt.
class Report : public testing::Environment {
 public:
  void TearDown() override {
    for (const auto& [backend, kernels] : taken()) {
      int calls = 0;
      for (const auto& [kernel, count] : kernels) {
        calls += count;
        if (std::getenv("TAPER_CONFORMANCE_TAKES") != nullptr) {
          std::cout << "takes " << kernel << " " << count << "\n";
        }
      }
      std::cout << backend << " took " << calls << " calls of " << kernels.size() << " kernels\n";
    }
  }
};

[[maybe_unused]] testing::Environment* const kReport =
    testing::AddGlobalTestEnvironment(new Report);

}  // namespace
}  // namespace taper::test
