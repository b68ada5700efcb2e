// Reads, lowers, plans and emits.

#include "exir/export.h"

#include <algorithm>
#include <unordered_set>

#include "exir/ops/registry.h"
#include "kernels_portable/kernel_table.h"
#include "taper/kernel.h"

namespace taper::exir {
namespace {

constexpr uint64_t kArenaAlignment = 16;

// A mutation whose source is itself written by a mutation, or is an input or constant, gets a copy
// first: the write-backs run one after another and must not see each other.
void separate_mutations(Graph& graph) {
  std::unordered_set<const Value*> targets;
  for (const Mutation& mutation : graph.mutations) targets.insert(mutation.target);
  for (Mutation& mutation : graph.mutations) {
    if (targets.count(mutation.source) == 0 || mutation.source == mutation.target) continue;
    Node* node = graph.append(need_schema("aten::clone.out"), {mutation.source, Argument()});
    Value* copy = graph.new_tensor(mutation.source->name, mutation.source->type);
    node->name = mutation.source->name;
    copy->producer = node;
    node->outputs.push_back(copy);
    mutation.source = copy;
  }
  std::erase_if(graph.mutations, [](const Mutation& m) { return m.source == m.target; });
}

// Memory is planned for upper bounds, so every symbol needs one: the caller's, the program's, or
// its value at the sample inputs, with a warning.
void bound_symbols(Graph& graph, const SymValues& bounds, std::vector<std::string>& warnings) {
  for (auto& [symbol, range] : graph.ranges) {
    if (const auto given = bounds.find(symbol); given != bounds.end()) {
      if (given->second < range.min) {
        throw Failure("the bound " + std::to_string(given->second) + " of " + symbol +
                      " is below its minimum " + std::to_string(range.min));
      }
      range.max = given->second;
      continue;
    }
    const auto hint = graph.hints.find(symbol);
    if (range.max != SymRange::kUnbounded || hint == graph.hints.end()) continue;
    range.max = std::max(range.min, hint->second);
    warnings.push_back("the size " + symbol + " has no upper bound: planned for " +
                       std::to_string(range.max) +
                       ", its value at the sample inputs; export with "
                       "torch.export.Dim(..., max=N) or use --bound " +
                       symbol + "=N");
  }
}

PlannedMethod plan_method(const std::string& name, Graph& graph) {
  PlannedMethod method;
  method.name = name;
  method.graph = &graph;
  separate_mutations(graph);
  method.schedule = make_schedule(graph);
  method.storages = assign_storages(graph, method.schedule);
  method.plan = plan_memory(method.storages.rows, kArenaAlignment);
  check_plan(method.storages.rows, method.plan, kArenaAlignment);
  return method;
}

bool portable_has(std::string_view name) {
  return find_kernel(portable::portable_kernels(), name) != nullptr;
}

PlannedMethod export_method(const ExportRequest::Method& method, const ExportRequest& request,
                            const LowerOptions& options, ExportResult& result) {
  result.programs.push_back(import_pt2(method.path));
  ExportedProgram& program = result.programs.back();
  ExportedMethod report;
  report.name = method.name;
  report.warnings = program.warnings;
  bound_symbols(*program.graph, request.bounds, report.warnings);
  report.passes = lower(*program.graph, options);
  PlannedMethod planned = plan_method(method.name, *program.graph);
  report.plan = planned.plan;
  report.instructions = planned.schedule.steps.size() - planned.storages.elided.size();
  result.methods.push_back(std::move(report));
  return planned;
}

}  // namespace

ExportResult export_program(const ExportRequest& request) {
  LowerOptions options = request.lowering;
  if (!options.has_kernel) options.has_kernel = portable_has;
  ExportResult result;
  std::vector<PlannedMethod> planned;
  planned.reserve(request.methods.size());
  for (const ExportRequest::Method& method : request.methods) {
    try {
      planned.push_back(export_method(method, request, options, result));
    } catch (const Failure& failure) {
      if (request.methods.size() == 1) throw;
      throw Failure("method " + method.name + ": " + failure.what(), failure.diagnostics());
    }
  }
  std::vector<const PlannedMethod*> methods;
  for (const PlannedMethod& method : planned) methods.push_back(&method);
  result.files = emit_program(std::move(methods), request.weights_outside);
  return result;
}

}  // namespace taper::exir
