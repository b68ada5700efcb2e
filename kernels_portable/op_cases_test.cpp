// Every kernel against PyTorch's numbers: one test for each file of cases (cases/make.py writes them).

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

namespace taper::portable {
namespace {

class OpCases : public testing::TestWithParam<std::string> {};

TEST_P(OpCases, AgreeWithPyTorch) {
  const KernelTable tables[] = {portable_kernels()};
  test::run_op_case_file(tables, test::op_case_path(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Portable, OpCases, testing::ValuesIn(test::op_case_families()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace taper::portable
