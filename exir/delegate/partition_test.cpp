#include "exir/delegate/partition.h"

#include <gtest/gtest.h>

#include "exir/dialect/verifier.h"
#include "exir/ir/body_for_test.h"

namespace taper::exir {
namespace {

// Takes what is in its list; groups of fewer nodes than `least` do not pay. What is named m goes
// only where there is something before it.
class ListCompiler final : public BackendCompiler {
 public:
  explicit ListCompiler(std::vector<std::string> takes, size_t least = 1,
                        BackendIdentity identity = {"list", "ListBackend"})
      : BackendCompiler(identity), takes_(std::move(takes)), least_(least) {}
  std::string refusal(const Node& node, const Graph&) const override {
    for (const std::string& each : takes_) {
      if (node.is(each)) return "";
    }
    return "not in the list";
  }
  bool pays(const Part& part) const override { return part.nodes.size() >= least_; }
  std::vector<Misfit> misfits(const Part& part) const override {
    const Node* first = part.nodes[0];
    if (first->outputs[0]->name != "m") return {};
    return {{first, "nothing is before it"}};
  }
  std::shared_ptr<Delegate> compile(const Part& part) const override {
    auto delegate = std::make_shared<Delegate>();
    for (const Node* node : part.nodes) {
      delegate->payload.push_back(static_cast<uint8_t>(node->outputs[0]->name[0]));
    }
    return delegate;
  }

 private:
  std::vector<std::string> takes_;
  size_t least_;
};

BackendCompilers taking(std::vector<std::string> takes, size_t least = 1) {
  return {std::make_shared<ListCompiler>(std::move(takes), least)};
}

struct Result {
  std::string text;                   // Of the graph's body.
  std::vector<std::string> payloads;  // The names of the results in each call.
  std::vector<std::string> outside;
};

Result run(const std::string& body, const BackendCompilers& compilers) {
  const auto graph = parse_body(body);
  Result result;
  Delegation delegation;
  partition(*graph, compilers, {}, &delegation);
  verify(*graph, Dialect::kEdge);
  for (const auto& node : graph->nodes) {
    const auto why = delegation.outside.find(node.get());
    if (why != delegation.outside.end()) {
      result.outside.push_back(std::string(node->target()) + ": " + why->second);
    }
    result.text += std::string(node->target()) + "(";
    for_each_value(*node, [&](const Value* value) { result.text += value->name; });
    result.text += ")";
    for (const Value* output : node->outputs) result.text += output->name;
    result.text += " ";
  }
  for (const auto& delegate : graph->delegates) {
    result.payloads.emplace_back(delegate->payload.begin(), delegate->payload.end());
  }
  return result;
}

TEST(Partition, WhatDoesNotFitIntoItsGroupStaysOutside) {
  const BackendCompilers compiler = taking({"aten::relu", "aten::neg"});
  const Result fits = run(R"(  input %x: float32[2]
  %a: float32[2] = aten::relu(%x)
  %m: float32[2] = aten::neg(%a)
  return %m)",
                          compiler);
  EXPECT_EQ(fits.text, "delegate::call(x)m ");
  const Result result = run(R"(  input %x: float32[2]
  %m: float32[2] = aten::neg(%x)
  %b: float32[2] = aten::relu(%m)
  return %b)",
                            compiler);
  EXPECT_EQ(result.text, "aten::neg(x)m delegate::call(m)b ");
  EXPECT_EQ(result.outside, (std::vector<std::string>{"aten::neg: nothing is before it"}));
}

TEST(Partition, NodesThatAreTakenBecomeOneCall) {
  const Result result = run(R"(  input %x: float32[2]
  constant %w: float32[2] = {1, 2}
  %a: float32[2] = aten::relu(%x)
  %b: float32[2] = aten::mul.Tensor(%a, %w)
  return %b)",
                            taking({"aten::relu", "aten::mul.Tensor"}));
  EXPECT_EQ(result.text, "delegate::call(x)b ");
  EXPECT_EQ(result.payloads, (std::vector<std::string>{"ab"}));
  EXPECT_TRUE(result.outside.empty());
}

// Takes flips along a dimension that it can read.
class FlipCompiler final : public BackendCompiler {
 public:
  FlipCompiler() : BackendCompiler({"flip", "FlipBackend"}) {}
  std::string refusal(const Node& node, const Graph&) const override {
    return to_ints(node.arg("dims")).empty() ? "it flips nothing" : "";
  }
  std::shared_ptr<Delegate> compile(const Part&) const override {
    return std::make_shared<Delegate>();
  }
};

TEST(Partition, ANumberThatOnlyTheRunTellsIsAReason) {
  const Result result = run(R"(  input %x: float32[4]
  input %n: int(s0)
  %a: float32[4] = aten::flip(%x, [0])
  %b: float32[4] = aten::flip(%a, [%n])
  return %b)",
                            {std::make_shared<FlipCompiler>()});
  EXPECT_EQ(result.payloads.size(), 1u);
  ASSERT_EQ(result.outside.size(), 1u);
  EXPECT_NE(result.outside[0].find("an argument is a value where an int is expected"),
            std::string::npos);
}

TEST(Partition, ANodeOutsideSeparatesOnlyWhatDependsOnIt) {
  const Result result = run(R"(  input %x: float32[2]
  %a: float32[2] = aten::relu(%x)
  %u: float32[2] = aten::sin(%a)
  %b: float32[2] = aten::relu(%u)
  %c: float32[2] = aten::neg(%x)
  %d: float32[2] = aten::relu(%c)
  return %b, %d, %c)",
                            taking({"aten::relu"}));
  EXPECT_EQ(result.text, "aten::neg(x)c delegate::call(xc)ad aten::sin(a)u delegate::call(u)b ");
  EXPECT_EQ(result.payloads, (std::vector<std::string>{"ad", "b"}));
  EXPECT_EQ(result.outside,
            (std::vector<std::string>{"aten::neg: not in the list", "aten::sin: not in the list"}));
}

TEST(Partition, WhatDoesNotPayStaysAndOthersGrowTogether) {
  const Result result = run(R"(  input %x: float32[2]
  %u: float32[2] = aten::sin(%x)
  %a: float32[2] = aten::relu(%u)
  %b: float32[2] = aten::relu(%a)
  %v: float32[2] = aten::sin(%x)
  %c: float32[2] = aten::relu(%v)
  %w: float32[2] = aten::sin(%c)
  %d: float32[2] = aten::relu(%w)
  return %b, %d)",
                            taking({"aten::relu"}, 2));
  EXPECT_EQ(result.payloads, (std::vector<std::string>{"abc"}));
  EXPECT_EQ(result.outside.back(),
            "aten::relu: alone among others it would cost more than it saves");
}

TEST(Partition, WhatOneBackendLeavesGoesToTheNext) {
  const auto graph = parse_graph(R"(graph "g" {
  input %x: float32[2]
  %a: float32[2] = aten::relu(%x)
  %b: float32[2] = aten::neg(%a)
  %c: float32[2] = aten::sin(%b)
  %d: float32[2] = aten::relu(%c)
  %e: float32[2] = aten::neg(%d)
  return %e
})");
  const BackendIdentity first = {"first", "FirstBackend"}, second = {"second", "SecondBackend"};
  using Takes = std::vector<std::string>;
  Delegation delegation;
  const int taken =
      partition(*graph,
                {std::make_shared<ListCompiler>(Takes{"aten::relu"}, 1, first),
                 std::make_shared<ListCompiler>(Takes{"aten::neg", "aten::relu"}, 1, second)},
                {}, &delegation);
  EXPECT_EQ(taken, 4);
  verify(*graph, Dialect::kEdge);
  ASSERT_EQ(delegation.outside.size(), 1u);
  EXPECT_EQ(delegation.outside.begin()->first->outputs[0]->name, "c");
  EXPECT_EQ(delegation.outside.begin()->second, "first: not in the list; second: not in the list");
  ASSERT_EQ(delegation.calls.size(), graph->delegates.size());
  std::string calls;
  for (size_t i = 0; i < delegation.calls.size(); ++i) {
    calls += graph->delegates[i]->id + " " + delegation.calls[i].backend + ":";
    for (const Delegation::Member& node : delegation.calls[i].nodes) {
      calls += " " + node.target + "(" + node.refusals + ")";
    }
    calls += "\n";
  }
  EXPECT_EQ(calls,
            "FirstBackend first: aten::relu()\nFirstBackend first: aten::relu()\n"
            "SecondBackend second: aten::neg(first: not in the list)\n"
            "SecondBackend second: aten::neg(first: not in the list)\n");
}

TEST(Partition, SizesDoNotTieNodesTogether) {
  const Result result = run(R"(  input %x: float32[s0, 2]
  %a: float32[s0, 2] = aten::relu(%x)
  %n: int(s0) = aten::sym_size.int(%a, 0)
  %b: float32[s0, 2, 1] = aten::view_copy(%a, [%n, 2, 1])
  return %b)",
                            taking({"aten::relu", "aten::view_copy"}));
  EXPECT_EQ(result.payloads, (std::vector<std::string>{"ab"}));
}

TEST(Partition, RandomNumbersAreDrawnInTheirOrder) {
  const Result result = run(R"(  input %x: float32[2]
  %a: float32[2] = aten::relu(%x)
  %b: float32[2] = aten::rand_like(%a)
  %c: float32[2] = aten::rand_like(%x)
  return %b, %c)",
                            taking({"aten::relu"}));
  EXPECT_EQ(result.text, "delegate::call(x)a aten::rand_like(a)b aten::rand_like(x)c ");
}

}  // namespace
}  // namespace taper::exir
