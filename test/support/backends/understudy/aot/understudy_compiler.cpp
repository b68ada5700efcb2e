// Selects nodes that have a portable kernel without side effects, and compiles partitions of them.

#include "test/support/backends/understudy/aot/understudy_compiler.h"

#include <algorithm>
#include <utility>

#include "exir/ir/registry.h"
#include "exir/ops/variants.h"
#include "kernels_portable/kernel_table.h"
#include "test/support/backends/understudy/aot/payload_writer.h"
#include "test/support/backends/understudy/descriptor.h"

namespace taper::understudy {
namespace {

using exir::Graph;
using exir::Node;
using exir::Value;

// "aten::add.Tensor" -> "add".
std::string_view base_name(std::string_view target) {
  target.remove_prefix(std::min(target.find("::") + 2, target.size()));
  return target.substr(0, target.find('.'));
}

// Whether the kernel writes only its results.
bool is_functional(const exir::Schema& kernel) {
  return std::all_of(kernel.args.begin(), kernel.args.end(), [](const exir::SchemaArg& arg) {
    return !arg.written() || exir::is_out_argument(arg);
  });
}

std::string value_problem(const Value* value, const Graph& graph) {
  if (value->kind != exir::ValueKind::kTensor) return "a number is known only at run time";
  for (const exir::Sym& size : value->type.sizes) {
    if (size.range(graph.ranges).max > INT32_MAX)
      return "the size " + size.text() + " is unbounded";
  }
  return {};
}

}  // namespace

UnderstudyCompiler::UnderstudyCompiler(Wanted wanted, std::vector<exir::OwnedCompileSpec> specs)
    : BackendCompiler(kIdentity, std::move(specs)), wanted_(std::move(wanted)) {}

std::string UnderstudyCompiler::refusal(const Node& node, const Graph& graph) const {
  if (!wanted_(base_name(node.target()))) return "the options do not select it";
  const auto kernel =
      exir::is_refused(node) ? nullptr : graph.operators()->out_variant(node.target());
  if (kernel == nullptr || find_kernel(portable::portable_kernels(), kernel->name) == nullptr) {
    return "there is no portable kernel for it";
  }
  if (!is_functional(*kernel)) return "it writes an argument";
  if (graph.operators()->tags(node.target()).random) return "it draws random numbers";
  std::string problem;
  const auto check = [&](const Value* value) {
    if (problem.empty()) problem = value_problem(value, graph);
  };
  exir::for_each_value(node, check);
  for (const Value* output : node.outputs) check(output);
  return problem;
}

std::shared_ptr<exir::Delegate> UnderstudyCompiler::compile(const exir::Part& part) const {
  PayloadWriter writer(part);
  for (const Node* node : part.nodes) writer.add(*node);
  return std::make_shared<exir::Delegate>(writer.finish());
}

}  // namespace taper::understudy
