#include "exir/passes/functional/unwrap_out_dtype.h"

#include <gtest/gtest.h>

#include "exir/dialect/verifier.h"
#include "exir/ir/body_for_test.h"
#include "exir/ops/builtin.h"

namespace taper::exir {
namespace {

std::string run(const std::string& body) {
  const auto graph = parse_body(body);
  unwrap_out_dtype(*graph);
  verify(*graph, Dialect::kAten);
  return print_body(*graph);
}

TEST(UnwrapOutDtype, SumsOfBytesAreMadeInTheWantedType) {
  EXPECT_EQ(run(R"(  input %a: int8[2, 3]
  input %b: int8[3, 4]
  %y: int32[2, 4] = higher_order::out_dtype("torch.ops.aten.mm.default", int32, [%a, %b])
  return %y)"),
            R"(  input %a: int8[2, 3]
  input %b: int8[3, 4]
  %_to_copy: int32[2, 3] = aten::_to_copy(%a, int32, None, None, None, False, None)
  %_to_copy_1: int32[3, 4] = aten::_to_copy(%b, int32, None, None, None, False, None)
  %mm: int32[2, 4] = aten::mm(%_to_copy, %_to_copy_1)
  return %mm
)");
}

// float32 and int32 have float32 in common; the quotient is cast at the end.
TEST(UnwrapOutDtype, FloatsAreRoundedAtTheEnd) {
  EXPECT_EQ(run(R"(  input %bias: float32[4]
  input %scale: float32[4]
  %y: int32[4] = higher_order::out_dtype("torch.ops.aten.div.Tensor", int32, [%bias, %scale])
  return %y)"),
            R"(  input %bias: float32[4]
  input %scale: float32[4]
  %div: float32[4] = aten::div.Tensor(%bias, %scale)
  %_to_copy: int32[4] = aten::_to_copy(%div, int32, None, None, None, False, None)
  return %_to_copy
)");
}

TEST(UnwrapOutDtype, QuotientsOfIntegersAreFloats) {
  EXPECT_EQ(run(R"(  input %a: int8[4]
  input %b: int8[4]
  %y: int32[4] = higher_order::out_dtype("torch.ops.aten.div.Tensor", int32, [%a, %b])
  return %y)"),
            R"(  input %a: int8[4]
  input %b: int8[4]
  %_to_copy: int32[4] = aten::_to_copy(%a, int32, None, None, None, False, None)
  %_to_copy_1: int32[4] = aten::_to_copy(%b, int32, None, None, None, False, None)
  %div: float32[4] = aten::div.Tensor(%_to_copy, %_to_copy_1)
  %_to_copy_2: int32[4] = aten::_to_copy(%div, int32, None, None, None, False, None)
  return %_to_copy_2
)");
}

TEST(UnwrapOutDtype, RefusesWhatIsNotKnown) {
  const auto graph = parse_graph(R"(graph "g" {
  input %a: int8[4]
  %y: int32[4] = higher_order::out_dtype("torch.ops.nobodys.op.default", int32, [%a])
  return %y
})",
                                 builtin_operators());
  try {
    unwrap_out_dtype(*graph);
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_NE(std::string(failure.what()).find("wraps nobodys::op, which is not known"),
              std::string::npos)
        << failure.what();
  }
}

}  // namespace
}  // namespace taper::exir
