// Finds the kernel of a node by its out variant and calls it on constant data.

#include "exir/passes/kernels/run_kernel.h"

#include "exir/ops/builtin.h"
#include "exir/passes/kernels/kernel_call.h"
#include "kernels_portable/kernel_table.h"

namespace taper::exir {

std::optional<std::vector<TensorData>> run_kernel(const Node& node, const DataOf& data_of) {
  const std::shared_ptr<const Schema> out = builtin_operators()->out_variant(node.target());
  if (out == nullptr) return std::nullopt;
  const Kernel* kernel = find_kernel(portable::portable_kernels(), out->name);
  if (kernel == nullptr) return std::nullopt;
  CallInputs inputs;
  inputs.data = data_of;
  inputs.type = [](const Value* value) {
    return value->type.is_static() ? std::optional(value->type) : std::nullopt;
  };
  inputs.number = [](const Value* value) {
    return value->sym.is_int() ? std::optional(value->sym.as_int()) : std::nullopt;
  };
  KernelCall call(node, inputs);
  if (!call.prepare(*out)) return std::nullopt;
  const std::optional<Status> status = call.run(*kernel);
  if (!status || !status->ok()) return std::nullopt;
  auto results = call.results();
  if (results.size() != node.outputs.size()) return std::nullopt;
  return results;
}

}  // namespace taper::exir
