#include "exir/passes/convert/to_edge.h"

#include <gtest/gtest.h>

#include "exir/ir/body_for_test.h"

namespace taper::exir {
namespace {

std::string run(const std::string& body) {
  const auto graph = parse_body(body);
  to_edge(*graph);
  return print_body(*graph);
}

TEST(ToEdge, NumbersTakeTheScalarOverload) {
  EXPECT_EQ(run(R"(  input %x: float32[2]
  %a: float32[2] = aten::add.Tensor(%x, 1, 1)
  %b: float32[2] = aten::sub.Tensor(2, %a, 1)
  %c: bool[2] = aten::lt.Tensor(3, %b)
  return %c)"),
            R"(  input %x: float32[2]
  %a: float32[2] = aten::add.Scalar(%x, 1, 1)
  %b_1: float32[2] = aten::rsub.Scalar(%a, 2, 1)
  %c_1: bool[2] = aten::gt.Scalar(%b_1, 3)
  return %c_1
)");
}

TEST(ToEdge, OperandsGetTheDtypeThatPyTorchComputesIn) {
  EXPECT_EQ(run(R"(  input %h: float16[2]
  input %f: float32[2]
  input %i: int64[2]
  %a: float32[2] = aten::mul.Tensor(%h, %f)
  %b: bool[2] = aten::eq.Tensor(%i, %f)
  return %a, %b)"),
            R"(  input %h: float16[2]
  input %f: float32[2]
  input %i: int64[2]
  %a_1: float32[2] = dim_order_ops::_to_dim_order_copy(%h, float32, None, None, None, False, [0])
  %a: float32[2] = aten::mul.Tensor(%a_1, %f)
  %b_1: float32[2] = dim_order_ops::_to_dim_order_copy(%i, float32, None, None, None, False, [0])
  %b: bool[2] = aten::eq.Tensor(%b_1, %f)
  return %a, %b
)");
}

TEST(ToEdge, PartsOfANumberOfElementsSayWhatTheyAre) {
  EXPECT_EQ(run(R"(  input %x: float32[s0, 3, s1]
  %n: int(3*s0*s1) = aten::sym_numel(%x)
  %d: int(s0 - s1) = python::sub(%n, 1)
  %a: int(s2) = python::abs(%d)
  return %n, %a)"),
            R"(  input %x: float32[s0, 3, s1]
  %n_1: int(s0) = aten::sym_size.int(%x, 0)
  %n_2: int(s0) = python::mul(1, %n_1)
  %n_3: int(3*s0) = python::mul(%n_2, 3)
  %n_4: int(s1) = aten::sym_size.int(%x, 2)
  %n_5: int(3*s0*s1) = python::mul(%n_3, %n_4)
  %d: int(s0 - s1) = python::sub(%n_5, 1)
  %a_1: int(-s0 + s1) = python::neg(%d)
  %a_2: int(s2) = python::sym_max(%d, %a_1)
  return %n_5, %a_2
)");
}

TEST(ToEdge, RootsOfSizesGoThroughTensorsOfOneNumber) {
  EXPECT_EQ(run(R"(  input %x: float32[s0]
  %n: int(s0) = aten::sym_size.int(%x, 0)
  %r: float(r) = python::_sym_sqrt(%n)
  %y: float32[s0] = aten::mul.Scalar(%x, %r)
  return %y)"),
            R"(  input %x: float32[s0]
  %n: int(s0) = aten::sym_size.int(%x, 0)
  %scalar_tensor: float64[] = aten::scalar_tensor(%n, float64, None, None, None)
  %sqrt: float64[] = aten::sqrt(%scalar_tensor)
  %r_1: float(r) = aten::_local_scalar_dense(%sqrt)
  %y: float32[s0] = aten::mul.Scalar(%x, %r_1)
  return %y
)");
}

TEST(ToEdge, SoDoConditionsThatAreJoined) {
  EXPECT_EQ(run(R"(  input %a: bool(1)
  input %b: bool(1)
  %c: bool(1) = python::and_(%a, %b)
  return %c)"),
            R"(  input %a: bool(1)
  input %b: bool(1)
  %scalar_tensor: bool[] = aten::scalar_tensor(%a, bool, None, None, None)
  %scalar_tensor_1: bool[] = aten::scalar_tensor(%b, bool, None, None, None)
  %bitwise_and: bool[] = aten::bitwise_and.Tensor(%scalar_tensor, %scalar_tensor_1)
  %c_1: bool(1) = aten::_local_scalar_dense(%bitwise_and)
  return %c_1
)");
}

TEST(ToEdge, ViewsBecomeCopies) {
  EXPECT_EQ(run(R"(  input %x: float32[2, 3]
  %a: float32[6] = aten::view(%x, [6])
  %b: float32[3] = aten::slice.Tensor(%a, 0, 0, 3, 1)
  %c: float32[] = aten::select.int(%b, 0, 1)
  return %c)"),
            R"(  input %x: float32[2, 3]
  %a: float32[6] = aten::view_copy(%x, [6])
  %b: float32[3] = aten::slice_copy.Tensor(%a, 0, 0, 3, 1)
  %c: float32[] = aten::select_copy.int(%b, 0, 1)
  return %c
)");
}

}  // namespace
}  // namespace taper::exir
