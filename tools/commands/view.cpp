// taper view: writes a page that shows a model: its graph, what the compiler makes of it, and its
// memory.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "exir/pipeline.h"
#include "taper/module.h"
#include "tools/atomic_file.h"
#include "tools/backends.h"
#include "tools/commands.h"
#include "tools/error.h"
#include "tools/model_arguments.h"
#include "tools/plan_text.h"
#include "tools/program_runner.h"
#include "tools/terminal.h"
#include "tools/view/graph_step.h"
#include "tools/view/model_explorer.h"
#include "tools/view/page.h"
#include "tools/view/program_step.h"
#include "tools/view/reports.h"

namespace taper::tools {
namespace {

CommandLine describe() {
  std::vector<Option> model = model_options();
  model.push_back({"backend", "For a .pt2: the backends that run it, as in 'taper export'",
                   "A:KEY=N,B", "portable"});
  return {
      "taper view",
      "Writes one HTML page, which needs no network, that shows a model: its graph by modules,\n"
      "with shapes and source lines; what each pass of the compiler changes (of a .pt2); who runs\n"
      "each node; and which tensor lies where in memory, and when.\n",
      "MODEL.pt2|MODEL.pte [OPTIONS]",
      {{"Output",
        {{"o,output", "The page to write; default: the model's name with .html", "FILE.html"},
         {"format", "html, or model-explorer: a graph as JSON for Google's Model Explorer",
          "FORMAT", "html"},
         {"profile", "Colour nodes by time: what 'taper profile --json' printed", "TIMES.json"},
         {"compare", "Colour nodes by error: what 'taper compare --json' printed",
          "ERRORS.json"}}},
       {"Model", std::move(model)}}};
}

constexpr std::pair<exir::Dialect, const char*> kDialects[] = {
    {exir::Dialect::kAten, "ATen"},
    {exir::Dialect::kCoreAten, "Core ATen"},
    {exir::Dialect::kEdge, "Edge"},
    {exir::Dialect::kBackend, "Backend"}};

// The dialect that a pass leaves behind.
std::string dialect_after(std::string_view pass) {
  for (const exir::Pass& each : exir::all_passes()) {
    if (pass != each.name) continue;
    for (const auto& [dialect, name] : kDialects) {
      if (dialect == each.after) return name;
    }
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
void add_exported(const exir::ExportResult& result, ViewDocument& document) {
  const exir::ExportedMethod& method = result.methods[0];
  std::map<std::string, std::string> why;
  for (const auto& node : result.programs[0].graph->nodes) {
    const auto reason = method.delegation.outside.find(node.get());
    if (reason != method.delegation.outside.end()) why[node->name] = reason->second;
  }
  document.facts.emplace_back("memory", plan_text(method.plan));
  std::vector<uint64_t> bytes((result.files.pte.size() + 7) / 8);
  uint8_t* to = reinterpret_cast<uint8_t*>(bytes.data());
  for (const auto& piece : result.files.pte.pieces()) {
    if (!piece.empty()) std::memcpy(to, piece.data(), piece.size());
    to += piece.size();
  }
  Module module({reinterpret_cast<const uint8_t*>(bytes.data()), result.files.pte.size()});
  const Status status = module.load();
  if (!status.ok()) throw InputError(module.last_error_text());
  const DelegateInside inside(*result.programs[0].graph, document);
  add_program(*module.program(), why, inside, document);
}

// Compiles a .pt2 and keeps every step. A model that cannot be compiled is shown as far as it got.
void read_exported(const CommandLine& line, ViewDocument& document) {
  exir::ExportRequest request = model_request(line);
  if (request.methods.size() != 1) throw UsageError("give one model; --model picks one of several");
  request.debug = exir::DebugLevel::kFull;
  request.weights_outside = true;
  request.lowering.backends = compilers_of(line.text("backend"));
  const exir::ExportRequest::Method& method = request.methods[0];
  std::vector<exir::Diagnostic> unreadable;
  const exir::ExportedProgram program = exir::import_pt2(
      method.path,
      {.model = method.model, .operators = request.operators, .problems = &unreadable});
  document.facts.emplace_back("PyTorch", program.torch_version);
  document.facts.emplace_back("container", program.container);
  add_step(*program.graph, "as exported", "ATen", document);
  request.lowering.after_pass = [&](std::string_view pass, const exir::Graph& graph) {
    add_step(graph, std::string(pass), dialect_after(pass), document);
  };
  try {
    add_exported(exir::export_program(request), document);
  } catch (const exir::Failure& failure) {
    add_problems(naming_the_file(request, failure), document);
    print_note(method.path + " cannot be compiled; the page shows it as far as it gets, and why");
  }
}

void read_program(const CommandLine& line, ViewDocument& document) {
  for (const char* option : {"backend", "bound", "model", "ops"}) {
    if (line.given(option)) throw UsageError(std::string("--") + option + " needs a .pt2");
  }
  const std::string path = line.file();
  Module module(path);
  const Status status = module.load();
  if (!status.ok()) throw InputError(load_problem(module, status, path));
  const double bytes = static_cast<double>(std::filesystem::file_size(path));
  document.facts.emplace_back("size", bytes_text(bytes));
  add_program(*module.program(), {}, {}, document);
  const bool has_lines = std::any_of(document.calls().begin(), document.calls().end(),
                                     [](const ViewCall& call) { return !call.line.empty(); });
  if (!has_lines) {
    print_note(path + " does not say where its instructions come from; export it with --debug-info");
  }
}

}  // namespace

int view_command(int argc, char** argv) {
  CommandLine line = describe();
  if (!line.parse(argc, argv)) return 0;
  const std::string path = line.file();
  const std::string format = line.text("format");
  const bool as_graph = format == "model-explorer";
  if (!as_graph && format != "html") {
    throw UsageError("--format must be html or model-explorer, not '" + format + "'");
  }
  const std::filesystem::path name(path);
  ViewDocument document;
  document.file = name.filename().string();
  read_head(path).substr(0, 2) == "PK" ? read_exported(line, document)
                                       : read_program(line, document);
  if (line.given("profile")) add_profile(line.text("profile"), document);
  if (line.given("compare")) add_comparison(line.text("compare"), document);
  std::string output = line.text("output");
  if (output.empty()) output = name.stem().string() + (as_graph ? ".json" : ".html");
  const std::string text =
      as_graph ? model_explorer_json(document) : view_page(document.file, document.json());
  write_file(output, text);
  std::printf("%s  %s\n", output.c_str(), bytes_text(static_cast<double>(text.size())).c_str());
  return 0;
}

}  // namespace taper::tools
