#include "exir/memory/placement.h"

#include <gtest/gtest.h>

#include "exir/ir/failure.h"

namespace taper::exir {
namespace {

using Sizes = std::vector<uint64_t>;
using Places = std::vector<size_t>;

// A chain of short-lived tensors, one that lives from the first step to the last, and a large one.
const std::vector<PlanRow> kRows = {{0, 1, 64}, {1, 2, 64}, {2, 3, 64}, {0, 9, 32}, {4, 5, 1024}};

TEST(Placement, OneMemoryIsThePlan) {
  for (const std::vector<MemoryBuffer>& buffers :
       {std::vector<MemoryBuffer>{}, std::vector<MemoryBuffer>{{"all", UINT64_MAX}}}) {
    const MemoryPlan plan = place_memory(kRows, 16, buffers);
    EXPECT_EQ(plan.arena_bytes, plan_memory(kRows, 16).arena_bytes);
    EXPECT_EQ(plan.buffers, Places(5, 0));
    EXPECT_NO_THROW(check_plan(kRows, plan, 16));
  }
}

TEST(Placement, ShortLivesGoIntoTheFirst) {
  const MemoryPlan plan = place_memory(kRows, 16, {{"sram", 128}, {"dram"}});
  EXPECT_EQ(plan.buffers, (Places{0, 0, 0, 1, 1}));
  EXPECT_EQ(plan.buffer_bytes, (Sizes{128, 1024 + 32}));
  EXPECT_EQ(plan.arena_bytes, 128u + 1024 + 32);
  EXPECT_NO_THROW(check_plan(kRows, plan, 16));
}

TEST(Placement, BoundsHoldToTheByte) {
  MemoryPlan plan = place_memory(kRows, 16, {{"sram", 127}, {"dram"}});
  EXPECT_LE(plan.buffer_bytes[0], 127u);
  EXPECT_NO_THROW(check_plan(kRows, plan, 16));
  plan = place_memory(kRows, 16, {{"none", 0}, {"sram", 160}, {"rest", 1024}});
  EXPECT_EQ(plan.buffer_bytes[0], 0u);
  EXPECT_LE(plan.buffer_bytes[1], 160u);
  EXPECT_EQ(plan.buffer_bytes[2], 1024u);
  EXPECT_NO_THROW(check_plan(kRows, plan, 16));
}

TEST(Placement, WhatFitsNowhereIsSaid) {
  try {
    place_memory(kRows, 16, {{"sram", 128}, {"dram", 1000}});
    FAIL() << "1024 bytes fit into 1000";
  } catch (const Failure& failure) {
    EXPECT_STREQ(failure.what(),
                 "--memory: 1 tensors of 1024 bytes, the largest of 1024, fit into none of the "
                 "memories; give one a larger size, or the last one none");
  }
}

TEST(Placement, TheCheckerSeesEachBuffer) {
  MemoryPlan plan = place_memory(kRows, 16, {{"sram", 128}, {"dram"}});
  plan.buffers[3] = 0;  // Its lifetime overlaps those of all three there.
  EXPECT_THROW(check_plan(kRows, plan, 16), Failure);
  plan = place_memory(kRows, 16, {{"sram", 128}, {"dram"}});
  plan.buffers[4] = 2;
  EXPECT_THROW(check_plan(kRows, plan, 16), Failure);
  plan = place_memory(kRows, 16, {{"sram", 128}, {"dram"}});
  plan.buffer_bytes[0] = 64;
  EXPECT_THROW(check_plan(kRows, plan, 16), Failure);
}

}  // namespace
}  // namespace taper::exir
