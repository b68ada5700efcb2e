// Guards as PyTorch 2.13 writes them, and what they say of sizes: checked against Python's own
// arithmetic by hand.

#include "exir/frontend/guard_import.h"

#include <gtest/gtest.h>

#include "exir/ir/failure.h"
#include "exir/ops/builtin.h"

namespace taper::exir {
namespace {

class Guards : public testing::Test {
 protected:
  Guards() {
    const Sym s0 = Sym::symbol("s0"), s1 = Sym::symbol("s1");
    x_ = graph_.new_tensor("x", TensorType(ScalarType::kFloat, {s0, s1}));
    nested_ = graph_.new_tensor("d_b_c_1", TensorType(ScalarType::kFloat, {s1 * 2}));
    count_ = graph_.new_value("n", ValueKind::kInt);
    count_->sym = s1;
  }

  Guard parse(std::string_view code) {
    return parse_guard(code, [&](const std::string& name) -> const Value* {
      for (const Value* value : {x_, nested_, count_}) {
        if (value->name == name) return value;
      }
      return nullptr;
    });
  }
  // Of x[s0, s1] and n = s1.
  int64_t holds(std::string_view code, int64_t s0, int64_t s1 = 3) {
    return parse(code).holds.evaluate({{"s0", s0}, {"s1", s1}}).value_or(-1);
  }
  std::string problem(std::string_view code) {
    try {
      parse(code);
      return "";
    } catch (const Failure& failure) {
      return failure.what();
    }
  }

  Graph graph_{builtin_operators()};
  Value *x_, *nested_, *count_;
};

TEST_F(Guards, ArithmeticIsPythons) {
  EXPECT_EQ(holds("(L['x'].size()[0] % 4) == 0", 8), 1);
  EXPECT_EQ(holds("(L['x'].size()[0] % 4) == 0", 9), 0);
  EXPECT_EQ(holds("((3*L['x'].size()[0]) // 4) == 1500", 2001), 1);
  EXPECT_EQ(holds("((3*L['x'].size()[0]) // 4) == 1500", 2002), 0);
  EXPECT_EQ(holds("(((-1)*L['x'].size()[0]) % 8) != 0", 13), 1);   // -13 % 8 is 3.
  EXPECT_EQ(holds("((-5) + L['x'].size()[0]) // 3 == -1", 4), 1);  // -1 // 3 is -1.
  EXPECT_EQ(holds("2 ** L['x'].size()[0] > 100", 6), 0);
  EXPECT_EQ(holds("2 ** L['x'].size()[0] > 100", 7), 1);
  EXPECT_EQ(holds("abs((-20) + L['x'].size()[0]) > 3", 17), 0);
  EXPECT_EQ(holds("abs((-20) + L['x'].size()[0]) > 3", 16), 1);
  EXPECT_EQ(holds("max(3, L['x'].size()[0]) == L['x'].size()[0]", 2), 0);
  EXPECT_EQ(holds("L['x'].size()[0] - 1 - 1 == 3", 5), 1);
}

TEST_F(Guards, DivisionGivesFloats) {
  EXPECT_EQ(holds("(L['x'].size()[0] / 4) > 1.5", 6), 0);
  EXPECT_EQ(holds("(L['x'].size()[0] / 4) > 1.5", 7), 1);
  EXPECT_EQ(holds("round(L['x'].size()[0] / 2) == 2", 5), 1);  // 2.5 to even.
  EXPECT_EQ(holds("math.ceil(L['x'].size()[0] / 4) == 3", 9), 1);
  EXPECT_EQ(holds("math.floor(0.5*L['x'].size()[0]) == 4", 9), 1);
  EXPECT_EQ(holds("1.0 + L['x'].size()[0] / 2 == 3.5", 5), 1);
  EXPECT_EQ(holds("math.trunc(1.5*torch.sym_float(L['x'].size()[0])) == 9", 6), 1);
  EXPECT_EQ(holds("math.trunc(1.5*torch.sym_float(L['x'].size()[0])) == 9", 7), 0);
  EXPECT_EQ(holds("math.floor(torch._sym_sqrt(L['x'].size()[0])) == 3", 15), 1);
  EXPECT_EQ(holds("math.floor(torch._sym_sqrt(L['x'].size()[0])) == 3", 16), 0);
}

TEST_F(Guards, LogicIsPythons) {
  EXPECT_EQ(holds("2 < L['x'].size()[0] <= 7 and not L['x'].size()[0] == 5", 7), 1);
  EXPECT_EQ(holds("2 < L['x'].size()[0] <= 7 and not L['x'].size()[0] == 5", 5), 0);
  EXPECT_EQ(holds("2 < L['x'].size()[0] <= 7", 8), 0);
  EXPECT_EQ(holds("L['x'].size()[0] == 1 or L['x'].size()[1] == 3", 2), 1);
  EXPECT_EQ(holds("(4 if L['x'].size()[0] > 2 else 5) == 5", 2), 1);
  EXPECT_EQ(holds("L['x'].size()[0] << 1 == 6 & 7", 3), 1);
}

TEST_F(Guards, InputsAreFoundByTheirPath) {
  EXPECT_EQ(holds("L['d']['B c'][1].size()[0] == 6", 1), 1);
  EXPECT_EQ(holds("L['n'] == 3", 1), 1);
  EXPECT_EQ(parse("L['x'].size()[0] < L['d']['b c'][1].size()[0]").text,
            "x.size()[0] < d['b c'][1].size()[0]");
}

TEST_F(Guards, WhatCannotBeReadIsNamed) {
  EXPECT_EQ(problem("L['y'].size()[0] > 1"),
            "the guard 'L['y'].size()[0] > 1' cannot be read: there is no input 'y'");
  for (const char* code :
       {"", "L", "L['x']", "L['x'].size()", "L['x'].size()[2] > 0", "L['x'].stride()[0] == 1",
        "L['x'].size()[0] >", "f(L['x'].size()[0])", "(L['x'].size()[0] > 1", "1 2",
        "L['x].size()[0]", "max()", "L['x'].size()[-1] > 0"}) {
    EXPECT_NE(problem(code), "") << code;
  }
  EXPECT_NE(problem(std::string(5000, '(')), "");
  EXPECT_NE(problem(std::string(5000, '-')), "");
}

}  // namespace
}  // namespace taper::exir
