// taper view: writes a page that shows a model: its graph, what the compiler makes of it, and its
// memory.

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "tools/atomic_file.h"
#include "tools/backends.h"
#include "tools/commands.h"
#include "tools/error.h"
#include "tools/model_arguments.h"
#include "tools/system.h"
#include "tools/text/terminal.h"
#include "tools/view/model_explorer.h"
#include "tools/view/page.h"
#include "tools/view/reports.h"
#include "tools/view/view_model.h"

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
         {"compare", "Colour nodes by error: what 'taper compare --json' printed", "ERRORS.json"}}},
       {"Model", std::move(model)}}};
}

void read_model(const CommandLine& line, ViewDocument& document) {
  exir::ExportRequest request = model_request(line);
  if (request.methods.size() != 1) throw UsageError("give one model; --model picks one of several");
  request.lowering.backends = compilers_of(line.joined("backend"));
  if (add_compiled_model(std::move(request), document)) return;
  print_note(line.file() + " cannot be compiled; the page shows it as far as it gets, and why");
}

void read_program(const CommandLine& line, ViewDocument& document) {
  for (const char* option : {"backend", "bound", "model", "ops"}) {
    if (line.given(option)) throw UsageError(std::string("--") + option + " needs a .pt2");
  }
  add_program_file(line.file(), document);
  const bool has_lines = std::any_of(document.calls().begin(), document.calls().end(),
                                     [](const ViewCall& call) { return !call.line.empty(); });
  if (has_lines) return;
  print_note(line.file() +
             " does not say where its instructions come from; export it with --debug-info");
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
  const std::filesystem::path name = system::as_path(path);
  ViewDocument document;
  document.file = system::as_text(name.filename());
  read_head(path).substr(0, 2) == "PK" ? read_model(line, document) : read_program(line, document);
  if (line.given("profile")) add_profile(line.text("profile"), document);
  if (line.given("compare")) add_comparison(line.text("compare"), document);
  std::string output = line.text("output");
  if (output.empty()) output = system::as_text(name.stem()) + (as_graph ? ".json" : ".html");
  const std::string text =
      as_graph ? model_explorer_json(document) : view_page(document.file, document.json());
  write_file(output, text);
  std::printf("%s  %s\n", output.c_str(), bytes_text(static_cast<double>(text.size())).c_str());
  return 0;
}

}  // namespace taper::tools
