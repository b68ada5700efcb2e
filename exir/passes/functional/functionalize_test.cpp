#include "exir/passes/functional/functionalize.h"

#include <gtest/gtest.h>

#include "exir/dialect/verifier.h"
#include "exir/ir/body_for_test.h"
#include "exir/ops/builtin.h"
#include "exir/ops/declare.h"

namespace taper::exir {
namespace {

std::string run(const std::string& body, const Operators& operators = builtin_operators()) {
  const auto graph = parse_body(body, operators);
  verify(*graph, Dialect::kAten);
  functionalize(*graph);
  verify(*graph, Dialect::kAten);
  for (const auto& node : graph->nodes) EXPECT_FALSE(node->schema->mutates());
  return print_body(*graph);
}

std::string refusal(const std::string& body) {
  try {
    run(body);
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "";
}

TEST(Functionalize, ADeclaredOperatorReturnsWhatItWrites) {
  const Operators known = declare_operators(
      builtin_operators(), "functionalize_test::put(Tensor(a!) c, Tensor x) -> Tensor", "ops.txt");
  EXPECT_EQ(run(R"(  input %x: float32[2]
  state %c: float32[3, 2] "c" = zeros
  %row: float32[2] = aten::select.int(%c, 0, 1)
  %r: float32[2] = functionalize_test::put(%row, %x)
  %y: float32[2] = aten::add.Tensor(%r, %row)
  return %y)",
                known),
            R"(  input %x: float32[2]
  state %c: float32[3, 2] "c" = zeros
  %row: float32[2] = aten::select.int(%c, 0, 1)
  %r_1: float32[2], %row_1: float32[2] = functionalize_test::put.functional(%row, %x)
  %select_scatter: float32[3, 2] = aten::select_scatter(%c, %row_1, 0, 1)
  %y: float32[2] = aten::add.Tensor(%r_1, %row_1, 1)
  mutate %c = %select_scatter
  return %y
)");
}

TEST(Functionalize, LeavesAFunctionalGraphAlone) {
  EXPECT_EQ(run("  input %x: float32[2]\n"
                "  %v: float32[1, 2] = aten::view(%x, [1, 2])\n"
                "  return %v\n"),
            "  input %x: float32[2]\n"
            "  %v: float32[1, 2] = aten::view(%x, [1, 2])\n"
            "  return %v\n");
}

TEST(Functionalize, AWriteMakesANewValue) {
  EXPECT_EQ(run(R"(  input %x: float32[2]
  %a: float32[2] = aten::exp(%x)
  %b: float32[2] = aten::add_.Scalar(%a, 1, 1)
  %c: float32[2] = aten::mul.Tensor(%a, %b)
  return %c)"),
            R"(  input %x: float32[2]
  %a: float32[2] = aten::exp(%x)
  %add: float32[2] = aten::add.Scalar(%a, 1, 1)
  %c: float32[2] = aten::mul.Tensor(%add, %add)
  return %c
)");
}

TEST(Functionalize, AWrittenInputIsMutated) {
  EXPECT_EQ(run(R"(  input %x: float32[2]
  %b: float32[2] = aten::mul_.Scalar(%x, 2)
  return %b)"),
            R"(  input %x: float32[2]
  %mul: float32[2] = aten::mul.Scalar(%x, 2)
  mutate %x = %mul
  return %mul
)");
}

TEST(Functionalize, AWrittenBufferBecomesAState) {
  EXPECT_EQ(run(R"(  input %i: int64[1]
  input %v: float32[1, 4]
  constant %cache: float32[8, 4] "cache" = zeros
  constant %w: float32[4] "w" = {1, 2, 3, 4}
  %p: float32[8, 4] = aten::index_put_(%cache, [%i], %v, False)
  %r: float32[8, 4] = aten::mul.Tensor(%cache, %w)
  return %r)"),
            R"(  input %i: int64[1]
  input %v: float32[1, 4]
  state %cache: float32[8, 4] "cache" = zeros
  constant %w: float32[4] "w" = {1, 2, 3, 4}
  %index_put: float32[8, 4] = aten::index_put(%cache, [%i], %v, False)
  %r: float32[8, 4] = aten::mul.Tensor(%index_put, %w)
  mutate %cache = %index_put
  return %r
)");
}

TEST(Functionalize, AWriteThroughASliceReachesItsBase) {
  EXPECT_EQ(run(R"(  input %x: float32[4, 2]
  input %v: float32[1, 2]
  %s: float32[1, 2] = aten::slice.Tensor(%x, 0, 1, 2, 1)
  %c: float32[1, 2] = aten::copy_(%s, %v, False)
  %y: float32[4, 2] = aten::relu(%x)
  return %y)"),
            R"(  input %x: float32[4, 2]
  input %v: float32[1, 2]
  %slice_scatter: float32[4, 2] = aten::slice_scatter(%x, %v, 0, 1, 2, 1)
  %y: float32[4, 2] = aten::relu(%slice_scatter)
  mutate %x = %slice_scatter
  return %y
)");
}

TEST(Functionalize, OtherViewsAreDerivedAgainWhenTheyAreRead) {
  EXPECT_EQ(run(R"(  input %x: float32[4]
  %a: float32[4] = aten::exp(%x)
  %v: float32[2, 2] = aten::view(%a, [2, 2])
  %t: float32[2, 2] order(1, 0) = aten::t(%v)
  %s: float32[2] = aten::select.int(%v, 0, 1)
  %unused: float32[2] = aten::select.int(%v, 0, 0)
  %z: float32[2] = aten::zero_(%s)
  %u: float32[2, 2] order(1, 0) = aten::neg(%t)
  return %u, %a)"),
            R"(  input %x: float32[4]
  %a: float32[4] = aten::exp(%x)
  %v: float32[2, 2] = aten::view(%a, [2, 2])
  %s: float32[2] = aten::select.int(%v, 0, 1)
  %full_like: float32[2] = aten::full_like(%s, 0, None, None, None, None, None)
  %select_scatter: float32[2, 2] = aten::select_scatter(%v, %full_like, 0, 1)
  %view: float32[4] = aten::view(%select_scatter, [4])
  %t_1: float32[2, 2] order(1, 0) = aten::t(%select_scatter)
  %u: float32[2, 2] order(1, 0) = aten::neg(%t_1)
  return %u, %view
)");
}

TEST(Functionalize, UndoesPermutationsAndParts) {
  EXPECT_EQ(run(R"(  input %x: float32[2, 3, 4]
  %p: float32[4, 2, 3] order(1, 2, 0) = aten::permute(%x, [2, 0, 1])
  %a: float32[4, 1, 3], %b: float32[4, 1, 3] = aten::split.Tensor(%p, 1, 1)
  %w: float32[4, 1, 3] = aten::relu_(%b)
  return)"),
            R"(  input %x: float32[2, 3, 4]
  %p: float32[4, 2, 3] order(1, 2, 0) = aten::permute(%x, [2, 0, 1])
  %a: float32[4, 1, 3], %b: float32[4, 1, 3] = aten::split.Tensor(%p, 1, 1)
  %relu: float32[4, 1, 3] = aten::relu(%b)
  %slice_scatter: float32[4, 2, 3] order(1, 2, 0) = aten::slice_scatter(%p, %relu, 1, 1, 2, 1)
  %permute: float32[2, 3, 4] = aten::permute(%slice_scatter, [1, 2, 0])
  mutate %x = %permute
  return
)");
}

TEST(Functionalize, ReshapeOfATransposedTensorIsACopy) {
  // The reshape of %t is a copy, so %x does not change; that of %x is a view, so it does.
  EXPECT_EQ(run(R"(  input %x: float32[2, 3]
  %t: float32[3, 2] order(1, 0) = aten::t(%x)
  %copy: float32[6] = aten::reshape(%t, [6])
  %c: float32[6] = aten::neg_(%copy)
  %view: float32[6] = aten::reshape(%x, [6])
  %v: float32[6] = aten::abs_(%view)
  return %c)"),
            R"(  input %x: float32[2, 3]
  %t: float32[3, 2] order(1, 0) = aten::t(%x)
  %copy: float32[6] = aten::reshape(%t, [6])
  %neg: float32[6] = aten::neg(%copy)
  %view: float32[6] = aten::reshape(%x, [6])
  %abs: float32[6] = aten::abs(%view)
  %view_1: float32[2, 3] = aten::view(%abs, [2, 3])
  mutate %x = %view_1
  return %neg
)");
}

TEST(Functionalize, ConversionsShareMemoryOnlyIfNothingChanges) {
  EXPECT_EQ(run(R"(  input %x: float32[2]
  %same: float32[2] = aten::to.dtype(%x, float32)
  %other: float64[2] = aten::to.dtype(%x, float64)
  %forced: float32[2] = aten::to.dtype(%x, float32, False, True)
  %dense: float32[2] = aten::contiguous(%x)
  %a: float64[2] = aten::neg_(%other)
  %b: float32[2] = aten::sin_(%forced)
  %c: float32[2] = aten::exp_(%same)
  return %a, %b, %dense)"),
            R"(  input %x: float32[2]
  %other: float64[2] = aten::to.dtype(%x, float64, False, False, None)
  %forced: float32[2] = aten::to.dtype(%x, float32, False, True, None)
  %neg: float64[2] = aten::neg(%other)
  %sin: float32[2] = aten::sin(%forced)
  %exp: float32[2] = aten::exp(%x)
  mutate %x = %exp
  return %neg, %sin, %exp
)");
}

TEST(Functionalize, ResultsGetTheTypeOfWhatIsWritten) {
  EXPECT_EQ(run(R"(  input %x: float32[2, 2]
  input %d: float64[2, 2]
  input %i: int64[2]
  %z: float32[2, 2] = aten::exp(%x)
  %a: float32[2, 2] = aten::add_.Tensor(%z, %d, 1)
  %b: float32[2, 2] = aten::eq_.Scalar(%a, 1)
  %c: float32[2, 2] = aten::copy_(%x, %i)
  return %b)"),
            R"(  input %x: float32[2, 2]
  input %d: float64[2, 2]
  input %i: int64[2]
  %z: float32[2, 2] = aten::exp(%x)
  %add: float64[2, 2] = aten::add.Tensor(%z, %d, 1)
  %_to_copy: float32[2, 2] = aten::_to_copy(%add, float32, None, None, None, False, None)
  %eq: bool[2, 2] = aten::eq.Scalar(%_to_copy, 1)
  %_to_copy_1: float32[2, 2] = aten::_to_copy(%eq, float32, None, None, None, False, None)
  %_to_copy_2: float32[2] = aten::_to_copy(%i, float32, None, None, None, False, None)
  %expand: float32[2, 2] = aten::expand(%_to_copy_2, [2, 2], False)
  mutate %x = %expand
  return %_to_copy_1
)");
}

TEST(Functionalize, SymbolicSizesAreReadFromTheBase) {
  EXPECT_EQ(run(R"(  range s0 = [1, 9]
  input %x: float32[s0, 4]
  %v: float32[4*s0] = aten::view(%x, [-1])
  %w: float32[4*s0] = aten::relu_(%v)
  return)"),
            R"(  range s0 = [1, 9]
  input %x: float32[s0, 4]
  %v: float32[4*s0] = aten::view(%x, [-1])
  %relu: float32[4*s0] = aten::relu(%v)
  %sym_size: int(s0) = aten::sym_size.int(%x, 0)
  %view: float32[s0, 4] = aten::view(%relu, [%sym_size, 4])
  mutate %x = %view
  return
)");
}

TEST(Functionalize, NarrowWithAComputedStart) {
  EXPECT_EQ(run(R"(  range u0 = [0, 6]
  input %x: float32[8]
  input %n: int(u0)
  %v: float32[2] = aten::narrow(%x, 0, %n, 2)
  %w: float32[2] = aten::relu_(%v)
  return)"),
            R"(  range u0 = [0, 6]
  input %x: float32[8]
  input %n: int(u0)
  %v: float32[2] = aten::narrow(%x, 0, %n, 2)
  %relu: float32[2] = aten::relu(%v)
  %add: int(u0 + 2) = python::add(%n, 2)
  %slice_scatter: float32[8] = aten::slice_scatter(%x, %relu, 0, %n, %add, 1)
  mutate %x = %slice_scatter
  return
)");
}

TEST(Functionalize, NarrowWithASymbolicLength) {
  EXPECT_EQ(run(R"(  range s0 = [1, 6]
  input %x: float32[8]
  input %y: float32[s0]
  %n: int(s0) = aten::sym_size.int(%y, 0)
  %v: float32[s0] = aten::narrow(%x, 0, 2, %n)
  %w: float32[s0] = aten::mul_.Tensor(%v, %y)
  return)"),
            R"(  range s0 = [1, 6]
  input %x: float32[8]
  input %y: float32[s0]
  %n: int(s0) = aten::sym_size.int(%y, 0)
  %v: float32[s0] = aten::narrow(%x, 0, 2, %n)
  %mul: float32[s0] = aten::mul.Tensor(%v, %y)
  %add: int(s0 + 2) = python::add(2, %n)
  %slice_scatter: float32[8] = aten::slice_scatter(%x, %mul, 0, 2, %add, 1)
  mutate %x = %slice_scatter
  return
)");
}

TEST(Functionalize, InactiveDropoutAndDetachWriteNothing) {
  EXPECT_EQ(run(R"(  input %x: float32[2]
  %d: float32[2] = aten::dropout_(%x, 0.5, False)
  %e: float32[2] = aten::detach_(%d)
  %y: float32[2] = aten::relu(%e)
  return %y)"),
            R"(  input %x: float32[2]
  %y: float32[2] = aten::relu(%x)
  return %y
)");
}

TEST(Functionalize, SizesChangedInPlaceAreViews) {
  EXPECT_EQ(run(R"(  input %x: float32[2]
  %u: float32[1, 2] = aten::unsqueeze_(%x, 0)
  %r: float32[1, 2] = aten::relu_(%u)
  return %r)"),
            R"(  input %x: float32[2]
  %u: float32[1, 2] = aten::unsqueeze(%x, 0)
  %relu: float32[1, 2] = aten::relu(%u)
  %view: float32[2] = aten::view(%relu, [2])
  mutate %x = %view
  return %relu
)");
}

TEST(Functionalize, BodiesMayWriteTheirOwnValues) {
  EXPECT_EQ(run(R"(  input %x: float32[2]
  %y: float32[2] = higher_order::cond(True, graph "t" {
    input %a: float32[2]
    %b: float32[2] = aten::exp(%a)
    %c: float32[2] = aten::relu_(%b)
    return %b
  }, graph "f" {
    input %a: float32[2]
    return %a
  }, [%x])
  return %y)"),
            R"(  input %x: float32[2]
  %y: float32[2] = higher_order::cond(True, graph "t" {
    input %a: float32[2]
    %b: float32[2] = aten::exp(%a)
    %relu: float32[2] = aten::relu(%b)
    return %relu
  }, graph "f" {
    input %a: float32[2]
    return %a
  }, [%x])
  return %y
)");
}

TEST(Functionalize, ListsOfMutationsInTheFileAreKept) {
  EXPECT_EQ(run(R"(  input %x: float32[2]
  state %s: float32[2] = zeros
  %a: float32[2] = aten::neg(%s)
  %b: float32[2] = aten::relu_(%a)
  mutate %s = %a
  return %x)"),
            R"(  input %x: float32[2]
  state %s: float32[2] = zeros
  %a: float32[2] = aten::neg(%s)
  %relu: float32[2] = aten::relu(%a)
  mutate %s = %relu
  return %x
)");
}

TEST(Functionalize, OutArgumentsAreWritten) {
  EXPECT_EQ(run(R"(  input %x: float32[2, 2]
  %e: float32[3, 2] = aten::zeros([3, 2])
  %v: float32[2, 2] = aten::slice.Tensor(%e, 0, 1, 3, 1)
  %w: float32[2, 2] = aten::abs.out(%x, %v)
  return %e, %w)"),
            R"(  input %x: float32[2, 2]
  %e: float32[3, 2] = aten::zeros([3, 2], None, None, None, None)
  %abs: float32[2, 2] = aten::abs(%x)
  %slice_scatter: float32[3, 2] = aten::slice_scatter(%e, %abs, 0, 1, 3, 1)
  return %slice_scatter, %abs
)");
}

TEST(Functionalize, ViewsWithoutAnInverseAreWrittenByNumber) {
  EXPECT_EQ(run(R"(  input %x: float32[4]
  %y: float32[4] = aten::exp(%x)
  %u: float32[2, 2] = aten::unfold(%y, 0, 2, 2)
  %w: float32[2, 2] = aten::relu_(%u)
  return %y)"),
            R"(  input %x: float32[4]
  %y: float32[4] = aten::exp(%x)
  %u: float32[2, 2] = aten::unfold(%y, 0, 2, 2)
  %relu: float32[2, 2] = aten::relu(%u)
  %arange: int64[4] = aten::arange(4, int64, None, None, None)
  %view: int64[4] = aten::view(%arange, [4])
  %unfold: int64[2, 2] = aten::unfold(%view, 0, 2, 2)
  %flatten: int64[4] = aten::flatten.using_ints(%unfold, 0, -1)
  %flatten_1: float32[4] = aten::flatten.using_ints(%relu, 0, -1)
  %flatten_2: float32[4] = aten::flatten.using_ints(%y, 0, -1)
  %index_put: float32[4] = aten::index_put(%flatten_2, [%flatten], %flatten_1, False)
  %view_as: float32[4] = aten::view_as(%index_put, %y)
  return %view_as
)");
}

TEST(Functionalize, AsStridedLooksAtTheWholeMemory) {
  EXPECT_EQ(run(R"(  input %x: float32[2, 3]
  %row: float32[3] = aten::select.int(%x, 0, 1)
  %s: float32[2] = aten::as_strided(%row, [2], [2], None)
  return %s)"),
            R"(  input %x: float32[2, 3]
  %s: float32[2] = aten::as_strided(%x, [2], [2], 3)
  return %s
)");
}

TEST(Functionalize, AsStridedFollowsTheOrderOfTheMemory) {
  EXPECT_EQ(run(R"(  input %x: float32[2, 3] order(1, 0)
  %s: float32[2] = aten::as_strided(%x, [2], [2], 1)
  return %s)"),
            R"(  input %x: float32[2, 3] order(1, 0)
  %permute: float32[3, 2] = aten::permute(%x, [1, 0])
  %s: float32[2] = aten::as_strided(%permute, [2], [2], 1)
  return %s
)");
}

TEST(Functionalize, SomeResultsAreViewsThoughNoSchemaSaysSo) {
  EXPECT_EQ(run(R"(  input %x: float32[2]
  %y: float32[2] = aten::exp(%x)
  %rows: float32[1, 2] = aten::atleast_2d(%y)
  %same: float32[1, 2] = aten::dropout(%rows, 0.5, False)
  %w: float32[1, 2] = aten::relu_(%same)
  return %y)"),
            R"(  input %x: float32[2]
  %y: float32[2] = aten::exp(%x)
  %rows: float32[1, 2] = aten::atleast_2d(%y)
  %relu: float32[1, 2] = aten::relu(%rows)
  %view: float32[2] = aten::view(%relu, [2])
  return %view
)");
}

TEST(Functionalize, ReshapesOfSparseViewsAreToldFromCopies) {
  const std::string body = R"(  input %x: float32[2, 3, 4]
  %y: float32[2, 3, 4] = aten::exp(%x)
  %m: float32[3, 4, 2] = aten::movedim.int(%y, 0, -1)
  %f: float32[12, 2] = aten::flatten.using_ints(%m, 0, 1)
  %d: float32[4, 2] = aten::diagonal(%y, 0, 0, 1)
  %c: float32[8] = aten::reshape(%d, [8])
  %w: float32[12, 2] = aten::relu_(%f)
  %v: float32[8] = aten::neg_(%c)
  return %y, %c)";
  EXPECT_EQ(run(body), R"(  input %x: float32[2, 3, 4]
  %y: float32[2, 3, 4] = aten::exp(%x)
  %m: float32[3, 4, 2] = aten::movedim.int(%y, 0, -1)
  %f: float32[12, 2] = aten::flatten.using_ints(%m, 0, 1)
  %d: float32[4, 2] = aten::diagonal(%y, 0, 0, 1)
  %c: float32[8] = aten::reshape(%d, [8])
  %relu: float32[12, 2] = aten::relu(%f)
  %view: float32[3, 4, 2] = aten::view(%relu, [3, 4, 2])
  %movedim: float32[2, 3, 4] = aten::movedim.int(%view, -1, 0)
  %neg: float32[8] = aten::neg(%c)
  return %movedim, %neg
)");
}

TEST(Functionalize, TiedBuffersAreOneMemory) {
  const auto graph = parse_graph(R"(graph "g" {
  constant %a: float32[2, 2] "a" = {1, 2, 3, 4}
  constant %b: float32[2, 2] "b" = {1, 2, 3, 4}
  constant %row: float32[2] "row" = {3, 4}
  %w: float32[2, 2] = aten::neg_(%a)
  return %b, %row
})");
  graph->constants[1]->data = graph->constants[0]->data;
  graph->constants[2]->data.home = graph->constants[0]->data.data + 8;
  graph->constants[2]->data.home_bytes = 8;
  functionalize(*graph);
  EXPECT_EQ(print(*graph), R"(graph "g" {
  state %a: float32[2, 2] "a" = {1, 2, 3, 4}
  %neg: float32[2, 2] = aten::neg(%a)
  %as_strided: float32[2] = aten::as_strided(%neg, [2], [1], 2)
  mutate %a = %neg
  return %neg, %as_strided
}
)");
}

// Every second one of overlapping windows, which do not overlap: no element is written twice.
TEST(Functionalize, PastViewsThatShowElementsTwiceTheMemoryIsWrittenByNumber) {
  EXPECT_EQ(run(R"(  input %x: float32[5]
  %y: float32[5] = aten::exp(%x)
  %u: float32[4, 2] = aten::unfold(%y, 0, 2, 1)
  %s: float32[2, 2] = aten::slice.Tensor(%u, 0, 1, 4, 2)
  %w: float32[2, 2] = aten::relu_(%s)
  return %y, %u)"),
            R"(  input %x: float32[5]
  %y: float32[5] = aten::exp(%x)
  %u: float32[4, 2] = aten::unfold(%y, 0, 2, 1)
  %s: float32[2, 2] = aten::slice.Tensor(%u, 0, 1, 4, 2)
  %relu: float32[2, 2] = aten::relu(%s)
  %arange: int64[5] = aten::arange(5, int64, None, None, None)
  %view: int64[5] = aten::view(%arange, [5])
  %as_strided: int64[2, 2] = aten::as_strided(%view, [2, 2], [2, 1], 1)
  %flatten: int64[4] = aten::flatten.using_ints(%as_strided, 0, -1)
  %flatten_1: float32[4] = aten::flatten.using_ints(%relu, 0, -1)
  %flatten_2: float32[5] = aten::flatten.using_ints(%y, 0, -1)
  %index_put: float32[5] = aten::index_put(%flatten_2, [%flatten], %flatten_1, False)
  %view_as: float32[5] = aten::view_as(%index_put, %y)
  %unfold: float32[4, 2] = aten::unfold(%view_as, 0, 2, 1)
  return %view_as, %unfold
)");
}

TEST(Functionalize, RefusesWhatItCannotKnow) {
  const std::string x = "input %x: float32[2, 2]\n";
  EXPECT_EQ(refusal(x + "%e: float32[3, 2, 2] = aten::expand(%x, [3, 2, 2])\n"
                        "%w: float32[3, 2, 2] = aten::relu_(%e) return"),
            "writing through aten::expand is not supported");
  EXPECT_EQ(refusal(x + "%e: float32[3, 2, 2] = aten::expand(%x, [3, 2, 2])\n"
                        "%s: float32[2, 2, 2] = aten::slice.Tensor(%e, 0, 1, 3, 1)\n"
                        "%w: float32[2, 2, 2] = aten::relu_(%s) return"),
            "writing through aten::expand is not supported");
  EXPECT_EQ(refusal(x + "%u: float32[2, 1, 2] = aten::unfold(%x, 0, 2, 1)\n"
                        "%w: float32[2, 1, 2] = aten::relu_(%u) return"),
            "writing through aten::unfold is not supported");
  EXPECT_EQ(refusal(x + "%s: float32[2, 2] = aten::as_strided(%x, [2, 2], [1, 1], 0)\n"
                        "%w: float32[2, 2] = aten::relu_(%s) return"),
            "writing through aten::as_strided is not supported");
  EXPECT_EQ(refusal(x + "%w: float32[4] = aten::resize_(%x, [4]) return"),
            "aten::resize_ writes in place and has no functional twin");
  EXPECT_EQ(refusal(x + "%w: float32[4] = aten::abs.out(%x, %x) return"),
            "aten::abs.out changes the sizes of an out= argument");
  EXPECT_EQ(refusal(x + "%u: float32[2, 2] = aten::einsum(\"ij->ji\", [%x], None)\n"
                        "%f: float32[4] = aten::reshape(%u, [4])\n"
                        "%w: float32[4] = aten::relu_(%f) return"),
            "aten::relu_ writes to a tensor that may or may not share memory with others");
  EXPECT_EQ(refusal(x + "%y: float32[2, 2] = higher_order::cond(True, graph \"t\" {\n"
                        "input %a: float32[2, 2] %b: float32[2, 2] = aten::relu_(%a) return %b },\n"
                        "graph \"f\" { input %a: float32[2, 2] return %a }, [%x]) return %y"),
            "a body of control flow writes %a");
}

}  // namespace
}  // namespace taper::exir
