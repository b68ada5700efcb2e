#include "exir/passes/functional/decompose_writes.h"

#include <gtest/gtest.h>

#include "exir/dialect/verifier.h"
#include "exir/ir/body_for_test.h"

namespace taper::exir {
namespace {

std::string run(const std::string& body, Aten aten = Aten::kNo) {
  const auto graph = parse_body(body);
  verify(*graph, Dialect::kAten);
  decompose_writes(*graph, aten);
  verify(*graph, Dialect::kAten);
  return print_body(*graph);
}

TEST(DecomposeWrites, APositionThatIsKnown) {
  EXPECT_EQ(run(R"(  input %v: float32[1, 2, 1, 3]
  input %c: float32[1, 8, 1, 3]
  %r: float32[1] = llama::update_cache(%v, %c, 4)
  return %c)"),
            R"(  input %v: float32[1, 2, 1, 3]
  input %c: float32[1, 8, 1, 3]
  %slice: float32[1, 2, 1, 3] = aten::slice.Tensor(%c, 1, 4, 6, 1)
  %copy_: float32[1, 2, 1, 3] = aten::copy_(%slice, %v, False)
  %r_1: float32[1] = aten::full([1], 0, float32, None, None, None)
  return %c
)");
}

TEST(DecomposeWrites, APositionOfTheRun) {
  EXPECT_EQ(run(R"(  input %v: float32[1, 2, 1, 3]
  input %c: float32[1, 8, 1, 3]
  input %pos: int(u0)
  %r: float32[1] = llama::update_cache(%v, %c, %pos)
  return %c)"),
            R"(  input %v: float32[1, 2, 1, 3]
  input %c: float32[1, 8, 1, 3]
  input %pos: int(u0)
  %size: int(u0 + 2) = python::add(%pos, 2)
  %slice: float32[1, 2, 1, 3] = aten::slice.Tensor(%c, 1, %pos, %size, 1)
  %copy_: float32[1, 2, 1, 3] = aten::copy_(%slice, %v, False)
  %r_1: float32[1] = aten::full([1], 0, float32, None, None, None)
  return %c
)");
}

TEST(DecomposeWrites, Indices) {
  EXPECT_EQ(run(R"(  input %v: float32[2, 2, 1, 3]
  input %c: float32[2, 8, 1, 3]
  input %i: int64[2, 2]
  %r: float32[1] = llama::update_cache_with_indices(%v, %c, 0, %i)
  return %c)"),
            R"(  input %v: float32[2, 2, 1, 3]
  input %c: float32[2, 8, 1, 3]
  input %i: int64[2, 2]
  %r_1: int64[2] = aten::arange.start_step(0, 2, 1, int64, None, None, None)
  %r_2: int64[2, 1] = aten::unsqueeze(%r_1, 1)
  %index_put_: float32[2, 8, 1, 3] = aten::index_put_(%c, [%r_2, %i], %v, False)
  %r_3: float32[1] = aten::full([1], 0, float32, None, None, None)
  return %c
)");
}

TEST(DecomposeWrites, AttentionWithItsCache) {
  EXPECT_EQ(run(R"(  input %q: float32[1, 2, 4, 3]
  input %v: float32[1, 2, 1, 3]
  input %k: float32[1, 8, 1, 3]
  input %c: float32[1, 8, 1, 3]
  %r: float32[1, 2, 4, 3] =)"
                R"( llama::sdpa_with_kv_cache(%q, %v, %v, %k, %c, 4, 2, None, 0.0, True, None)
  return %r)"),
            R"(  input %q: float32[1, 2, 4, 3]
  input %v: float32[1, 2, 1, 3]
  input %k: float32[1, 8, 1, 3]
  input %c: float32[1, 8, 1, 3]
  %slice: float32[1, 2, 1, 3] = aten::slice.Tensor(%k, 1, 4, 6, 1)
  %copy_: float32[1, 2, 1, 3] = aten::copy_(%slice, %v, False)
  %slice_1: float32[1, 2, 1, 3] = aten::slice.Tensor(%c, 1, 4, 6, 1)
  %copy__1: float32[1, 2, 1, 3] = aten::copy_(%slice_1, %v, False)
  %custom_sdpa: float32[1, 2, 4, 3] = llama::custom_sdpa(%q, %k, %c, 4, None, 0.0, True, None)
  return %custom_sdpa
)");
}

TEST(DecomposeWrites, OtherSizesForTheSameMemory) {
  EXPECT_EQ(run(R"(  input %c: float32[4, 5]
  %r: float32[2, 3] = aten::resize_(%c, [2, 3], None)
  %s: float32[2, 3] = aten::resize_(%r, [2, 3], None)
  return %s)"),
            R"(  input %c: float32[4, 5]
  %as_strided: float32[2, 3] = aten::as_strided(%c, [2, 3], [3, 1], None)
  %alias: float32[2, 3] = aten::alias(%as_strided)
  return %alias
)");
}

TEST(DecomposeWrites, BatchNormInTrainingSaysWhatItWrites) {
  const std::string inputs = "  input %x: float16[4, 3]\n  input %m: float32[3]\n";
  const std::string body =
      inputs +
      "  %y: float16[4, 3] = aten::batch_norm(%x, None, None, %m, %m, True, 0.5, 0.25, True)\n"
      "  return %y\n";
  EXPECT_EQ(run(body), body);
  const std::string training = run(body, Aten::kYes);
  for (const char* line :
       {"aten::_native_batch_norm_legit.no_stats(%x, None, None, True, 0.5, 0.25)",
        "%y_1: float32[4, 3] = aten::_to_copy(%x, float32,",
        "%y_2: float32[3] = aten::mean.dim(%y_1, [0], False, None)",
        "%copy_: float32[3] = aten::copy_(%m, %y_5, False)",
        "%y_6: float32[3] = aten::var.correction(%y_1, [0], 1, False)",
        "%copy__1: float32[3] = aten::copy_(%m, %y_9, False)"}) {
    EXPECT_NE(training.find(line), training.npos) << training;
  }
}

}  // namespace
}  // namespace taper::exir
