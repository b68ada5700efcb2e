// Kernels and copying forms are found by name: "_copy", "executorch_prim::", or the out variant.

#include "exir/ops/variants.h"

#include "exir/ir/registry.h"

namespace taper::exir {

std::string copy_twin(std::string_view target) {
  const size_t dot = target.find('.');
  const std::string base(target.substr(0, dot));
  return base + "_copy" + (dot == std::string_view::npos ? "" : std::string(target.substr(dot)));
}

std::shared_ptr<const Schema> kernel_schema(const OperatorRegistry& operators,
                                            const Schema& schema) {
  constexpr std::string_view kPython = "python::";
  const std::string_view target = schema.name;
  if (target.substr(0, kPython.size()) == kPython) {
    std::string prim = "executorch_prim::" + std::string(target.substr(kPython.size()));
    if (prim.find('.') == std::string::npos) prim += ".Scalar";
    return operators.find(prim);
  }
  return operators.out_variant(target);
}

bool is_out_argument(const SchemaArg& arg) { return arg.written() && arg.keyword_only; }

std::vector<WrittenResult> written_results(const Node& node) {
  std::vector<WrittenResult> found;
  size_t outs = 0;
  for (size_t i = 0; i < node.schema->args.size(); ++i) {
    const SchemaArg& arg = node.schema->args[i];
    if (is_out_argument(arg)) ++outs;
    if (arg.written() && !arg.keyword_only) found.push_back({i, 0});
  }
  if (found.empty() || node.outputs.size() != outs + found.size()) return {};
  for (size_t k = 0; k < found.size(); ++k) found[k].output = outs + k;
  return found;
}

}  // namespace taper::exir
