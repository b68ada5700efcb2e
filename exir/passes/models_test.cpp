// The passes over every program under test/models/data, with the verifier between them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "exir/dialect/verifier.h"
#include "exir/frontend/import.h"
#include "exir/ir/rewrite.h"
#include "exir/ops/builtin.h"
#include "exir/passes/functional/decompose_writes.h"
#include "exir/passes/functional/functionalize.h"
#include "exir/passes/functional/inline_wrappers.h"
#include "exir/passes/simplify/cse.h"
#include "exir/passes/simplify/prepare_for_inference.h"
#include "exir/passes/simplify/remove_noops.h"

namespace taper::exir {
namespace {

std::vector<std::string> programs() {
  std::vector<std::string> out;
  for (const auto& entry :
       std::filesystem::directory_iterator(TAPER_SOURCE_DIR "/test/models/data")) {
    if (entry.path().extension() == ".pt2") out.push_back(entry.path().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

class Models : public testing::TestWithParam<std::string> {};

// Types of what the caller sees: no pass may change them.
std::string signature(const Graph& graph) {
  std::string out;
  const auto add = [&](const Value* value) {
    if (value->kind != ValueKind::kTensor) return;
    out += to_string(value->type.dtype);
    for (const Sym& size : value->type.sizes) out += " " + size.text();
    out += "; ";
  };
  for (const Argument& input : graph.inputs) for_each_value(input, add);
  for (const Argument& output : graph.outputs) for_each_value(output, add);
  return out;
}

TEST_P(Models, BecomeFunctional) {
  const auto graph = std::move(import_pt2(GetParam()).graph);
  verify(*graph, Dialect::kAten);
  const std::string before = signature(*graph);
  inline_wrappers(*graph);
  verify(*graph, Dialect::kAten);
  decompose_writes(*graph);
  functionalize(*graph);
  verify(*graph, Dialect::kAten);
  for (const Graph* each : all_graphs(*graph)) {
    for (const auto& node : each->nodes) EXPECT_FALSE(node->schema->mutates()) << node->target();
  }
  prepare_for_inference(*graph);
  remove_noops(*graph);
  cse(*graph);
  verify(*graph, Dialect::kAten);
  EXPECT_EQ(signature(*graph), before);
}

TEST_P(Models, ReadBackFromTheirText) {
  const auto graph = std::move(import_pt2(GetParam()).graph);
  const std::string text = print(*graph);
  // Large constants are read back as zeros and print as such.
  const std::string again = print(*parse_graph(text));
  EXPECT_EQ(print(*parse_graph(again)), again);
}

INSTANTIATE_TEST_SUITE_P(Data, Models, testing::ValuesIn(programs()), [](const auto& info) {
  std::string name = std::filesystem::path(info.param).stem().string();
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});

}  // namespace
}  // namespace taper::exir
