// taper export: compiles exported PyTorch programs into one .pte.

#include <chrono>
#include <cstdio>
#include <filesystem>

#include "tools/atomic_file.h"
#include "tools/backends.h"
#include "tools/commands.h"
#include "tools/commands/precision.h"
#include "tools/commands/sources.h"
#include "tools/error.h"
#include "tools/export/compile.h"
#include "tools/export/report.h"
#include "tools/system.h"
#include "tools/text/terminal.h"

namespace taper::tools {
namespace {

struct ExportOptions : CompileOptions {
  std::string output, weights;
  std::vector<std::string> dump_after;
  bool sources = false;  // --format=c
  bool own_ops = false;  // --ops
  std::vector<std::string> inputs;
  bool report = false, time_passes = false;
};

CommandLine describe() {
  return {
      "taper export",
      "Compiles what torch.export.save wrote (PyTorch 2.6 to 2.15) into a .pte.\n\n"
      "Several programs become the methods of one file:\n"
      "  taper export encoder=a.pt2 decoder=b.pt2 -o model.pte\n",
      "[NAME=]MODEL.pt2... [OPTIONS]",
      {{"Output",
        {{"o,output", "The program to write; default: the model's name with .pte", "FILE.pte"},
         {"format", "pte, or c: a folder of sources for firmware (-o names it)", "FORMAT", "pte"},
         {"w,external-weights", "Write the weights to a separate file", "W.ptd"},
         {"report", "Print every node with where it runs and why, and the memory plan"}}},
       {"Program", compile_options()},
       {"Model", model_options()},
       {"Compiler",
        {{"inputs", "Inputs on which --precision measures; default: drawn at random",
          "A.npy,B.npy"},
         {"list-backends", "Print the backends and their options"},
         {"dump-after", "Print the graph after a pass if it changed it; 'all': after every pass",
          "PASS"},
         {"time-passes", "Print what each pass changed and how long it took"},
         {"list-passes", "Print the names of the passes, in order"}}}}};
}

ExportOptions options_of(const CommandLine& line) {
  ExportOptions options;
  static_cast<CompileOptions&>(options) = compile_options_of(line);
  options.output = line.text("output");
  options.weights = line.text("external-weights");
  const std::string format = line.text("format");
  options.sources = format == "c";
  options.own_ops = line.given("ops");
  if (format != "pte" && format != "c")
    throw UsageError("--format must be pte or c, not '" + format + "'");
  if (options.sources && (options.output.empty() || !options.weights.empty())) {
    throw UsageError("--format=c needs -o FOLDER and does not take --external-weights");
  }
  if (options.output.empty()) {
    if (options.request.methods.size() > 1) throw UsageError("several programs need -o FILE.pte");
    options.output =
        system::as_text(system::as_path(options.request.methods[0].path).stem()) + ".pte";
  }
  options.inputs = line.list("inputs");
  if (!options.inputs.empty() && options.numerals == exir::Numerals::kFloat32)
    throw UsageError("--inputs needs --precision=f16 or bf16");
  options.request.weights_outside = !options.weights.empty();
  options.dump_after = passes_of(line, "dump-after", true);
  options.report = line.given("report");
  options.time_passes = line.given("time-passes");
  return options;
}

// Has the graph printed after the passes that --dump-after names.
void dump_passes(ExportOptions& options) {
  options.request.lowering.after_pass = [wanted = options.dump_after](std::string_view pass,
                                                                      const exir::Graph& graph) {
    for (const std::string& name : wanted) {
      if (name != pass && name != "all") continue;
      std::printf("# after %s\n%s\n", std::string(pass).c_str(), exir::print(graph).c_str());
      return;
    }
  };
}

// Shows on a terminal how far it is, unless graphs are printed.
exir::ExportResult compile_visibly(ExportOptions& options) {
  Progress progress;
  if (options.dump_after.empty()) {
    options.request.lowering.before_pass = [&](std::string_view pass, size_t done, size_t total) {
      progress.show("compiling: " + std::string(pass), done, total);
    };
  } else {
    dump_passes(options);
  }
  return compile(options);
}

void print_passes(const exir::ExportedMethod& method) {
  std::printf("\npasses of %s\n", method.name.c_str());
  for (const exir::PassReport& pass : method.passes) {
    std::printf("  %-28s %6d changes  %s\n", pass.name.c_str(), pass.changes,
                time_text(pass.seconds).c_str());
  }
}

// Writes the program as sources; see tools/commands/sources.h.
void write_sources(const ExportOptions& options, const std::string& pte) {
  const std::string& folder = options.output;
  const SourceFiles made = sources_of(pte, options.own_ops);
  std::error_code problem;
  std::filesystem::create_directories(system::as_path(folder), problem);
  if (problem) throw InputError(folder + ": " + problem.default_error_condition().message());
  OutputFiles files;
  for (const auto& [name, text] : made) files.add(folder + "/" + name, text);
  files.commit();
}

// A model is not replaced by what is made of it.
void check_not_written(const ExportOptions& options) {
  for (const exir::ExportRequest::Method& method : options.request.methods) {
    for (const std::string& path : {options.output, options.weights}) {
      if (path.empty() || !is_same_file(path, method.path)) continue;
      throw InputError("'" + path + "' is the model itself; write to another file");
    }
  }
}

void write(const ExportOptions& options, const exir::ExportResult& result) {
  if (options.sources) return write_sources(options, result.files.pte.joined());
  Progress progress;
  OutputFiles files([&](uint64_t done, uint64_t total) { progress.show("writing", done, total); });
  files.add(options.output, result.files.pte.pieces());
  if (!options.weights.empty()) files.add(options.weights, result.files.ptd.pieces());
  files.commit();
}

void warn(const exir::ExportResult& result) {
  for (const exir::ExportedMethod& method : result.methods) {
    for (const std::string& warning : method.warnings) {
      std::fprintf(stderr, "taper: warning: %s\n", warning.c_str());
    }
  }
}

// What float16 or bfloat16 changes, per method and output. A program that cannot run here, or not
// on such inputs, is no error.
void print_changes(const ExportOptions& options, const exir::ExportResult& result) {
  const char* numerals = options.numerals == exir::Numerals::kFloat16 ? "float16" : "bfloat16";
  for (const exir::ExportedMethod& method : result.methods) {
    try {
      for (const OutputChange& change :
           changes_by_rounding(options.output, options.weights, method.name, options.inputs)) {
        std::printf("  %s in %s: %s\n", method.name.c_str(), numerals, text_of(change).c_str());
      }
    } catch (const InputError& error) {
      print_note(std::string("what ") + numerals + " changes is not measured: " + error.what());
    }
  }
}

void summarise(const ExportOptions& options, const exir::ExportResult& result, double seconds) {
  for (size_t i = 0; i < result.methods.size(); ++i) {
    if (options.time_passes) print_passes(result.methods[i]);
    if (options.report) {
      std::printf("\n%s", report_text(result.methods[i], *result.programs[i].graph,
                                      options.request.lowering.backends)
                              .c_str());
    }
  }
  std::printf("%s  %s  in %s\n", options.output.c_str(),
              bytes_text(static_cast<double>(result.files.pte.size())).c_str(),
              time_text(seconds).c_str());
  if (!options.weights.empty()) {
    std::printf("%s  %s\n", options.weights.c_str(),
                bytes_text(static_cast<double>(result.files.ptd.size())).c_str());
  }
  for (const exir::ExportedMethod& method : result.methods) {
    std::printf("  %s\n", summary_text(method).c_str());
    const std::string by_aten = aten_text(method);
    if (!by_aten.empty()) std::printf("    %s\n", by_aten.c_str());
    for (size_t k = 0; k < options.request.memories.size(); ++k) {
      std::printf("    %s: %llu bytes\n", options.request.memories[k].name.c_str(),
                  static_cast<unsigned long long>(method.plan.buffer_bytes[k]));
    }
  }
}

}  // namespace

int export_command(int argc, char** argv) {
  CommandLine line = describe();
  if (!line.parse(argc, argv)) return 0;
  if (line.given("list-passes")) {
    for (const std::string& name : exir::pass_names()) std::printf("%s\n", name.c_str());
    return 0;
  }
  if (line.given("list-backends")) {
    std::printf("%s", list_backends().c_str());
    return 0;
  }
  ExportOptions options = options_of(line);
  check_not_written(options);
  const auto start = std::chrono::steady_clock::now();
  const exir::ExportResult result = compile_visibly(options);
  write(options, result);
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  warn(result);
  summarise(options, result, passed.count());
  if (options.numerals != exir::Numerals::kFloat32 && !options.sources) {
    print_changes(options, result);
  }
  return 0;
}

}  // namespace taper::tools
