// Tests payloads for ExecuTorch's runtime: the rules hold of what its own exporter writes, and of
// what is written here; what breaks them is named.

#include "backends/vulkan/aot/executorch_payload.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "backends/vulkan/aot/executorch_ops.h"
#include "backends/vulkan/planner/payload_for_test.h"
#include "exir/delegate/compiler_descriptor.h"
#include "exir/export.h"
#include "exir/ir/body_for_test.h"

namespace taper::vulkan {

extern const exir::CompilerDescriptor kCompiler;

namespace {

exir::BackendCompilers compilers() {
  static const exir::CompilerDescriptor* const backends[] = {&kCompiler};
  return exir::make_compilers("vulkan:min_elements=0", backends);
}

TEST(ExecutorchPayload, RulesHoldOfWhatItsExporterWrites) {
  const std::set<std::string> without_rules = {
      "aten.logical_not.default",  // The exporter writes it, its runtime does not have it.
      // What is not written for that runtime: packed weights, integers, caches.
      "et_vk.embedding_q4gsw.default",
      "et_vk.linear_qcs4w.default",
      "quantized_decomposed.quantize_per_tensor.default",
      "sdpa_with_kv_cache.default",
      "torchao.choose_qparams_affine.default",
  };
  for (const std::vector<uint8_t>& payload : exported_payloads()) {
    const std::string problem = executorch_problem(payload);
    const size_t end = problem.find(": it is not there");
    EXPECT_TRUE(problem.empty() || without_rules.count(problem.substr(0, end)) != 0) << problem;
  }
}

// The delegates of a graph for ExecuTorch's runtime, and why nodes stay outside.
struct Lowered {
  explicit Lowered(const std::string& body) {
    graph = exir::parse_body(body);
    exir::LowerOptions options;
    options.backends = compilers();
    options.delegated = exir::Groups::kAll;
    options.for_executorch = true;
    options.delegation = &delegation;
    exir::lower(*graph, options);
    for (const auto& [node, why] : delegation.outside) outside += why + "; ";
  }
  std::string calls() const {
    std::string text;
    for (const auto& delegate : graph->delegates) {
      const uint8_t* at = delegate->payload.data() + kPaddedHeaderBytes;
      for (const wire::Call* call : *wire::GetGraph(at)->chain()) text += call->name()->str() + " ";
    }
    return text;
  }

  std::unique_ptr<exir::Graph> graph;
  exir::Delegation delegation;
  std::string outside;
};

TEST(ExecutorchPayload, ClonesStandWhereStorageChanges) {
  const Lowered r(R"(  input %x: float32[1, 2, 4, 4]
  constant %w: float32[3, 2, 1, 1] = {1, 2, 3, 4, 5, 6}
  %a: float32[1, 2, 4, 4] = aten::relu(%x)
  %b: float32[1, 3, 4, 4] = aten::convolution(%a, %w, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)
  %y: float32[1, 3, 4, 4] = aten::sigmoid(%b)
  return %y)");
  EXPECT_EQ(r.calls(),
            "aten.relu.default aten.clone.default aten.convolution.default aten.sigmoid.default ");
}

TEST(ExecutorchPayload, NumbersAndConstantsBecomeTensors) {
  const Lowered r(R"(  input %x: float32[2, 3]
  constant %w: float32[3] = {1, 2, 3}
  %a: float32[2, 3] = aten::mul.Scalar(%x, 2)
  %y: float32[2, 3] = aten::add.Tensor(%a, %w, 1)
  return %y)");
  EXPECT_EQ(r.calls(),
            "et_vk.prepack.default aten.mul.Tensor et_vk.prepack.default aten.add.Tensor ");
}

TEST(ExecutorchPayload, WhatItsRuntimeLacksStaysOutside) {
  const Lowered log(R"(  input %x: float32[2, 3]
  %y: float32[2, 3] = aten::log(%x)
  return %y)");
  EXPECT_NE(log.outside.find("does not run aten.log.default: it is not there"), std::string::npos)
      << log.outside;
  const Lowered images(R"(  input %x: float32[2, 2, 4, 4]
  constant %w: float32[3, 2, 1, 1] = {1, 2, 3, 4, 5, 6}
  %y: float32[2, 3, 4, 4] = aten::convolution(%x, %w, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)
  return %y)");
  EXPECT_NE(images.outside.find("it has several images"), std::string::npos) << images.outside;
  const Lowered rank(R"(  input %x: float32[1, 2, 1, 2, 1]
  %y: float32[1, 2, 1, 2, 1] = aten::relu(%x)
  return %y)");
  EXPECT_NE(rank.outside.find("more than four dimensions"), std::string::npos) << rank.outside;
  const Lowered sizes(R"(range s0 = [1, 8]
  input %x: float32[s0, 1]
  %y: float32[s0, 3] = aten::expand_copy(%x, [-1, 3])
  return %y)");
  EXPECT_NE(sizes.outside.find("for one size alone"), std::string::npos) << sizes.outside;
}

TEST(ExecutorchPayload, WrongStorageIsNamed) {
  PayloadBuilder payload;
  const auto x = payload.input({1, 2, 4, 4});
  const auto y = payload.tensor({1, 2, 4, 4});
  payload.call("aten.relu.default", {x, y});
  payload.output(y);
  EXPECT_EQ(executorch_problem(payload.finish()),
            "aten.relu.default: a tensor is stored in a way that it does not take");
}

TEST(ExecutorchPayload, OfCommittedModelsKeepTheRules) {
  size_t count = 0;
  for (const char* model : {"mobilenet_v2", "vit_tiny", "bert_mini", "unet", "lstm", "inception",
                            "dynamic_batch", "dynamic_encoder", "mixed_dtypes"}) {
    exir::ExportRequest request;
    request.methods = {
        {"forward", TAPER_SOURCE_DIR "/test/models/data/" + std::string(model) + ".pt2"}};
    request.lowering.backends = compilers();
    request.lowering.delegated = exir::Groups::kAll;
    request.lowering.for_executorch = true;
    for (const auto& program : exir::export_program(request).programs) {
      for (const auto& delegate : program.graph->delegates) {
        EXPECT_EQ(executorch_problem(delegate->payload), "") << model;
        EXPECT_EQ(read_problem(delegate->payload).find("VK00"), std::string::npos) << model;
        ++count;
      }
    }
  }
  EXPECT_GT(count, 9u);
}

}  // namespace
}  // namespace taper::vulkan
