// Views against the kernels: a result that is said to be a view holds, in every case, the elements
// of the operand from there on.

#include "exir/memory/aliasing.h"

#include <gtest/gtest.h>

#include "exir/ops/builtin.h"
#include "exir/ops/case_call_for_test.h"
#include "kernels_portable/kernel_facts.h"
#include "test/support/op_cases.h"

namespace taper::exir {
namespace {

// How many results are views.
size_t check(const test::OpCase& c) {
  const CaseCall call(c, builtin_operators()->need(c.kernel));
  size_t count = 0;
  for (const ViewOf& view : views_of(call.node)) {
    if (view.base == nullptr) continue;
    const test::CaseTensor& base = c.args[0].tensors[0];
    const bool list = c.results[0].tensors.size() > 1;
    const test::CaseTensor& result =
        list ? c.results[0].tensors[count] : c.results[count].tensors[0];
    ++count;
    EXPECT_EQ(result.type, base.type);
    const size_t first = view.offset / element_size(base.type);
    if (first + result.values.size() > base.values.size()) {
      ADD_FAILURE() << "the view ends outside the operand";
      continue;
    }
    const auto begin = base.values.begin() + static_cast<long>(first);
    EXPECT_EQ(result.values,
              std::vector<std::string>(begin, begin + static_cast<long>(result.values.size())));
  }
  return count;
}

TEST(Views, HoldTheElementsOfTheOperand) {
  std::map<std::string, size_t> views;
  for (const std::string& family : test::op_case_families()) {
    std::string problem;
    for (const test::OpCase& c : test::read_op_cases(test::op_case_path(family), &problem)) {
      const portable::KernelFacts* facts = portable::find_kernel_facts(c.kernel);
      if (c.refused || facts->memory < portable::Memory::kSame) continue;
      SCOPED_TRACE(c.kernel + ", " + family + ".txt:" + std::to_string(c.line));
      views[c.kernel] += check(c);
    }
  }
  for (const auto& [kernel, count] : views) EXPECT_GT(count, 0u) << "no case shows " << kernel;
  EXPECT_GE(views.size(), 10u);
}

}  // namespace
}  // namespace taper::exir
