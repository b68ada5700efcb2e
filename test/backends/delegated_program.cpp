// Lowers graphs with backends, and runs the emitted program from memory.

#include "test/backends/delegated_program.h"

#include <gtest/gtest.h>

#include "backends/compilers.h"
#include "exir/export.h"
#include "exir/ops/builtin.h"
#include "kernels_portable/kernel_table.h"

namespace taper::test {
namespace {

ModuleOptions module_options(const std::vector<Backend>& backends) {
  static const KernelTable tables[] = {portable::portable_kernels()};
  ModuleOptions options;
  options.kernels = tables;
  options.backends = {backends.data(), backends.size()};
  return options;
}

}  // namespace

size_t Lowered::delegates() const {
  size_t count = 0;
  for (const auto& graph : graphs) count += graph->delegates.size();
  return count;
}

size_t Lowered::delegated_nodes() const {
  size_t count = 0;
  for (const exir::Delegation& delegation : delegations) {
    for (const exir::Delegation::Call& call : delegation.calls) count += call.nodes.size();
  }
  return count;
}

std::vector<std::string> Lowered::refusals() const {
  std::vector<std::string> all;
  for (const exir::Delegation& delegation : delegations) {
    for (const auto& [node, why] : delegation.outside) all.push_back(why);
  }
  return all;
}

std::vector<uint8_t> Lowered::emit() {
  std::vector<exir::PlannedMethod> methods;
  for (const auto& graph : graphs) {
    exir::PlannedMethod& method = methods.emplace_back(exir::plan_method(graph->name, *graph));
    for (const auto& backend : backends) {
      method.specs[std::string(backend->delegate_id())] = backend->specs();
    }
  }
  std::vector<const exir::PlannedMethod*> pointers;
  for (const exir::PlannedMethod& method : methods) pointers.push_back(&method);
  const std::string file = exir::emit_program(std::move(pointers), {}).pte.joined();
  return {file.begin(), file.end()};
}

Lowered lower_for(const std::string& backends, std::vector<std::unique_ptr<exir::Graph>> graphs) {
  Lowered lowered;
  exir::LowerOptions options;
  options.backends = lowered.backends = exir::make_compilers(backends, backend_compilers());
  options.delegated = exir::Groups::kAll;
  for (const auto& graph : graphs) {
    options.delegation = &lowered.delegations.emplace_back();
    exir::lower(*graph, options);
  }
  lowered.graphs = std::move(graphs);
  return lowered;
}

Lowered lower_for(const std::string& backends, const std::string& graph_text) {
  std::vector<std::unique_ptr<exir::Graph>> graphs;
  graphs.push_back(exir::parse_graph(graph_text));
  return lower_for(backends, std::move(graphs));
}

DelegatedProgram::DelegatedProgram(std::vector<uint8_t> file, std::vector<Backend> backends)
    : file_(std::move(file)),
      backends_(std::move(backends)),
      module_(Span<const uint8_t>(file_.data(), file_.size()), module_options(backends_)) {}

std::string DelegatedProgram::load_error(const std::string& method) {
  return module_.load_method(method).ok() ? "" : error();
}

std::vector<EValue> DelegatedProgram::run(const std::vector<EValue>& inputs,
                                          const std::string& method) {
  Result<std::vector<EValue>> outputs = module_.execute(method, {inputs.data(), inputs.size()});
  return outputs.ok() ? *outputs : std::vector<EValue>();
}

Backend backend_of(const Subject& subject, Device& device) {
  return {subject.device->identity.delegate_id, &device.interface()};
}

bool can_round(const Subject& subject) {
  const std::string graph = R"(graph "forward" {
  input %x: float32[1, 2]
  constant %w: float32[2, 2] = {1, 2, 3, 4}
  %y: float32[1, 2] = aten::linear(%x, %w, None)
  return %y
})";
  const std::string backend = subject.name + ":" + std::string(subject.compiler->half_option);
  const std::unique_ptr<Device> device = make_device(subject, 1, Numbers::kRounded);
  DelegatedProgram program(lower_for(backend + "=1", graph).emit(), {backend_of(subject, *device)});
  return program.load_error().empty();
}

}  // namespace taper::test
