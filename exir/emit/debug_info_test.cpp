#include "exir/emit/debug_info.h"

#include <gtest/gtest.h>

namespace taper::exir {
namespace {

DebugInfo sample() {
  DebugInfo info;
  info[0].node = {"linear", "aten::linear", "fc", "m.py:3 in forward: self.fc(x)"};
  info[2].node = {"delegate_0", "delegate::call", "", ""};
  info[2].parts = {{"gelu", "aten::gelu", "", "m.py:4 in forward: gelu(x)", "float32 (2, s0)"},
                   {"linear_1", "aten::linear", "fc", "m.py:3 in forward: self.fc(x)"}};
  info[2].results = {{3, 0, {"linear_1", "dropout"}}, {4, 1, {"split"}}};
  return info;
}

TEST(DebugInfo, ATextIsWrittenOnce) {
  EXPECT_EQ(debug_text(sample()),
            "text fc\n"
            "text m.py:3 in forward: self.fc(x)\n"
            "call 0 linear aten::linear 1 2\n"
            "call 2 delegate_0 delegate::call 0 0\n"
            "text m.py:4 in forward: gelu(x)\n"
            "text float32 (2, s0)\n"
            "node gelu aten::gelu 0 3 4\n"
            "node linear_1 aten::linear 1 2\n"
            "holds 3 0 linear_1 dropout\n"
            "holds 4 1 split\n");
}

TEST(DebugInfo, IsReadAsItWasWritten) {
  const DebugInfo info = read_debug_text(debug_text(sample()));
  ASSERT_EQ(info.size(), 2u);
  EXPECT_EQ(info.at(0).node.line, "m.py:3 in forward: self.fc(x)");
  EXPECT_EQ(info.at(0).node.module, "fc");
  ASSERT_EQ(info.at(2).parts.size(), 2u);
  EXPECT_EQ(info.at(2).parts[0].name, "gelu");
  EXPECT_EQ(info.at(2).parts[0].module, "");
  EXPECT_EQ(info.at(2).parts[0].type, "float32 (2, s0)");
  EXPECT_EQ(info.at(2).parts[1].op, "aten::linear");
  EXPECT_EQ(info.at(2).parts[1].type, "");
  ASSERT_EQ(info.at(2).results.size(), 2u);
  EXPECT_EQ(info.at(2).results[0].argument, 3u);
  EXPECT_EQ(info.at(2).results[0].names, (std::vector<std::string>{"linear_1", "dropout"}));
  EXPECT_EQ(info.at(2).results[1].item, 1u);
  EXPECT_TRUE(read_debug_text("").empty());
}

TEST(DebugInfo, NamesOfProgramsStayOnTheirLine) {
  DebugInfo info;
  info[1].node = {"a b\nc", "", "x\x1b[1m", "two\nlines"};
  const DebugInfo read = read_debug_text(debug_text(info));
  EXPECT_EQ(read.at(1).node.name, "a_b_c");
  EXPECT_EQ(read.at(1).node.op, "_");
  EXPECT_EQ(read.at(1).node.module, "x [1m");
  EXPECT_EQ(read.at(1).node.line, "two lines");
}

TEST(DebugInfo, DamageIsNamedByItsLine) {
  for (const char* text : {"text a\ncall 0 x y 0\n", "text a\ncall 0 x y 0 2\n",
                           "text a\ncall x y z\n", "text a\nnode x y 0 0\n", "text a\n\n",
                           "text a\ncall 0 x y 0 0 0\n", "text a\nwhat\n", "text a\nholds 0 0 x\n",
                           "text a\ncall 0 x y z 0\n", "text a\ncall 99999999999 x y 0 0\n"}) {
    try {
      read_debug_text(text);
      ADD_FAILURE() << text;
    } catch (const Failure& failure) {
      EXPECT_STREQ(failure.what(), "the debug information of the program is damaged in line 2");
    }
  }
}

}  // namespace
}  // namespace taper::exir
