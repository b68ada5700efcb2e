#include "exir/ops/aten_calls.h"

#include <gtest/gtest.h>

#include "exir/lower.h"
#include "exir/ops/builtin.h"

namespace taper::exir {
namespace {

using Targets = std::vector<std::string>;

std::unique_ptr<Graph> graph_of(const std::string& text) {
  return parse_graph("graph \"g\" {" + text + "}");
}

// An operator of PyTorch's for which there is no kernel here is _test_serialization_subcmul.

// The kernels that the lowered program calls; what was refused, if it was.
Targets lowered(const std::string& text, bool aten) {
  const auto graph = graph_of(text);
  LowerOptions options;
  options.aten = aten;
  try {
    lower(*graph, options);
  } catch (const Failure& failure) {
    return {failure.diagnostics().at(0).id};
  }
  Targets targets;
  for (const auto& node : graph->nodes) targets.emplace_back(node->target());
  return targets;
}

std::string why_not(const std::string& text) {
  const auto graph = graph_of(text);
  return why_not_aten(*graph->nodes[0], *graph->operators());
}

TEST(AtenCalls, WhatHasNoKernelIsLeftOnlyIfAsked) {
  const std::string text =
      "input %x: float32[2] %a: float32[2] = aten::_test_serialization_subcmul(%x, %x, 2) "
      "%b: float32[2] = aten::relu(%a) return %b";
  EXPECT_EQ(lowered(text, false), Targets{"unsupported-op"});
  EXPECT_EQ(lowered(text, true),
            (Targets{"aten::_test_serialization_subcmul.functional3", "aten::relu.out"}));
}

TEST(AtenCalls, CallsThatMayBeRandomAreNotMerged) {
  EXPECT_EQ(
      lowered("input %x: float32[2] %a: float32[2] = aten::_test_serialization_subcmul(%x, %x, 2) "
              "%b: float32[2] = aten::_test_serialization_subcmul(%x, %x, 2) "
              "%c: float32[2] = aten::add.Tensor(%a, %b, 1) return %c",
              true),
      (Targets{"aten::_test_serialization_subcmul.functional3",
               "aten::_test_serialization_subcmul.functional3", "aten::add.out"}));
}

// The kernel exists, but not for these dtypes: its name must not be used.
TEST(AtenCalls, ADtypeThatTheKernelDoesNotTake) {
  const std::string text =
      "input %x: uint64[2] %a: uint64[2] = aten::add.Tensor(%x, %x, 1) return %a";
  EXPECT_EQ(lowered(text, false), Targets{"unsupported-dtype"});
  EXPECT_EQ(lowered(text, true), Targets{"aten::add.Tensor_functional3"});
}

TEST(AtenCalls, WhatOurKernelsRunStaysWithThem) {
  const std::string text =
      "input %x: float32[2, 2] %a: float32[2, 2] = aten::linalg_inv(%x) "
      "%b: float32[2, 2] = aten::gelu(%a, \"none\") return %b";
  EXPECT_EQ(lowered(text, true), lowered(text, false));
}

// If a list is among the results, there is one out argument for all.
TEST(AtenCalls, AListAmongTheResults) {
  EXPECT_EQ(lowered("input %x: float32[2, 1] %a: float32[2], %b: float32[3] = "
                    "aten::histogramdd(%x, [2]) "
                    "%c: float32[2] = aten::relu(%a) return %c, %b",
                    true),
            (Targets{"aten::histogramdd.functional5", "aten::relu.out"}));
}

// In PyTorch these draw and write; without its operators a model in training mode is refused.
TEST(AtenCalls, LayersInTrainingModeDoWhatTheyDoInPyTorch) {
  const std::string text =
      "input %x: float32[4, 3] input %m: float32[3] input %v: float32[3] "
      "%a: float32[4, 3] = aten::batch_norm(%x, None, None, %m, %v, True, 0.1, 1e-5, True) "
      "%b: float32[4, 3] = aten::dropout(%a, 0.5, True) return %b";
  EXPECT_EQ(lowered(text, false), Targets{"training-mode"});
  EXPECT_EQ(lowered(text, true),
            (Targets{"aten::_native_batch_norm_legit.no_stats_out", "aten::mean.out",
                     "aten::mul.Scalar_out", "aten::mul.Scalar_out", "aten::add.out",
                     "aten::var.correction_out", "aten::mul.Scalar_out", "aten::mul.Scalar_out",
                     "aten::add.out", "aten::dropout.functional3"}));
}

TEST(AtenCalls, WhatCannotBeLeft) {
  const std::string x = "input %x: float32[2, 2] ";
  EXPECT_EQ(
      why_not(x + "%y: float32[2, 2] = aten::_test_serialization_subcmul(%x, %x, 2) return %y"),
      "");
  EXPECT_EQ(why_not(x + "%y: float32[2, 2] = aten::relu_(%x) return %y"), "it writes an argument");
  EXPECT_EQ(why_not(x + "%y: float32[2, 2] = aten::instance_norm(%x, None, None, None, None, True, "
                        "0.1, 1e-5, False) return %y"),
            "it may write an argument");
  EXPECT_EQ(why_not(x + "%y: float32[2, 2] = aten::add.Tensor(%x, 2, 1) return %y"),
            "a number is given as a tensor");
  EXPECT_EQ(why_not(x + "%n: int(2) = aten::sym_size.int(%x, 0) return %n"),
            "one of its results is a number");
  EXPECT_EQ(why_not(x + "%n: int(3) = python::add(1, 2) return %n"),
            "PyTorch has no such operator");
}

}  // namespace
}  // namespace taper::exir
