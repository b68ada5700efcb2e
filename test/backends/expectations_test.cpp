// Tests that each backend states what the suite may expect of it; a suite that runs nothing would
// otherwise go unnoticed.

#include <set>

#include "test/backends/backend_test.h"
#include "test/support/op_cases.h"

namespace taper::test {
namespace {

class Expected : public BackendTest {};

TEST_P(Expected, NamesKernelsThatHaveCases) {
  const Expectations& expected = subject().expected;
  ASSERT_EQ(expected.problem, "");
  std::set<std::string> kernels;
  for (const std::string& family : op_case_families()) {
    std::string problem;
    for (const OpCase& c : read_op_cases(op_case_path(family), &problem)) kernels.insert(c.kernel);
  }
  for (const auto& [kernel, least] : expected.takes) {
    EXPECT_EQ(kernels.count(kernel), 1u) << "takes " << kernel;
    EXPECT_GT(least, 0) << kernel;
  }
  for (const auto& [kernel, tolerance] : expected.tolerances) {
    EXPECT_EQ(kernels.count(kernel), 1u) << "tolerance of " << kernel;
  }
}

TEST_P(Expected, HasTheTwoThatEveryBackendTakes) {
  EXPECT_EQ(subject().expected.takes.count("aten::add.out"), 1u);
  EXPECT_EQ(subject().expected.takes.count("aten::mul.out"), 1u);
}

// The backend for tests needs no library, so there is always at least one.
TEST(Subjects, AreNeverNone) { EXPECT_FALSE(subjects().empty()); }

INSTANTIATE_TEST_SUITE_P(Suite, Expected, testing::ValuesIn(all_subjects()), subject_name);

}  // namespace
}  // namespace taper::test
