// Reads, lowers, plans and emits.

#include "exir/export.h"

#include <optional>
#include <set>

#include "exir/bounds.h"
#include "exir/emit/signature.h"
#include "exir/ops/aten_calls.h"

namespace taper::exir {
namespace {

constexpr uint64_t kArenaAlignment = 16;

// One method on its way.
struct Exported {
  ExportedProgram program;
  ExportedMethod report;
  PlannedMethod planned;
  std::optional<std::set<std::string>> symbols;  // None if it could not be read.
};

// The same with the method's name everywhere.
Failure of_method(const std::string& name, const Failure& failure) {
  std::vector<Diagnostic> diagnostics = failure.diagnostics();
  for (Diagnostic& d : diagnostics) d.where = name + (d.where.empty() ? "" : "." + d.where);
  return Failure("method " + name + ": " + failure.what(), std::move(diagnostics));
}

// Runs a stage; what it refuses is kept. Returns whether it went through.
template <typename Stage>
bool try_stage(const char* name, Findings& findings, const Stage& stage) {
  try {
    stage();
    return true;
  } catch (const Failure& failure) {
    findings.add(name, failure);
    return false;
  }
}

void export_method(const ExportRequest::Method& method, const ExportRequest& request, Exported& out,
                   Findings& findings) {
  std::vector<Diagnostic> problems;
  out.program = import_pt2(method.path, {.model = method.model,
                                         .operators = request.operators,
                                         .problems = &problems,
                                         .file = method.file});
  findings.add("import", std::move(problems));
  Graph& graph = *out.program.graph;
  out.report.name = method.name;
  out.report.warnings = out.program.warnings;
  if (request.bounds_required) findings.add("bounds", sampled_symbols(graph, request.bounds));
  try_stage("bounds", findings, [&] { bound_symbols(graph, request.bounds, out.report.warnings); });
  out.symbols = symbols_of(graph);
  const std::string signature = signature_text(signature_of(graph));
  LowerOptions lowering = request.lowering;
  lowering.delegation = &out.report.delegation;
  lowering.warnings = &out.report.warnings;
  const bool lowered =
      try_stage("lower", findings, [&] { out.report.passes = lower(graph, lowering); });
  if (lowered && lowering.aten) out.report.by_aten = calls_of_aten(graph);
  try_stage("bounds", findings, [&] { check_bounds(graph); });
  if (!lowered || !findings.empty()) return;
  try_stage("plan", findings,
            [&] { out.planned = plan_method(method.name, graph, request.memories, request.io); });
  out.planned.signature = signature;
  for (const auto& backend : request.lowering.backends) {
    out.planned.specs[std::string(backend->delegate_id())] = backend->specs();
  }
  out.report.plan = out.planned.plan;
  out.report.instructions = out.planned.schedule.steps.size() - out.planned.storages.elided.size();
}

// A bound holds for every method that has such a symbol.
void check_bounded(const SymValues& bounds, const std::vector<Exported>& methods) {
  std::set<std::string> symbols;
  for (const Exported& method : methods) {
    if (!method.symbols) return;
    symbols.insert(method.symbols->begin(), method.symbols->end());
  }
  check_symbols(bounds, symbols);
}

}  // namespace

PlannedMethod plan_method(const std::string& name, Graph& graph,
                          const std::vector<MemoryBuffer>& memories, IoMemory io) {
  PlannedMethod method;
  method.name = name;
  method.graph = &graph;
  check_bounds(graph);
  method.schedule = make_schedule(graph);
  method.storages = assign_storages(graph, method.schedule, io);
  method.plan = place_memory(method.storages.rows, kArenaAlignment, memories);
  check_plan(method.storages.rows, method.plan, kArenaAlignment);
  return method;
}

ExportResult export_program(const ExportRequest& request) {
  std::vector<Exported> all(request.methods.size());
  Findings everything;
  for (size_t i = 0; i < all.size(); ++i) {
    const ExportRequest::Method& method = request.methods[i];
    Findings own;
    Findings& findings = all.size() == 1 ? everything : own;
    try_stage("import", findings, [&] { export_method(method, request, all[i], findings); });
    try {
      own.throw_if_any();
    } catch (const Failure& failure) {
      everything.add("", of_method(method.name, failure));
    }
  }
  try_stage("bounds", everything, [&] { check_bounded(request.bounds, all); });
  everything.throw_if_any();
  ExportResult result;
  std::vector<const PlannedMethod*> methods;
  for (Exported& each : all) {
    methods.push_back(&each.planned);
    result.methods.push_back(std::move(each.report));
    result.programs.push_back(std::move(each.program));
  }
  result.files = emit_program(std::move(methods), {request.weights_outside, request.debug});
  return result;
}

}  // namespace taper::exir
