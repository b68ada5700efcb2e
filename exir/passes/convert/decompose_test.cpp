#include "exir/passes/convert/decompose.h"

#include <gtest/gtest.h>

#include "exir/decompose/layers/recurrent.h"
#include "exir/decompose/rules.h"
#include "exir/ir/body_for_test.h"
#include "exir/passes/simplify/fold_constants.h"

namespace taper::exir {
namespace {

std::string run(const std::string& body, const KeepWhole& keep = {},
                const Decompositions& first = {}) {
  const auto graph = parse_body(body);
  decompose(*graph, keep, first);
  return print_body(*graph);
}

TEST(Decompose, LinearBecomesAddmmOverTwoDimensions) {
  EXPECT_EQ(run(R"(  input %x: float32[2, 5, 4]
  constant %w: float32[3, 4] = zeros
  constant %b: float32[3] = zeros
  %y: float32[2, 5, 3] = aten::linear(%x, %w, %b)
  return %y)"),
            R"(  input %x: float32[2, 5, 4]
  constant %w: float32[3, 4] = zeros
  constant %b: float32[3] = zeros
  %y_1: float32[10, 4] = aten::view(%x, [10, 4])
  %y_2: float32[4, 3] = aten::permute(%w, [1, 0])
  %y_3: float32[10, 3] = aten::addmm(%b, %y_1, %y_2, 1, 1)
  %y_4: float32[2, 5, 3] = aten::view(%y_3, [2, 5, 3])
  return %y_4
)");
}

TEST(Decompose, WeightsOfTooFewDimensionsAreRefused) {
  const std::string layer = R"(  input %x: float32[4, 3, 5]
  constant %h: float32[1, 3, 6] = zeros
  constant %u: float32[24, 5] = zeros
  constant %v: float32[24] = zeros
  %y: float32[4, 3, 6], %n: float32[1, 3, 6], %c: float32[1, 3, 6] = aten::lstm.input(%x, [%h, %h], [%u, %v], False, 1, 0.0, False, False, False)
  return %y)";
  for (const Decompositions& first : {Decompositions(), recurrent_layer_rules()}) {
    try {
      run(layer, {}, first);
      FAIL() << "a matrix of one dimension was accepted";
    } catch (const Failure& failure) {
      ASSERT_EQ(failure.diagnostics().size(), 1u);
      EXPECT_EQ(failure.diagnostics()[0].id, "cannot-decompose");
    }
  }
}

TEST(Decompose, WhatExecutorchsKernelsRefuse) {
  EXPECT_EQ(run(R"(  input %x: int64[2, 3]
  input %n: float32[]
  %y: int64[2, 3] = aten::roll(%x, [1], [])
  %r: int64[2, 3] = aten::roll(%x, [1], [0])
  %z: float32[2, 3] = aten::add.Tensor(%x, 1.5, 1)
  %i: int64[2, 3] = aten::add.Tensor(%x, 2, 1)
  %c: float32[] = aten::cumsum(%n, 0, None)
  return %y, %r, %z, %i, %c)",
                {}, executorch_rules()),
            R"(  input %x: int64[2, 3]
  input %n: float32[]
  %y_1: int64[6] = aten::view(%x, [6])
  %y_2: int64[6] = aten::roll(%y_1, [1], [0])
  %y_3: int64[2, 3] = aten::view(%y_2, [2, 3])
  %r: int64[2, 3] = aten::roll(%x, [1], [0])
  %z_1: float32[2, 3] = aten::_to_copy(%x, float32, None, None, None, False, None)
  %z_2: float32[2, 3] = aten::add.Tensor(%z_1, 1.5, 1)
  %i: int64[2, 3] = aten::add.Tensor(%x, 2, 1)
  return %y_3, %r, %z_2, %i, %n
)");
}

// Infinite weights are multiplied by the mean, as PyTorch does it, and the result is NaN.
TEST(Decompose, AnInstanceNormIsAGroupNormIfItsWeightsAreFinite) {
  const auto norm = [](const std::string& weight) {
    return run(
        "  input %x: float32[2, 3, 5]\n  " + weight +
        "\n  %y: float32[2, 3, 5] = aten::instance_norm(%x, %w, None, None, None, True, 0.1, "
        "1e-05, False)\n  return %y");
  };
  EXPECT_NE(norm("constant %w: float32[3] = {1, 2, 3}").find("native_group_norm"),
            std::string::npos);
  EXPECT_EQ(norm("constant %w: float32[3] = {1, 2, inf}").find("native_group_norm"),
            std::string::npos);
  EXPECT_EQ(norm("input %w: float32[3]").find("native_group_norm"), std::string::npos);
}

TEST(Decompose, PadsThatOnlyTheInputsTellGoToTheKernel) {
  EXPECT_EQ(run(R"(  input %x: float32[2, s0]
  input %n: int(s1)
  %y: float32[2, s0 + s1 + 1] = aten::pad(%x, [1, %n], "replicate", None)
  return %y)"),
            R"(  input %x: float32[2, s0]
  input %n: int(s1)
  %replication_pad1d: float32[2, s0 + s1 + 1] = aten::replication_pad1d(%x, [1, %n])
  return %replication_pad1d
)");
}

TEST(Decompose, ACirclePadsByRemaindersOfPositions) {
  EXPECT_EQ(run(R"(  input %x: float32[2, 5]
  input %n: int(s1)
  %y: float32[2, s1 + 6] = aten::pad(%x, [1, %n], "circular", None)
  return %y)"),
            R"(  input %x: float32[2, 5]
  input %n: int(s1)
  %size: int(s1 + 5) = python::add(%n, 5)
  %y_1: int64[s1 + 6] = aten::arange.start_step(-1, %size, 1, int64, None, None, None)
  %y_2: int64[s1 + 6] = aten::remainder.Scalar(%y_1, 5)
  %y_3: int64[s1 + 6] = aten::clamp(%y_2, 0, 4)
  %y_4: float32[2, s1 + 6] = aten::index_select(%x, 1, %y_3)
  return %y_4
)");
}

TEST(Decompose, BatchesOfTriangularSystemsAreMadeEqual) {
  EXPECT_EQ(run(R"(  input %a: float32[3, 3]
  input %b: float32[4, 3, 2]
  %y: float32[4, 3, 2] = aten::linalg_solve_triangular(%a, %b, True, True, False)
  return %y)"),
            R"(  input %a: float32[3, 3]
  input %b: float32[4, 3, 2]
  %y_1: float32[4, 3, 3] = aten::expand(%a, [4, -1, -1], False)
  %y_2: float32[4, 3, 2] = aten::linalg_solve_triangular(%y_1, %b, True, True, False)
  return %y_2
)");
}

TEST(Decompose, WeightsOfTorchaoKeepTheirChannels) {
  EXPECT_EQ(run(R"(  constant %w: int8[3, 4] = zeros
  constant %s: float32[3, 1] = {1, 2, 3}
  constant %z: int8[3, 1] = zeros
  %y: float32[3, 4] = torchao::dequantize_affine(%w, [1, 4], %s, %z, int8, -8, 7)
  return %y)"),
            R"(  constant %w: int8[3, 4] = zeros
  constant %s: float32[3, 1] = {1, 2, 3}
  constant %z: int8[3, 1] = zeros
  %y_3: float32[3] = aten::view(%s, [3])
  %y_1: int8[3] = aten::view(%z, [3])
  %y_2: int16[3] = aten::_to_copy(%y_1, int16, None, None, None, False, None)
  %y_4: float32[3, 4] = quantized_decomposed::dequantize_per_channel(%w, %y_3, %y_2, 0, -8, 7, int8, None)
  return %y_4
)");
}

TEST(Decompose, BlocksOfTorchaoGetDimensionsOfTheirOwn) {
  EXPECT_EQ(run(R"(  input %x: float32[3, 8]
  input %s: float32[3, 2]
  %y: int8[3, 8] = torchao::quantize_affine(%x, [1, 4], %s, None, int8)
  return %y)"),
            R"(  input %x: float32[3, 8]
  input %s: float32[3, 2]
  %y_3: float32[3, 2, 4] = aten::view(%x, [3, 2, 4])
  %y_1: float32[3, 2, 1] = aten::view(%s, [3, 2, 1])
  %y_2: float32[3, 2, 1] = aten::reciprocal(%y_1)
  %y_4: float32[3, 2, 4] = aten::mul.Tensor(%y_3, %y_2)
  %y_5: float32[3, 2, 4] = aten::round(%y_4)
  %y_6: float32[3, 2, 4] = aten::clamp(%y_5, -128.0, 127.0)
  %y_7: float32[3, 8] = aten::view(%y_6, [3, 8])
  %y_8: int8[3, 8] = aten::_to_copy(%y_7, int8, None, None, None, False, None)
  return %y_8
)");
}

TEST(Decompose, PlacesOfWhatIsNotZero) {
  EXPECT_EQ(run(R"(  input %c: bool[3, 4]
  %y: int64[u0], %z: int64[u0] = aten::where(%c)
  return %y, %z)"),
            R"(  input %c: bool[3, 4]
  %nonzero: int64[u0, 2] = aten::nonzero(%c)
  %y_1: int64[u0] = aten::select.int(%nonzero, 1, 0)
  %y_2: int64[u0] = aten::select.int(%nonzero, 1, 1)
  return %y_1, %y_2
)");
}

TEST(Decompose, RowsRepeatAsOftenAsATensorSays) {
  EXPECT_EQ(run(R"(  input %x: float32[3, 2]
  input %n: int64[3]
  %y: float32[u0, 2] = aten::repeat_interleave.self_Tensor(%x, %n, 0)
  return %y)"),
            R"(  input %x: float32[3, 2]
  input %n: int64[3]
  %repeat_interleave: int64[u0] = aten::repeat_interleave.Tensor(%n, None)
  %y_1: float32[u0, 2] = aten::index_select(%x, 0, %repeat_interleave)
  return %y_1
)");
}

TEST(Decompose, ManyStepsBecomeAScan) {
  const std::string text = run(R"(  input %x: float32[s0, 2, 4]
  input %h: float32[1, 2, 3]
  constant %wi: float32[3, 4] = zeros
  constant %wh: float32[3, 3] = zeros
  %y: float32[s0, 2, 3], %n: float32[1, 2, 3] = aten::rnn_tanh.input(%x, %h, [%wi, %wh], False, )"
                               R"(1, 0.0, False, False, False)
  return %y, %n)");
  EXPECT_NE(text.find("higher_order::scan(graph \"step\""), std::string::npos) << text;
  EXPECT_EQ(text.find("aten::linear"), std::string::npos) << text;
}

TEST(Decompose, AGruLayerBecomesOneProductAndTheSteps) {
  const std::string text =
      run(R"(  input %x: float32[s0, 2, 4]
  input %h: float32[1, 2, 3]
  constant %wi: float32[9, 4] = zeros
  constant %wh: float32[9, 3] = zeros
  %y: float32[s0, 2, 3], %n: float32[1, 2, 3] = aten::gru.input(%x, %h, [%wi, %wh], False, )"
          R"(1, 0.0, False, False, False)
  return %y, %n)",
          [](const Node& node) { return node.is("aten::linear"); }, recurrent_layer_rules());
  EXPECT_NE(text.find("float32[s0, 2, 9] = aten::linear(%x, %wi, None)"), text.npos) << text;
  EXPECT_NE(text.find("float32[1, 1, 3, 48] = aten::view("), text.npos) << text;
  EXPECT_NE(text.find("= taper::gru("), text.npos) << text;
  EXPECT_EQ(text.find("higher_order::scan"), text.npos) << text;
}

// As PyTorch computes it: each operator rounds.
TEST(Decompose, AGruOfHalvesIsWrittenStepByStep) {
  const std::string text = run(R"(  input %x: float16[1, 2, 4]
  input %h: float16[1, 2, 3]
  constant %wi: float16[9, 4] = zeros
  constant %wh: float16[9, 3] = zeros
  %y: float16[1, 2, 3], %n: float16[1, 2, 3] = aten::gru.input(%x, %h, [%wi, %wh], False, )"
                               R"(1, 0.0, False, False, False)
  return %y, %n)",
                               {}, recurrent_layer_rules());
  EXPECT_EQ(text.find("taper::gru"), text.npos) << text;
}

// Weights of another dtype than the input: step by step, where every operator promotes.
TEST(Decompose, ALayerOfSeveralDtypesIsWrittenStepByStep) {
  const std::string text =
      run(R"(  input %x: float32[1, 2, 4]
  input %h: float32[1, 2, 3]
  constant %wi: float64[9, 4] = zeros
  constant %wh: float64[9, 3] = zeros
  %y: float32[1, 2, 3], %n: float32[1, 2, 3] = aten::gru.input(%x, %h, [%wi, %wh], False, )"
          R"(1, 0.0, False, False, False)
  return %y, %n)",
          [](const Node& node) { return node.is("aten::linear"); }, recurrent_layer_rules());
  EXPECT_EQ(text.find("taper::gru"), text.npos) << text;
}

TEST(Decompose, GroupsOfARowShareAScale) {
  EXPECT_EQ(run(R"(  input %x: int8[2, 8]
  input %s: float32[2, 2]
  %y: float32[2, 8] = quantized_decomposed::dequantize_per_channel_group()"
                R"(%x, %s, None, -8, 7, int8, 4, float32)
  return %y)"),
            R"(  input %x: int8[2, 8]
  input %s: float32[2, 2]
  %y_1: int8[4, 4] = aten::view(%x, [4, 4])
  %y_2: float32[4, 1] = aten::view(%s, [4, 1])
  %y_3: float32[4, 4] = aten::mul.Tensor(%y_1, %y_2)
  %y_4: float32[2, 8] = aten::view(%y_3, [2, 8])
  return %y_4
)");
}

TEST(Decompose, OneSymbolicSizeIsLeftToView) {
  EXPECT_EQ(run(R"(  range s0 = [1, 8]
  input %x: float32[s0, 2, 3]
  %y: float32[s0, 6] = aten::flatten.using_ints(%x, 1, -1)
  return %y)"),
            R"(  range s0 = [1, 8]
  input %x: float32[s0, 2, 3]
  %y_1: float32[s0, 6] = aten::view(%x, [-1, 6])
  return %y_1
)");
}

// No tensor has the size s0 or s1, but they follow from those that are there.
TEST(Decompose, SizesFollowFromTheirMultiples) {
  const std::string text = run(R"(  range s0 = [1, 8]
  range s1 = [1, 8]
  input %x: float32[1, 4, 2*s0, 2*s1 + 2]
  %y: float32[1, 4, 2*s0, 2*s1 + 2] = aten::group_norm(%x, 2, None, None, 1e-05, False)
  return %y)");
  EXPECT_NE(text.find(": int(2*s0) = aten::sym_size.int(%x, 2)"), text.npos) << text;
  EXPECT_NE(text.find(": int(s0) = python::floordiv("), text.npos) << text;
  EXPECT_NE(text.find(": int(2*s1) = python::sub("), text.npos) << text;
  EXPECT_NE(text.find(": int(s1) = python::floordiv("), text.npos) << text;
}

// The numbers of math.hypot() in Python, as float32; an infinite side counts even beside NaN.
TEST(Decompose, HypotOfLargeAndSmallNumbersIsFinite) {
  const auto graph = parse_graph(R"(graph "g" {
  constant %x: float32[6] = {3, 1e+30, -1e-30, 0, -inf, 2e+38}
  constant %y: float32[6] = {4, -1, 1e-30, 0, nan, 1e+38}
  %z: float32[6] = aten::hypot(%x, %y)
  return %z
})");
  decompose(*graph);
  fold_constants(*graph);
  ASSERT_EQ(graph->nodes.size(), 0u) << print(*graph);
  const auto text = print(*graph);
  EXPECT_NE(text.find("= {5, 1e+30, 1.4142136e-30, 0, inf, 2.236068e+38}"), text.npos) << text;
}

// An empty list means no dimension to any.dims, and all of them to other reductions.
TEST(Decompose, AllOverNoNamedDimensionIsOverEveryOne) {
  EXPECT_EQ(run(R"(  input %x: bool[2, 3]
  %y: bool[] = aten::all.dims(%x, None)
  return %y)"),
            R"(  input %x: bool[2, 3]
  %y_1: bool[2, 3] = aten::logical_not(%x)
  %y_2: bool[] = aten::any.dims(%y_1, None, False)
  %y_3: bool[] = aten::logical_not(%y_2)
  return %y_3
)");
}

TEST(Decompose, SizesAreReadFromInputs) {
  EXPECT_EQ(run(R"(  range s0 = [1, 8]
  input %x: float32[s0]
  %y: float32[s0] = aten::zeros_like(%x)
  return %y)"),
            R"(  range s0 = [1, 8]
  input %x: float32[s0]
  %size: int(s0) = aten::sym_size.int(%x, 0)
  %y_1: float32[s0] = aten::full([%size], 0.0, float32, None, None, None)
  return %y_1
)");
}

TEST(Decompose, WhatABackendKeepsStaysWhole) {
  const std::string text =
      "  input %x: float32[4]\n"
      "  %y: float32[4] = aten::silu(%x)\n"
      "  return %y\n";
  EXPECT_EQ(run(text, [](const Node& node) { return node.is("aten::silu"); }), text);
  EXPECT_NE(run(text), text);
}

TEST(Decompose, RefusalsNameTheNodeAndTheReason) {
  const auto graph = parse_graph(R"(graph "g" {
  range s0 = [3, 9]
  input %x: float32[1, 1, s0, 5]
  %y: float32[1, 1, 0, 3], %i: int64[1, 1, 0, 3] = aten::adaptive_max_pool2d(%x, [0, 3])
  return %y
})");
  try {
    decompose(*graph);
    FAIL() << "no windows";
  } catch (const Failure& failure) {
    ASSERT_EQ(failure.diagnostics().size(), 1u);
    EXPECT_EQ(failure.diagnostics()[0].message, "pooling to 0 windows");
  }
}

TEST(Decompose, OperandsOfTooFewDimensionsAreRefused) {
  for (const char* call : {"aten::matmul(%x, %x)", "aten::linalg_inv(%x)", "aten::cdist(%x, %x)",
                           "aten::linalg_solve(%x, %x)"}) {
    EXPECT_THROW(
        run(std::string("  input %x: float32[]\n  %y: float32[] = ") + call + "\n  return %y"),
        Failure)
        << call;
  }
}

TEST(Decompose, UnevenAdaptiveMaxTakesRowsThenColumns) {
  const std::string text = run(R"(  input %x: float32[1, 1, 3, 2]
  %y: float32[1, 1, 2, 2], %i: int64[1, 1, 2, 2] = aten::adaptive_max_pool2d(%x, [2, 2])
  return %y)");
  // Rows [0, 2) and [1, 3); columns are whole.
  EXPECT_NE(text.find("aten::slice.Tensor(%x, -2, 0, 2, 1)"), std::string::npos) << text;
  EXPECT_NE(text.find("aten::slice.Tensor(%x, -2, 1, 3, 1)"), std::string::npos) << text;
}

}  // namespace
}  // namespace taper::exir
