#include "exir/passes/functional/inline_wrappers.h"

#include <gtest/gtest.h>

#include "exir/ops/builtin.h"

namespace taper::exir {
namespace {

std::string run(std::string_view text) {
  const auto graph = parse_graph(text);
  inline_wrappers(*graph);
  return print(*graph);
}

TEST(InlineWrappers, MovesABodyIntoTheGraph) {
  EXPECT_EQ(run(R"(graph "g" {
    input %x: float32[2]
    %y: float32[2], %z: float32[2] = higher_order::wrap_with_set_grad_enabled(False, graph "body" {
      input %a: float32[2]
      %x: float32[2] = aten::relu(%a)
      return %x, %a
    }, [%x])
    %w: float32[2] = aten::add.Tensor(%y, %z)
    return %w
  })"),
            R"(graph "g" {
  input %x: float32[2]
  %x_1: float32[2] = aten::relu(%x)
  %w: float32[2] = aten::add.Tensor(%x_1, %x, 1)
  return %w
}
)");
}

TEST(InlineWrappers, InlinesEachCallOfARegion) {
  EXPECT_EQ(run(R"(graph "g" {
    input %x: float32[2]
    input %w: float32[2]
    %y: float32[2] = higher_order::invoke_subgraph(graph "body" {
      input %a: float32[2]
      input %b: float32[2]
      %c: float32[2] = aten::mul.Tensor(%a, %b)
      return %c
    }, "subgraph_0", [%x, %w])
    %z: float32[2] = higher_order::invoke_subgraph(graph "body" {
      input %a: float32[2]
      input %b: float32[2]
      %c: float32[2] = aten::mul.Tensor(%a, %b)
      return %c
    }, "subgraph_0", [%y, %x])
    return %z
  })"),
            R"(graph "g" {
  input %x: float32[2]
  input %w: float32[2]
  %c: float32[2] = aten::mul.Tensor(%x, %w)
  %c_1: float32[2] = aten::mul.Tensor(%c, %x)
  return %c_1
}
)");
}

TEST(InlineWrappers, InlinesNestedWrappersAndDisabledAutocast) {
  EXPECT_EQ(run(R"(graph "g" {
    input %x: float32[2]
    %y: float32[2] = higher_order::wrap_with_set_grad_enabled(False, graph "outer" {
      input %a: float32[2]
      %b: float32[2] = higher_order::wrap_with_autocast("cpu", bfloat16, False, None, graph "inner" {
        input %c: float32[2]
        %d: float32[2] = aten::linear(%c, %c, None)
        return %d
      }, [%a])
      return %b
    }, [%x])
    return %y
  })"),
            R"(graph "g" {
  input %x: float32[2]
  %d: float32[2] = aten::linear(%x, %x, None)
  return %d
}
)");
}

TEST(InlineWrappers, TheInnermostAutocastCounts) {
  EXPECT_EQ(run(R"(graph "g" {
    input %x: float32[2, 2]
    %y: float32[2, 2] = higher_order::wrap_with_autocast("cpu", bfloat16, True, None, graph "b" {
      input %a: float32[2, 2]
      %b: float32[2, 2] = higher_order::wrap_with_autocast("cpu", bfloat16, False, None, graph "i" {
        input %c: float32[2, 2]
        %d: float32[2, 2] = aten::mm(%c, %c)
        return %d
      }, [%a])
      return %b
    }, [%x])
    return %y
  })"),
            R"(graph "g" {
  input %x: float32[2, 2]
  %d: float32[2, 2] = aten::mm(%x, %x)
  return %d
}
)");
}

TEST(InlineWrappers, AutocastCastsTheOperandsOfMatrixProducts) {
  EXPECT_EQ(run(R"(graph "g" {
    input %x: float32[2, 2]
    %y: bfloat16[2, 2] = higher_order::wrap_with_autocast("cpu", bfloat16, True, None, graph "b" {
      input %a: float32[2, 2]
      %e: float32[2, 2] = aten::exp(%a)
      %m: bfloat16[2, 2] = aten::matmul(%a, %e)
      %n: bfloat16[2, 2] = aten::matmul(%m, %a)
      return %n
    }, [%x])
    return %y
  })"),
            R"(graph "g" {
  input %x: float32[2, 2]
  %e: float32[2, 2] = aten::exp(%x)
  %_to_copy: bfloat16[2, 2] = aten::_to_copy(%x, bfloat16, None, None, None, False, None)
  %_to_copy_1: bfloat16[2, 2] = aten::_to_copy(%e, bfloat16, None, None, None, False, None)
  %m: bfloat16[2, 2] = aten::matmul(%_to_copy, %_to_copy_1)
  %n: bfloat16[2, 2] = aten::matmul(%m, %_to_copy)
  return %n
}
)");
}

TEST(InlineWrappers, RefusesAutocastThatDoesNotFit) {
  const auto message = [](std::string_view text) -> std::string {
    try {
      run(text);
    } catch (const Failure& failure) {
      return failure.what();
    }
    return "";
  };
  EXPECT_EQ(message(R"(graph "g" { input %x: float32[2, 2]
    %y: float32[2, 2] = higher_order::wrap_with_autocast("cpu", bfloat16, True, None, graph "b" {
      input %a: float32[2, 2] %m: float32[2, 2] = aten::mm(%a, %a) return %m }, [%x]) return %y })"),
            "higher_order::wrap_with_autocast: aten::mm in its body does not return bfloat16");
  EXPECT_EQ(message(R"(graph "g" { input %x: float32[2, 2]
    %y: float32[2, 2] = higher_order::wrap_with_set_grad_enabled(True, graph "b" {
      return 1 }, [%x]) return %y })"),
            "higher_order::wrap_with_set_grad_enabled: its body takes another number of operands");
}

}  // namespace
}  // namespace taper::exir
