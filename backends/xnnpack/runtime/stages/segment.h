// The usual stage: consecutive nodes that XNNPACK computes.

#pragma once

#include <memory>

#include "backends/xnnpack/runtime/stages/fused/epilogue.h"
#include "backends/xnnpack/runtime/stages/stage.h"

namespace taper::xnnpack {

class Segment final : public Stage {
 public:
  ~Segment() override;

  // Builds nodes [first, last) of the graph, except those that are not needed; in float16 if
  // `in_half` and if XNNPACK has kernels for all of them. epilogues[n] follows node n and replaces
  // the next ones, if it has nodes. The graph and these must live as long as this. On return no
  // value has an xnn_id.
  Status build(const Subgraph& graph, size_t first, size_t last, const Fusion* epilogues,
               const Shared& shared, bool in_half);

  Status reshape(Span<const XnnValue> values) override;
  uint64_t scratch_bytes() const override;
  Status bind(Span<void* const> places, void* scratch) override;
  Status run() override;
  bool tell_steps(NodeTimes& times) const override;

 private:
  // A value that is also used outside the segment; its index in the list is its id in XNNPACK.
  struct External {
    uint32_t id = kNone;
    bool is_result = false;
  };

  template <typename Visit>
  void visit_nodes(Visit visit) const;
  template <typename Visit>
  void visit_values(Visit visit) const;
  // As xnn_create_runtime_v4(), with nodes that are defined first.
  Status create(const Shared& shared, uint32_t flags);
  Status find_externals();
  Status define(xnn_subgraph_t subgraph, bool in_half);
  Status define_node(xnn_subgraph_t subgraph, size_t n) const;
  uint32_t conversions_of(size_t n) const;
  Status define_value(xnn_subgraph_t subgraph, uint32_t id, XnnValue& value) const;
  const XnnNode* node_of(uint32_t number) const;

  std::unique_ptr<External[]> externals_;
  std::unique_ptr<xnn_external_value[]> bound_;
  size_t external_count_ = 0;
  const Subgraph* graph_ = nullptr;  // Of nodes [first_, last_).
  size_t first_ = 0, last_ = 0;
  const Fusion* epilogues_ = nullptr;
  // With a profiler: by node, how many of XNNPACK's nodes there were after it was defined.
  std::unique_ptr<uint32_t[]> node_ends_;
  xnn_workspace_t workspace_ = nullptr;
  void* scratch_ = nullptr;  // The address of the workspace.
  xnn_runtime_t runtime_ = nullptr;
  bool is_bound_ = false;
};

}  // namespace taper::xnnpack
