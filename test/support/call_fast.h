// Calls of fast kernels in tests, at each level that a processor may have.

#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

#include "kernels_optimized/engine/dispatch.h"
#include "kernels_optimized/kernel_table.h"

namespace taper::test {

// Fast kernels use no better instructions than this level's while it exists.
struct LevelLimit {
  explicit LevelLimit(optimized::Level level) { optimized::limit_level(level); }
  LevelLimit(const LevelLimit&) = delete;
  LevelLimit& operator=(const LevelLimit&) = delete;
  ~LevelLimit() { optimized::limit_level(optimized::Level::kAvx512); }
};

// A test at each of kLevels; skipped at those that the processor does not have.
class AtEachLevel : public testing::TestWithParam<optimized::Level> {
 protected:
  void SetUp() override {
    if (optimized::level() != GetParam()) GTEST_SKIP() << "the processor has no such vectors";
  }

 private:
  LevelLimit limit_{GetParam()};
};

// Runs the kernel, which must succeed, with so many bytes of temp memory.
inline void call_fast(const char* name, std::initializer_list<EValue> values, size_t temp = 0) {
  std::vector<EValue> slots(values);
  std::vector<EValue*> args;
  for (EValue& slot : slots) args.push_back(&slot);
  std::vector<unsigned char> memory(temp);
  KernelContext context({memory.data(), temp});
  const Kernel* kernel = find_kernel(optimized::optimized_kernels(), name);
  ASSERT_NE(kernel, nullptr) << name;
  ASSERT_TRUE(kernel->run(context, args.data()).ok()) << name;
}

}  // namespace taper::test
