// The table is sorted, each kernel has a portable one with the same arguments, and every case of
// the portable suite runs through it at every level that this processor supports.

#include "kernels_optimized/kernel_table.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "kernels_optimized/engine/dispatch.h"
#include "kernels_portable/kernel_table.h"
#include "taper/c_tables.h"
#include "taper/taper.h"
#include "test/support/op_cases.h"

namespace taper::optimized {
namespace {

TEST(OptimizedTable, IsSortedByName) {
  const KernelTable table = optimized_kernels();
  for (size_t i = 1; i < table.size(); ++i) {
    EXPECT_LT(std::strcmp(table[i - 1]->name, table[i]->name), 0) << table[i]->name;
  }
}

// What the portable kernels of the operator, or of two whose names are joined, take.
std::vector<ArgSpec> portable_arguments(std::string_view name) {
  std::vector<ArgSpec> arguments;
  for (size_t end = 0; end != name.npos; name.remove_prefix(end == name.npos ? 0 : end + 1)) {
    end = name.find('+');
    const Kernel* kernel = find_kernel(portable::portable_kernels(), name.substr(0, end));
    if (kernel == nullptr) {
      ADD_FAILURE() << name << " has no portable kernel";
      return {};
    }
    arguments.insert(arguments.end(), kernel->args, kernel->args + kernel->arg_count);
  }
  return arguments;
}

TEST(OptimizedTable, TakesWhatThePortableKernelTakes) {
  for (const Kernel* kernel : optimized_kernels()) {
    const std::vector<ArgSpec> arguments = portable_arguments(kernel->name);
    ASSERT_EQ(kernel->arg_count, arguments.size()) << kernel->name;
    for (size_t i = 0; i < arguments.size(); ++i) {
      EXPECT_EQ(kernel->args[i].kind, arguments[i].kind) << kernel->name << " argument " << i;
      EXPECT_EQ(kernel->args[i].optional, arguments[i].optional) << kernel->name;
      EXPECT_EQ(kernel->args[i].complex, arguments[i].complex) << kernel->name;
    }
  }
}

TEST(OptimizedTable, EveryLineOfOpsDefNamesItsKernel) {
  const char* const names[] = {
#define TAPER_OP(variable, file, schema) schema,
#include "kernels_optimized/ops.def"
#undef TAPER_OP
  };
  ASSERT_EQ(optimized_kernels().size(), sizeof(names) / sizeof(names[0]));
  for (size_t i = 0; i < optimized_kernels().size(); ++i) {
    EXPECT_STREQ(optimized_kernels()[i]->name, names[i]);
  }
}

TEST(OptimizedTable, StandsInTheTableOfTheCApi) {
  const KernelTable all = taper_fast_kernels()->table;
  size_t joined = 0;
  for (const Kernel* fast : optimized_kernels()) {
    EXPECT_EQ(find_kernel(all, fast->name), fast);
    joined += std::strchr(fast->name, '+') != nullptr;
  }
  EXPECT_GT(joined, 0u);
  ASSERT_EQ(all.size(), portable::portable_kernels().size() + joined);
  for (const Kernel* portable : portable::portable_kernels()) {
    const Kernel* fast = find_kernel(optimized_kernels(), portable->name);
    EXPECT_EQ(find_kernel(all, portable->name), fast != nullptr ? fast : portable);
  }
}

// The case files that have calls of kernels in the table.
std::set<std::string> families() {
  std::set<std::string> result;
  const auto add = [&](const char* file, const char* schema) {
    if (find_kernel(optimized_kernels(), schema) == nullptr) return;
    result.insert(std::filesystem::path(file).filename());
  };
#define TAPER_OP(variable, file, schema, memory, dtypes) add(#file, schema);
#include "kernels_portable/ops.def"
#undef TAPER_OP
  return result;
}

class Conformance : public testing::TestWithParam<std::tuple<std::string, Level>> {
 protected:
  ~Conformance() override { limit_level(Level::kAvx512); }
};

TEST_P(Conformance, AgreesWithPyTorch) {
  limit_level(std::get<1>(GetParam()));
  if (level() != std::get<1>(GetParam())) GTEST_SKIP() << "the processor has no such vectors";
  const KernelTable tables[] = {optimized_kernels(), portable::portable_kernels()};
  test::run_op_case_file(tables, test::op_case_path(std::get<0>(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(Optimized, Conformance,
                         testing::Combine(testing::ValuesIn(families()),
                                          testing::ValuesIn(kLevels)),
                         [](const auto& info) {
                           return std::get<0>(info.param) + "_level_" +
                                  std::to_string(static_cast<int>(std::get<1>(info.param)));
                         });

}  // namespace
}  // namespace taper::optimized
