// The table is what find_kernel() expects: sorted by name, every kernel once, complete.

#include "kernels_portable/kernel_table.h"

#include <gtest/gtest.h>

#include <cstring>

namespace taper::portable {
namespace {

TEST(KernelTable, IsSortedByName) {
  const KernelTable table = portable_kernels();
  ASSERT_FALSE(table.empty());
  for (size_t i = 1; i < table.size(); ++i) {
    EXPECT_LT(std::strcmp(table[i - 1]->name, table[i]->name), 0) << table[i]->name;
  }
}

TEST(KernelTable, EveryLineOfOpsDefNamesItsKernel) {
  const char* const names[] = {
#define TAPER_OP(variable, file, schema, memory, dtypes) schema,
#include "kernels_portable/ops.def"
#undef TAPER_OP
  };
  const KernelTable table = portable_kernels();
  for (size_t i = 0; i < table.size(); ++i) {
    EXPECT_STREQ(table[i]->name, names[i]);
    EXPECT_EQ(find_kernel(table, names[i]), table[i]);
    EXPECT_NE(table[i]->run, nullptr);
  }
  EXPECT_EQ(find_kernel(table, "aten::no_such_operator.out"), nullptr);
}

}  // namespace
}  // namespace taper::portable
