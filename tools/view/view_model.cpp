// The compiler calls back after each pass. Its program is kept in memory, without its weights.

#include "tools/view/view_model.h"

#include <filesystem>

#include "exir/pipeline.h"
#include "taper/module.h"
#include "tools/error.h"
#include "tools/model_arguments.h"
#include "tools/program_runner.h"
#include "tools/system.h"
#include "tools/text/plan_text.h"
#include "tools/text/terminal.h"
#include "tools/view/graph_step.h"
#include "tools/view/program_step.h"

namespace taper::tools {
namespace {

// The dialect that a pass leaves behind.
std::string dialect_after(std::string_view pass) {
  for (const exir::Pass& each : exir::all_passes()) {
    if (pass == each.name) return to_string(each.after);
  }
  return "";
}

void add_step(const exir::Graph& graph, std::string title, std::string note,
              ViewDocument& document) {
  ViewStep step = graph_step(graph, document);
  step.title = std::move(title);
  step.note = std::move(note);
  document.steps.push_back(std::move(step));
}

void add_problems(const exir::Failure& failure, ViewDocument& document) {
  for (const exir::Diagnostic& each : failure.diagnostics()) {
    std::string text = each.where.empty() ? each.message : each.where + ": " + each.message;
    if (!each.source.empty()) text += " (" + each.source + ")";
    if (!each.remedy.empty()) text += "; " + each.remedy;
    document.problems.push_back(std::move(text));
  }
  if (document.problems.empty()) document.problems.push_back(failure.what());
}

// The program as `taper export` writes it, but for the weights.
void add_program_of(const exir::ExportResult& result, ViewDocument& document) {
  const exir::ExportedMethod& method = result.methods[0];
  std::map<std::string, std::string> why;
  for (const auto& node : result.programs[0].graph->nodes) {
    const auto reason = method.delegation.outside.find(node.get());
    if (reason != method.delegation.outside.end()) why[node->name] = reason->second;
  }
  document.facts.emplace_back("memory", plan_text(method.plan));
  const exir::FileInMemory file = result.files.pte.aligned();
  Module module({file.data(), file.size()});
  const Status status = module.load();
  if (!status.ok()) throw InputError(module.last_error_text());
  const DelegateInside inside(*result.programs[0].graph, document);
  add_program(*module.program(), why, inside, document);
}

}  // namespace

void add_exported_graph(const exir::ExportRequest& request, ViewDocument& document) {
  const exir::ExportRequest::Method& method = request.methods[0];
  std::vector<exir::Diagnostic> unreadable;
  const exir::ExportedProgram program = exir::import_pt2(
      method.path,
      {.model = method.model, .operators = request.operators, .problems = &unreadable});
  document.facts.emplace_back("PyTorch", program.torch_version);
  document.facts.emplace_back("container", program.container);
  add_step(*program.graph, "as exported", "ATen", document);
}

bool add_compiled_model(exir::ExportRequest request, ViewDocument& document) {
  request.debug = exir::DebugLevel::kFull;
  request.weights_outside = true;
  add_exported_graph(request, document);
  request.lowering.after_pass = [&](std::string_view pass, const exir::Graph& graph) {
    add_step(graph, std::string(pass), dialect_after(pass), document);
  };
  try {
    add_program_of(exir::export_program(request), document);
  } catch (const exir::Failure& failure) {
    add_problems(naming_the_file(request, failure), document);
    return false;
  } catch (const InputError& error) {  // The runtime refuses what was compiled.
    document.problems.push_back(error.what());
    return false;
  }
  return true;
}

void add_program_file(const std::string& path, ViewDocument& document) {
  Module module(path);
  const Status status = module.load();
  if (!status.ok()) throw InputError(load_problem(module, status, path));
  const double bytes = static_cast<double>(std::filesystem::file_size(system::as_path(path)));
  document.facts.emplace_back("size", bytes_text(bytes));
  add_program(*module.program(), {}, {}, document);
}

}  // namespace taper::tools
