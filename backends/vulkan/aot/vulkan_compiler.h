// The compiler half of the Vulkan delegate. What it takes is what the planner plans: it asks the
// code that the device runs, with limits that every device has.

#pragma once

#include "exir/delegate/backend_compiler.h"
#include "exir/delegate/compiler_descriptor.h"

namespace taper::vulkan {

// Option: how many elements a group computes at least, if it has no products.
inline constexpr std::string_view kMinElements = "min_elements";

class VulkanCompiler final : public exir::BackendCompiler {
 public:
  // With `for_executorch`, payloads are for ExecuTorch's runtime, and this one.
  explicit VulkanCompiler(const exir::CompileOptions& options, bool for_executorch = false);

  bool keeps_whole(const exir::Node& node, const exir::Graph& graph) const override;
  bool widens_half() const override { return true; }
  bool takes_integers() const override { return true; }
  bool keeps_states() const override { return true; }
  std::string refusal(const exir::Node& node, const exir::Graph& graph) const override;
  std::vector<exir::Misfit> misfits(const exir::Part& part) const override;
  bool pays(const exir::Part& part) const override;
  std::shared_ptr<exir::Delegate> compile(const exir::Part& part) const override;
  std::shared_ptr<const exir::BackendCompiler> for_executorch() const override;

 private:
  std::string executorch_refusal(const exir::Node& node, exir::Delegate& delegate) const;

  const exir::CompileOptions options_;
  const int64_t min_elements_;
  const bool in_half_;
  const bool for_executorch_;
};

}  // namespace taper::vulkan
