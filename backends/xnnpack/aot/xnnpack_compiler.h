// The compiler half of the XNNPACK backend.

#pragma once

#include "exir/delegate/backend_compiler.h"

namespace taper::xnnpack {

class XnnpackCompiler final : public exir::BackendCompiler {
 public:
  std::string_view name() const override { return "xnnpack"; }
  bool keeps_whole(const exir::Node& node, const exir::Graph& graph) const override;
  std::string refusal(const exir::Node& node, const exir::Graph& graph) const override;
  std::vector<exir::Misfit> misfits(const exir::Part& part) const override;
  bool pays(const exir::Part& part) const override;
  std::shared_ptr<const exir::Delegate> compile(const exir::Part& part) const override;
};

}  // namespace taper::xnnpack
