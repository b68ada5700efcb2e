#include "exir/memory/plan.h"

#include <gtest/gtest.h>

#include <random>

#include "exir/ir/failure.h"

namespace taper::exir {
namespace {

TEST(PlanMemory, ReusesBytesOfTheDead) {
  const std::vector<PlanRow> rows = {{0, 1, 64}, {1, 2, 64}, {2, 3, 64}};
  const MemoryPlan plan = plan_memory(rows, 16);
  EXPECT_EQ(plan.arena_bytes, 128u);
  EXPECT_EQ(plan.lower_bound, 128u);
  EXPECT_EQ(plan.naive_bytes, 192u);
  EXPECT_EQ(plan.gap_percent(), 0);
  EXPECT_NO_THROW(check_plan(rows, plan, 16));
}

TEST(PlanMemory, RoundsUpToTheAlignment) {
  const MemoryPlan plan = plan_memory({{0, 0, 1}, {0, 0, 17}, {0, 0, 0}}, 16);
  EXPECT_EQ(plan.arena_bytes, 48u);
}

TEST(PlanMemory, NothingNeedsNothing) { EXPECT_EQ(plan_memory({}, 16).arena_bytes, 0u); }

TEST(PlanMemory, RefusesSizesThatOverflow) {
  EXPECT_THROW(plan_memory({{0, 0, UINT64_MAX / 2}}, 16), Failure);
}

// Random rows: every plan passes the independent checker and none is below the bound.
TEST(PlanMemory, IsSoundOnRandomLifetimes) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<PlanRow> rows(random() % 40);
    for (PlanRow& row : rows) {
      row.first = random() % 30;
      row.last = row.first + random() % 10;
      row.bytes = random() % 1000;
    }
    const MemoryPlan plan = plan_memory(rows, 16);
    ASSERT_NO_THROW(check_plan(rows, plan, 16));
    EXPECT_GE(plan.arena_bytes, plan.lower_bound);
    EXPECT_LE(plan.arena_bytes, plan.naive_bytes);
  }
}

TEST(CheckPlan, FindsOverlapsStraysAndCrookedOffsets) {
  const std::vector<PlanRow> rows = {{0, 1, 32}, {1, 2, 32}};
  MemoryPlan plan = plan_memory(rows, 16);
  plan.offsets = {0, 16};
  EXPECT_THROW(check_plan(rows, plan, 16), Failure);
  plan.offsets = {0, 48};
  EXPECT_THROW(check_plan(rows, plan, 16), Failure);
  plan.offsets = {0, 33};
  EXPECT_THROW(check_plan(rows, plan, 16), Failure);
  plan.offsets = {0};
  EXPECT_THROW(check_plan(rows, plan, 16), Failure);
}

}  // namespace
}  // namespace taper::exir
