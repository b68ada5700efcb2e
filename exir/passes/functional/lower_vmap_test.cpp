#include "exir/passes/functional/lower_vmap.h"

#include <gtest/gtest.h>

#include "exir/dialect/verifier.h"
#include "exir/ir/body_for_test.h"

namespace taper::exir {
namespace {

constexpr const char* kCalls = R"(
operator "python::torch._functorch.predispatch._add_batch_dim(Any a, Any b, Any c) -> Tensor"
operator "python::torch._functorch.predispatch._remove_batch_dim(Any a, Any b, Any c, Any d) -> Tensor"
operator "python::torch._functorch.predispatch._vmap_decrement_nesting() -> Tensor"
operator "python::torch._functorch.predispatch._vmap_increment_nesting(Any a, Any b) -> Tensor"
)";

// `body` with short names of the calls.
std::unique_ptr<Graph> graph_of(std::string body) {
  const std::pair<const char*, const char*> names[] = {{"BEGIN", "_vmap_increment_nesting"},
                                                       {"END", "_vmap_decrement_nesting"},
                                                       {"SPLIT", "_add_batch_dim"},
                                                       {"JOIN", "_remove_batch_dim"}};
  for (const auto& [brief, name] : names) {
    const std::string full = std::string("python::torch._functorch.predispatch.") + name;
    for (size_t at = 0; (at = body.find(brief, at)) != body.npos; at += full.size()) {
      body.replace(at, std::string(brief).size(), full);
    }
  }
  return parse_graph(kCalls + ("graph \"g\" {\n" + body + "\n}"));
}

std::string run(const std::string& body) {
  const auto graph = graph_of(body);
  lower_vmap(*graph);
  verify(*graph, Dialect::kAten);
  return print_body(*graph);
}

TEST(LowerVmap, TheFunctionBecomesABodyAndWhatNeedsNoSampleStaysOutside) {
  EXPECT_EQ(run(R"(  input %x: float32[3, 4]
  input %w: float32[3]
  %u: float32[0] = BEGIN(4, "error")
  %a: float32[3] = SPLIT(%x, -1, 1)
  %v: float32[3] = aten::neg(%w)
  %b: float32[3] = aten::mul.Tensor(%a, %v)
  %r: float32[3, 4] = JOIN(%b, 1, 4, 1)
  %e: float32[0] = END()
  return %r)"),
            R"(  input %x: float32[3, 4]
  input %w: float32[3]
  %v: float32[3] = aten::neg(%w)
  %permute: float32[4, 3] = aten::permute(%x, [1, 0])
  %b_1: float32[4, 3] = higher_order::map_impl(graph "sample" {
    input %a: float32[3]
    input %v: float32[3]
    %b: float32[3] = aten::mul.Tensor(%a, %v)
    return %b
  }, [%permute], [%v])
  %permute_1: float32[3, 4] = aten::permute(%b_1, [1, 0])
  return %permute_1
)");
}

TEST(LowerVmap, ASampleItselfIsCopiedAndWhatIsTheSameForAllIsRepeated) {
  EXPECT_EQ(run(R"(  input %x: float32[4]
  input %w: float32[3]
  %u: float32[0] = BEGIN(4, "error")
  %a: float32[] = SPLIT(%x, 0, 1)
  %r: float32[4] = JOIN(%a, 1, 4, 0)
  %s: float32[4, 3] = JOIN(%w, 1, 4, 0)
  %e: float32[0] = END()
  return %r, %s)"),
            R"(  input %x: float32[4]
  input %w: float32[3]
  %a_1: float32[4] = higher_order::map_impl(graph "sample" {
    input %a: float32[]
    %clone: float32[] = aten::clone(%a, None)
    return %clone
  }, [%x], [])
  %unsqueeze: float32[1, 3] = aten::unsqueeze(%w, 0)
  %expand: float32[4, 3] = aten::expand(%unsqueeze, [4, -1], False)
  return %a_1, %expand
)");
}

TEST(LowerVmap, OneInsideAnotherIsALoopInItsBody) {
  const std::string text = run(R"(  input %x: float32[4]
  input %y: float32[5]
  %u: float32[0] = BEGIN(4, "error")
  %a: float32[] = SPLIT(%x, 0, 1)
  %v: float32[0] = BEGIN(5, "error")
  %b: float32[] = SPLIT(%y, 0, 2)
  %c: float32[] = aten::mul.Tensor(%a, %b)
  %r: float32[5] = JOIN(%c, 2, 5, 0)
  %e: float32[0] = END()
  %s: float32[4, 5] = JOIN(%r, 1, 4, 0)
  %f: float32[0] = END()
  return %s)");
  const size_t outer = text.find("map_impl");
  ASSERT_NE(outer, text.npos);
  EXPECT_NE(text.find("map_impl", outer + 1), text.npos);
  EXPECT_EQ(text.find("predispatch"), text.npos);
}

void expect_refused(const std::string& body, const std::string& why) {
  const auto graph = graph_of(body);
  try {
    lower_vmap(*graph);
    FAIL() << "not refused";
  } catch (const Failure& failure) {
    EXPECT_NE(std::string(failure.what()).find(why), std::string::npos) << failure.what();
  }
}

TEST(LowerVmap, WritesAndLonelyEndsAreRefused) {
  expect_refused(R"(  input %x: float32[4, 3]
  %u: float32[0] = BEGIN(4, "error")
  %a: float32[3] = SPLIT(%x, 0, 1)
  %b: float32[3] = aten::add_.Tensor(%a, %a, 1)
  %r: float32[4, 3] = JOIN(%b, 1, 4, 0)
  %e: float32[0] = END()
  return %r)",
                 "writes in place");
  expect_refused("  input %x: float32[4]\n  %e: float32[0] = END()\n  return %x", "has not begun");
}

}  // namespace
}  // namespace taper::exir
