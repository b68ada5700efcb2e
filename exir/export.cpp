// Reads, lowers, plans and emits.

#include "exir/export.h"

#include "exir/bounds.h"
#include "exir/emit/signature.h"
#include "kernels_portable/kernel_table.h"
#include "taper/kernel.h"

namespace taper::exir {
namespace {

constexpr uint64_t kArenaAlignment = 16;

PlannedMethod plan_method(const std::string& name, Graph& graph) {
  PlannedMethod method;
  method.name = name;
  method.graph = &graph;
  check_bounds(graph);
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
  const std::string signature = signature_text(signature_of(*program.graph));
  report.passes = lower(*program.graph, options);
  PlannedMethod planned = plan_method(method.name, *program.graph);
  planned.signature = signature;
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
