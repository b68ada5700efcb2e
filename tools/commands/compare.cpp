// taper compare: where a compiled program begins to differ from the exported one.

#include <cstdio>
#include <filesystem>
#include <optional>

#include "tools/atomic_file.h"
#include "tools/commands.h"
#include "tools/commands/json_option.h"
#include "tools/compare/compare_programs.h"
#include "tools/error.h"
#include "tools/model_arguments.h"
#include "tools/npy.h"
#include "tools/options.h"
#include "tools/system.h"
#include "tools/text/terminal.h"
#include "tools/view/page.h"
#include "tools/view/view_model.h"

namespace taper::tools {
namespace {

CommandLine describe() {
  return {
      "taper compare",
      "The numeric debugger. Runs an exported program on the portable kernels and a .pte as it "
      "is,\n"
      "lines their tensors up by the exporter's names, and says at which node they begin to\n"
      "differ, which is worst, and whether the error is made there or comes from its inputs.\n"
      "The exit code is 0 if all tensors agree and 1 if not.\n\n"
      "With two .pte the second is compared with the first. With --expected the tensors of a "
      ".npz,\n"
      "by node name, are what is right; the .pt2 may then be left out. A .pte says what its\n"
      "tensors are called if it was exported with --debug-info, or is large beside that.\n",
      "[MODEL.pt2 | OTHER.pte] FILE.pte [OPTIONS]",
      {{"Compare",
        {{"m,method", "The method to run; default: forward, or the only one", "NAME"},
         {"i,inputs", "Tensor inputs in order; default: ones", "A.npy,B.npy"},
         {"e,expected", "The right tensors, by node name", "X.npz"},
         {"b,bound",
          "The largest error, relative to the largest value; default: 1e-4, for float16 1e-2, for "
          "bfloat16 3e-2, after quantisation 0.1. With a name: the upper bound of a symbolic "
          "size, as in 'taper export'",
          "T,SYMBOL=N"},
         {"exact", "Run the exported program in float64 where it has float32"},
         {"bisect", "Look into delegates that differ: compile the .pt2 again, cut at a node"},
         {"backend", "With --bisect: what --backend was; default: what the .pte has", "NAME"},
         {"t,threads", "Threads for kernels and backends", "N", "1"},
         {"portable-only", "Run the .pte without kernels optimized for this processor"},
         {"w,external-weights", "The .ptd that belongs to the program", "W.ptd"}}},
       {"Model",
        {{"model", "Of an archive with several models: the one to take; default: the method's",
          "NAME"},
         {"ops", "Declarations of custom operators", "OPS.txt"}}},
       {"Output",
        {{"top", "Print at most N tensors that differ; 0: all tensors", "N", "20"},
         json_option(", with all tensors"),
         {"html", "Write the page of 'taper view' too, with the error of each node",
          "FILE.html"}}}}};
}

bool is_archive(const std::string& path) { return read_head(path).substr(0, 2) == "PK"; }

// Errors and sizes have bounds: "1e-3,u0=9".
void read_bounds(const CommandLine& line, CompareRequest& request) {
  std::vector<std::string> errors, sizes;
  for (const std::string& item : line.list("bound")) {
    (item.find('=') == item.npos ? errors : sizes).push_back(item);
  }
  request.size_bounds = symbol_bounds(sizes);
  if (errors.empty() && (!sizes.empty() || !line.given("bound"))) return;
  request.bound = number_of("bound", errors.empty() ? "" : errors.back(), 0, 1e300);
}

CompareRequest request_of(const CommandLine& line) {
  CompareRequest request;
  const std::vector<std::string>& files = line.files();
  if (files.empty() || files.size() > 2) {
    throw UsageError("give a .pt2 or a .pte, and the .pte to compare with it");
  }
  if (files.size() == 1 && !line.given("expected")) {
    throw UsageError("there is nothing to compare '" + files[0] +
                     "' with: give a .pt2 or a .pte "
                     "before it, or --expected");
  }
  if (files.size() == 2) request.reference = files[0];
  request.program.path = files.back();
  request.program.data_path = line.text("external-weights");
  request.program.method = line.text("method");
  request.program.threads = static_cast<uint32_t>(line.integer("threads", 1, 1024));
  request.program.optimized = !line.given("portable-only");
  request.inputs = line.list("inputs");
  if (line.given("inputs") && request.inputs.empty()) throw UsageError("--inputs names no file");
  request.model = line.text("model");
  request.operators = operators_of(line);
  request.exact = line.given("exact");
  read_bounds(line, request);
  request.bisect = line.given("bisect");
  request.backend = line.joined("backend");
  return request;
}

ComparisonReport compare_as_asked(const CompareRequest& request) {
  if (is_archive(request.program.path)) {
    throw UsageError("'" + request.program.path + "' is not compiled: the .pte comes last");
  }
  const bool exported = !request.reference.empty() && is_archive(request.reference);
  if (!exported && !request.size_bounds.empty()) {
    throw UsageError("--bound SYMBOL=N is of a .pt2, and none is given");
  }
  if (request.reference.empty()) return compare_with_tensors(request);
  if (exported) return compare_with_exported(request);
  if (request.exact || request.bisect) {
    throw UsageError("--exact and --bisect need the .pt2 in place of '" + request.reference + "'");
  }
  return compare_with_compiled(request);
}

// The exported graph and the program, in the colours of the errors.
void write_page(const CommandLine& line, const CompareRequest& request,
                const ComparisonReport& report) {
  ViewDocument document;
  document.file = system::as_text(system::as_path(request.program.path).filename());
  if (!request.reference.empty() && is_archive(request.reference)) {
    exir::ExportRequest exported;
    exported.methods = {{"forward", request.reference, model_of(request, report.method)}};
    exported.operators = request.operators;
    add_exported_graph(exported, document);
  }
  add_program_file(request.program.path, document);
  document.comparison = comparison_json(report);
  write_file(line.text("html"), view_page(document.file, document.json()));
}

}  // namespace

int compare_command(int argc, char** argv) {
  CommandLine line = describe();
  if (!line.parse(argc, argv)) return 0;
  const size_t top = line.integer("top", 0, 1'000'000);
  CompareRequest request = request_of(line);
  if (line.given("expected")) {
    for (NamedArray& each : read_npz(line.text("expected"), "expected tensors")) {
      request.expected[each.member] = std::move(each.array);
    }
    if (request.expected.empty()) {
      throw InputError("'" + line.text("expected") + "' holds no tensor");
    }
  }
  std::optional<Progress> progress(std::in_place);
  request.progress = [&](size_t done, size_t total) { progress->show("comparing", done, total); };
  const ComparisonReport report = compare_as_asked(request);
  progress.reset();
  if (line.given("html")) write_page(line, request, report);
  if (give_json(line, comparison_json(report))) print_comparison(report, top);
  for (const std::string& note : report.notes) print_note(note);
  if (report.agrees()) return 0;
  const ComparedTensor* first = report.first();
  throw InputError("'" + report.program + "' differs from '" + report.reference + "'" +
                   (first == nullptr ? " within a delegate" : " at " + first->node));
}

}  // namespace taper::tools
