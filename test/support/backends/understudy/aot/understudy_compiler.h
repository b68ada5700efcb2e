// The compiler half of the understudy: takes the operators that its options select, if there are
// portable kernels for them.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "exir/delegate/backend_compiler.h"

namespace taper::understudy {

class UnderstudyCompiler final : public exir::BackendCompiler {
 public:
  // Whether to take an operator, by its name without namespace and overload: "add".
  using Wanted = std::function<bool(std::string_view name)>;

  UnderstudyCompiler(Wanted wanted, std::vector<exir::OwnedCompileSpec> specs);

  std::string refusal(const exir::Node& node, const exir::Graph& graph) const override;
  std::shared_ptr<exir::Delegate> compile(const exir::Part& part) const override;

 private:
  const Wanted wanted_;
};

}  // namespace taper::understudy
