// Compiles a graph given as text for XNNPACK and gives access to the payload.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/xnnpack/aot/xnnpack_compiler.h"
#include "backends/xnnpack/schema_generated.h"
#include "exir/delegate/partition.h"
#include "exir/ir/body_for_test.h"
#include "exir/ir/scales.h"
#include "exir/ops/builtin.h"

namespace taper::xnnpack {

struct Compiled {
  std::unique_ptr<exir::Graph> graph;
  std::vector<std::string> outside;

  const wire::XNNGraph& payload(size_t i = 0) const {
    return *wire::GetXNNGraph(graph->delegates.at(i)->payload.data() + 32);
  }
  // "XN01", or "XT01" if it holds anything of Taper's own.
  std::string identifier() const {
    return {flatbuffers::GetBufferIdentifier(graph->delegates.at(0)->payload.data() + 32), 4};
  }
  // "Conv2d Add": the kinds of the nodes in order.
  std::string kinds(size_t i = 0) const {
    std::string text;
    for (const wire::XNode* node : *payload(i).nodes()) {
      text += (text.empty() ? "" : " ") + std::string(EnumNameNodeContent(node->content_type()));
      if (node->range() != nullptr) text += "*";
    }
    return text;
  }
};

// Takes groups of nodes, however little they gain.
inline const exir::PartitionOptions kAll = {exir::Groups::kAll, false};

// Gives the graph's nodes to XNNPACK, and says which stay outside.
inline void delegate(Compiled& compiled, const exir::PartitionOptions& options,
                     const exir::BackendCompilers& compilers) {
  exir::Delegation delegation;
  exir::partition(*compiled.graph, compilers, options, &delegation);
  for (const auto& node : compiled.graph->nodes) {
    const auto why = delegation.outside.find(node.get());
    if (why == delegation.outside.end()) continue;
    compiled.outside.push_back(std::string(node->target()) + ": " + why->second);
  }
}

inline Compiled compile(const std::string& body, const exir::PartitionOptions& options = {}) {
  Compiled result;
  result.graph = exir::parse_body(body);
  delegate(result, options, {std::make_shared<XnnpackCompiler>()});
  return result;
}

// The integers of a constant of two channels, as constant folding finds them.
inline std::shared_ptr<const exir::Scales> integers_of(const exir::Value& constant) {
  auto scales = std::make_shared<exir::Scales>();
  scales->items = {0.5f, 0.25f};
  const size_t count = constant.data.bytes / sizeof(float);
  scales->span = count / 2;
  std::vector<uint8_t> integers;
  for (size_t i = 0; i < count; ++i) {
    const float element = reinterpret_cast<const float*>(constant.data.data)[i];
    integers.push_back(
        static_cast<uint8_t>(static_cast<int8_t>(element / scales->items[i / scales->span])));
  }
  scales->integers = exir::own_bytes(std::move(integers));
  scales->bits = exir::bits_of(scales->integers, scales->dtype);
  return scales;
}

// Compiles a graph whose constant %w is stored as integers, these or its own.
inline Compiled compile_bytes(const std::string& body,
                              const std::shared_ptr<const exir::Scales>& scales = nullptr,
                              const exir::BackendCompilers& compilers = {
                                  std::make_shared<XnnpackCompiler>()}) {
  Compiled result;
  result.graph = exir::parse_body(body);
  for (exir::Value* constant : result.graph->constants) {
    if (constant->name != "w") continue;
    constant->scales = scales != nullptr ? scales : integers_of(*constant);
    constant->data.data = nullptr;
  }
  exir::PartitionOptions options;
  options.groups = exir::Groups::kAll;
  delegate(result, options, compilers);
  return result;
}

// A convolution %c of an image %x.
inline constexpr char kConv[] = R"(  input %x: float32[1, 3, 8, 8]
  constant %w: float32[4, 3, 1, 1] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
  constant %b: float32[4] = {1, 2, 3, 4}
  %c: float32[1, 4, 8, 8] = aten::convolution(%x, %w, %b, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)
)";

}  // namespace taper::xnnpack
