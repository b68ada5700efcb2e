// taper check: lists everything that prevents compiling exported programs.

#include <cstdio>

#include "tools/commands.h"
#include "tools/commands/json_option.h"
#include "tools/error.h"
#include "tools/model_arguments.h"
#include "tools/problems.h"

namespace taper::tools {
namespace {

CommandLine describe() {
  OptionGroup group = {"Check", model_options()};
  group.options.push_back(json_option(""));
  return {"taper check",
          "Compiles exported programs without writing anything and lists everything that prevents\n"
          "it: each problem with an id, the stage that found it, the node, the line of the user's\n"
          "source and a remedy. Sizes without an upper bound count as problems here; 'taper\n"
          "export' plans them for the sample inputs and warns.\n\n"
          "Exit codes: 0 no problems, 1 there are problems, 2 the command line is wrong.\n",
          "[NAME=]MODEL.pt2... [OPTIONS]",
          {std::move(group)}};
}

struct Findings {
  std::vector<exir::Diagnostic> problems;
  std::vector<std::string> warnings;
  std::string summary;
};

Findings look(const exir::ExportRequest& request) {
  Findings out;
  try {
    for (const exir::ExportedMethod& method : exir::export_program(request).methods) {
      out.warnings.insert(out.warnings.end(), method.warnings.begin(), method.warnings.end());
    }
  } catch (const exir::Failure& failure) {
    const exir::Failure named = naming_the_file(request, failure);
    out.summary = named.what();
    out.problems = named.diagnostics();
    if (out.problems.empty()) out.problems.push_back({"refused", out.summary, "", "", ""});
  }
  return out;
}

std::string json_of(const exir::ExportRequest& request, const Findings& found) {
  JsonWriter json;
  json.open('{').key("ok").boolean(found.problems.empty()).key("files").open('[');
  for (const auto& method : request.methods) json.text(method.path);
  json.close(']').key("problems");
  add_problems(json, found.problems);
  json.key("warnings").open('[');
  for (const std::string& warning : found.warnings) json.text(warning);
  json.close(']').close('}');
  return json.str();
}

}  // namespace

int check_command(int argc, char** argv) {
  CommandLine line = describe();
  if (!line.parse(argc, argv)) return 0;
  exir::ExportRequest request = model_request(line);
  request.bounds_required = true;
  const Findings found = look(request);
  const bool has_text = give_json(line, json_of(request, found));
  if (has_text && !found.problems.empty()) print_problems(stdout, found.problems);
  if (has_text && found.problems.empty()) {
    std::printf("%s: no problems found\n", request.methods[0].path.c_str());
    for (const std::string& warning : found.warnings) {
      std::fprintf(stderr, "taper: warning: %s\n", warning.c_str());
    }
  }
  if (!found.problems.empty()) throw InputError(found.summary);
  return 0;
}

}  // namespace taper::tools
