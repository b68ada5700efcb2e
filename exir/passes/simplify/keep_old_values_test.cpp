#include "exir/passes/simplify/keep_old_values.h"

#include <gtest/gtest.h>

#include "exir/ir/body_for_test.h"

namespace taper::exir {
namespace {

std::string run(const std::string& body, int copies) {
  const auto graph = parse_body(body);
  EXPECT_EQ(keep_old_values(*graph), copies);
  return print_body(*graph);
}

TEST(KeepOldValues, TwoInputsSwap) {
  EXPECT_EQ(run("  input %x: float32[2]\n"
                "  input %y: float32[2]\n"
                "  mutate %x = %y\n"
                "  mutate %y = %x\n"
                "  return %x\n",
                2),
            "  input %x: float32[2]\n"
            "  input %y: float32[2]\n"
            "  %clone: float32[2] = aten::clone(%x, None)\n"
            "  %clone_1: float32[2] = aten::clone(%y, None)\n"
            "  mutate %x = %clone_1\n"
            "  mutate %y = %clone\n"
            "  return %clone\n");
}

TEST(KeepOldValues, AnOldStateIsReturned) {
  EXPECT_EQ(run("  state %s: float32[1] = zeros\n"
                "  %next: float32[1] = aten::add.Scalar(%s, 1, 1)\n"
                "  mutate %s = %next\n"
                "  return %next, %s\n",
                1),
            "  state %s: float32[1] = zeros\n"
            "  %next: float32[1] = aten::add.Scalar(%s, 1, 1)\n"
            "  %clone: float32[1] = aten::clone(%s, None)\n"
            "  mutate %s = %next\n"
            "  return %next, %clone\n");
}

TEST(KeepOldValues, WhatKeepsItsValueIsNotWritten) {
  EXPECT_EQ(run("  state %s: float32[1] = zeros\n"
                "  mutate %s = %s\n"
                "  return %s\n",
                0),
            "  state %s: float32[1] = zeros\n"
            "  return %s\n");
}

}  // namespace
}  // namespace taper::exir
