// The compiler half of the XNNPACK backend.

#pragma once

#include "exir/delegate/compiler_descriptor.h"

namespace taper::xnnpack {

// Options that the compiler half reads; aot/descriptor.cpp has the table of all options.
inline constexpr char kMinElements[] = "min_elements";
inline constexpr char kWidenFloat16[] = "widen_float16";
inline constexpr char kSplitWeights[] = "split_weights";

class XnnpackCompiler final : public exir::BackendCompiler {
 public:
  XnnpackCompiler();  // All options have their default values.
  explicit XnnpackCompiler(const exir::CompileOptions& options);

  bool keeps_whole(const exir::Node& node, const exir::Graph& graph) const override;
  bool widens_half() const override { return widens_half_; }
  bool takes_integers() const override { return true; }
  std::string refusal(const exir::Node& node, const exir::Graph& graph) const override;
  std::vector<exir::Misfit> misfits(const exir::Part& part) const override;
  bool pays(const exir::Part& part) const override;
  std::shared_ptr<exir::Delegate> compile(const exir::Part& part) const override;

 private:
  const int64_t min_elements_;
  const bool widens_half_;
  const bool splits_weights_;
};

}  // namespace taper::xnnpack
