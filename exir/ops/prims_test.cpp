#include "exir/ops/prims.h"

#include <gtest/gtest.h>

#include "exir/ops/builtin.h"

namespace taper::exir {
namespace {

TEST(Prims, TwinsAreOperatorsOfATen) {
  const Operators& operators = builtin_operators();
  for (const PrimTwin& twin : prim_twins()) {
    EXPECT_NE(operators->find(twin.aten), nullptr) << twin.prim;
    EXPECT_EQ(aten_twin("prims::" + std::string(twin.prim)), twin.aten);
  }
  EXPECT_GT(prim_twins().size(), 90u);
}

TEST(Prims, OthersHaveNone) {
  for (const char* other : {"aten::abs", "prims::iota", "prims::", "abs"}) {
    EXPECT_TRUE(aten_twin(other).empty()) << other;
  }
}

}  // namespace
}  // namespace taper::exir
