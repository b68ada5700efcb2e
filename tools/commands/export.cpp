// taper export: compiles exported PyTorch programs into one .pte.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>

#include "exir/export.h"
#include "selective_build/firmware.h"
#include "tools/atomic_file.h"
#include "tools/backends.h"
#include "tools/commands.h"
#include "tools/commands/precision.h"
#include "tools/error.h"
#include "tools/memory_budget.h"
#include "tools/model_arguments.h"
#include "tools/plan_text.h"
#include "tools/terminal.h"

namespace taper::tools {
namespace {

struct ExportOptions {
  exir::ExportRequest request;
  std::string output, weights;
  std::vector<std::string> dump_after;
  uint64_t budget = UINT64_MAX;
  bool sources = false;  // --format=c
  bool own_ops = false;  // --ops
  std::vector<std::string> inputs;
  bool in_half = false;  // --precision=f16
  bool report = false, time_passes = false, full_delegation = false;
};

CommandLine describe() {
  return {
      "taper export",
      "Compiles what torch.export.save wrote (PyTorch 2.6 to 2.14) into a .pte.\n\n"
      "Several programs become the methods of one file:\n"
      "  taper export encoder=a.pt2 decoder=b.pt2 -o model.pte\n",
      "[NAME=]MODEL.pt2... [OPTIONS]",
      {{"Output",
        {{"o,output", "The program to write; default: the model's name with .pte", "FILE.pte"},
         {"format", "pte, or c: a folder of sources for firmware (-o names it)", "FORMAT", "pte"},
         {"w,external-weights", "Write the weights to a separate file", "W.ptd"},
         {"backend",
          "Backends that run the operators, by preference, with options; see --list-backends",
          "A:KEY=N,B", "portable"},
         {"precision",
          "f32, or f16: backends multiply float16 with float32 sums; prints what that changes",
          "PRECISION", "f32"},
         {"inputs", "Inputs on which --precision=f16 measures; default: drawn at random",
          "A.npy,B.npy"},
         {"compat", "executorch: write what the runtime in ExecuTorch's wheel can run", "RUNTIME"},
         {"require-full-delegation", "Fail unless backends run every node of the program"},
         {"delegate-all", "Also delegate what is slower that way, to test backends"},
         {"list-backends", "Print the backends and their options"},
         {"memory-budget", "Fail if a method's block and planned buffers need more than this",
          "256K"},
         {"memory", "Memories to distribute tensors over, the fastest first", "sram=256K,dram"},
         {"debug-info",
          "Write where instructions come from (for 'taper profile') even if that is more than 3 % "
          "of "
          "the file"},
         {"strip-debug", "Do not write where instructions come from"},
         {"report", "Print every node with where it runs and why, and the memory plan"}}},
       {"Model", model_options()},
       {"Compiler",
        {{"dump-after", "Print the graph after a pass if it changed it; 'all': after every pass",
          "PASS"},
         {"disable-pass", "Skip a pass, to find the one with a bug", "PASS"},
         {"time-passes", "Print what each pass changed and how long it took"},
         {"list-passes", "Print the names of the passes, in order"}}}}};
}

bool is_pass(const std::string& name) {
  const std::vector<std::string>& names = exir::pass_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

exir::DebugLevel debug_level(const CommandLine& line) {
  const bool is_full = line.given("debug-info"), is_none = line.given("strip-debug");
  if (is_full && is_none) throw UsageError("--debug-info and --strip-debug exclude each other");
  if (is_full) return exir::DebugLevel::kFull;
  return is_none ? exir::DebugLevel::kNone : exir::DebugLevel::kIfSmall;
}

std::vector<std::string> passes_of(const CommandLine& line, const std::string& option,
                                   bool allow_all) {
  std::vector<std::string> names = line.list(option);
  for (const std::string& name : names) {
    if (is_pass(name) || (allow_all && name == "all")) continue;
    throw UsageError("--" + option + ": '" + name + "' is not a pass; see --list-passes");
  }
  return names;
}

// Parses --memory, such as "sram=256K,dram"; the last memory may be unbounded.
std::vector<exir::MemoryBuffer> memories_of(const CommandLine& line) {
  std::vector<exir::MemoryBuffer> memories;
  const std::vector<std::string> items = line.list("memory");
  for (const std::string& item : items) {
    const size_t equals = item.find('=');
    exir::MemoryBuffer memory;
    memory.name = item.substr(0, equals);
    if (equals != item.npos) memory.bytes = bytes_of_text(item.substr(equals + 1), "memory");
    memories.push_back(memory);
    if (memory.name.empty() || (equals == item.npos && memories.size() < items.size())) {
      throw UsageError("--memory: '" + item + "': every memory but the last must be NAME=SIZE");
    }
  }
  return memories;
}

ExportOptions options_of(const CommandLine& line) {
  ExportOptions options;
  options.request = model_request(line);
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
        std::filesystem::path(options.request.methods[0].path).stem().string() + ".pte";
  }
  const std::string precision = line.text("precision");
  if (precision != "f32" && precision != "f16") {
    throw UsageError("--precision must be f32 or f16, not '" + precision + "'");
  }
  options.in_half = precision == "f16";
  options.inputs = line.list("inputs");
  if (!options.inputs.empty() && !options.in_half)
    throw UsageError("--inputs needs --precision=f16");
  options.request.lowering.backends = compilers_of(line.text("backend"), options.in_half);
  options.full_delegation = line.given("require-full-delegation");
  if (options.full_delegation && options.request.lowering.backends.empty()) {
    throw UsageError("--require-full-delegation needs --backend");
  }
  if (line.given("delegate-all")) options.request.lowering.delegated = exir::Groups::kAll;
  if (line.given("compat")) {
    if (line.text("compat") != "executorch") {
      throw UsageError("--compat must be executorch, not '" + line.text("compat") + "'");
    }
    options.request.lowering.for_executorch = true;
  }
  options.request.weights_outside = !options.weights.empty();
  options.request.debug = debug_level(line);
  options.dump_after = passes_of(line, "dump-after", true);
  options.request.lowering.disabled = passes_of(line, "disable-pass", false);
  if (line.given("memory-budget")) {
    options.budget = bytes_of_text(line.text("memory-budget"), "memory-budget");
  }
  options.request.memories = memories_of(line);
  options.report = line.given("report");
  options.time_passes = line.given("time-passes");
  return options;
}

void print_passes(const exir::ExportedMethod& method) {
  std::printf("\npasses of %s\n", method.name.c_str());
  for (const exir::PassReport& pass : method.passes) {
    std::printf("  %-28s %6d changes  %s\n", pass.name.c_str(), pass.changes,
                time_text(pass.seconds).c_str());
  }
}

// "portable  reason  line of the user's source".
std::string why_outside(const exir::Node& node, const exir::ExportedMethod& method) {
  const auto why = method.delegation.outside.find(&node);
  const std::string source = node.source ? node.source->newest_frame() : "";
  return "portable  " + (why == method.delegation.outside.end() ? "" : why->second + "  ") + source;
}

void print_line(const std::string& name, std::string_view target, const std::string& where) {
  std::printf("  %-24s %-40s %s\n", name.c_str(), std::string(target).c_str(), where.c_str());
}

// "9 nodes: 6 int8, 2 float32", where a backend says in what it computes.
std::string nodes_text(const exir::Delegation::Call& call) {
  std::string text = std::to_string(call.nodes.size()) + " nodes";
  std::map<std::string, size_t> counts;
  for (const exir::Delegation::Member& member : call.nodes) {
    const std::string what = member.computed_in.substr(0, member.computed_in.find(':'));
    if (!what.empty()) ++counts[what];
  }
  const char* separator = ": ";
  for (const auto& [what, count] : counts) {
    text += separator + std::to_string(count) + " " + what;
    separator = ", ";
  }
  return text;
}

// Prints the call and its nodes, with what they are computed in, and the reasons why preferred
// backends did not take them.
void print_delegate(const exir::Node& node, const exir::Delegation::Call& call) {
  print_line(node.name, node.target(), call.backend + "  " + nodes_text(call));
  for (const exir::Delegation::Member& member : call.nodes) {
    std::string line = member.target;
    for (const std::string& more : {member.computed_in, member.refusals}) {
      if (!more.empty()) line += "  " + more;
    }
    std::printf("    %-24s %s\n", member.name.c_str(), line.c_str());
  }
}

// "52 nodes in 1 call of NAME, " for each backend.
std::string delegated_text(const exir::Delegation& delegation,
                           const exir::BackendCompilers& backends) {
  std::string text;
  for (const auto& backend : backends) {
    size_t nodes = 0, calls = 0;
    for (const exir::Delegation::Call& call : delegation.calls) {
      if (call.backend != backend->name()) continue;
      nodes += call.nodes.size();
      ++calls;
    }
    text += std::to_string(nodes) + " nodes in " + std::to_string(calls) +
            (calls == 1 ? " call of " : " calls of ") + std::string(backend->name()) + ", ";
  }
  return text;
}

void print_report(const exir::ExportedMethod& method, const exir::Graph& graph,
                  const exir::BackendCompilers& backends) {
  std::printf("\nmethod %s: %zu instructions\n", method.name.c_str(), method.instructions);
  const std::vector<exir::Delegation::Call>& calls = method.delegation.calls;
  std::map<std::string, size_t> counts;
  for (const auto& node : graph.nodes) {
    ++counts[std::string(node->target())];
    if (node->is("delegate::call")) {
      print_delegate(*node, calls.at(static_cast<size_t>(node->arg(0).to_int())));
    } else {
      print_line(node->name, node->target(), why_outside(*node, method));
    }
  }
  if (backends.empty()) {
    std::printf("  %zu nodes, %zu operators; all run on portable: no other backend was given\n",
                graph.nodes.size(), counts.size());
  } else {
    std::printf("  %s%zu on portable\n", delegated_text(method.delegation, backends).c_str(),
                graph.nodes.size() - calls.size());
  }
  for (const auto& [name, count] : counts) std::printf("    %6zu  %s\n", count, name.c_str());
}

// True of conditions on inputs and arithmetic on sizes, which no backend is asked to run.
bool computes_no_tensor(const exir::Node& node) {
  return std::none_of(node.outputs.begin(), node.outputs.end(), [](const exir::Value* value) {
    return value->kind == exir::ValueKind::kTensor;
  });
}

// Throws if any node that computes a tensor runs outside the backends; each such node is a problem.
void require_full_delegation(const exir::ExportResult& result) {
  std::vector<exir::Diagnostic> problems;
  for (size_t i = 0; i < result.methods.size(); ++i) {
    for (const auto& node : result.programs[i].graph->nodes) {
      const auto& outside = result.methods[i].delegation.outside;
      const auto why = outside.find(node.get());
      if (why == outside.end() || computes_no_tensor(*node)) continue;
      problems.push_back(exir::diagnose(*node, "not-delegated",
                                        std::string(node->target()) + ": " + why->second,
                                        "omit --require-full-delegation to run it on portable "
                                        "kernels"));
    }
  }
  if (problems.empty()) return;
  const std::string summary = std::to_string(problems.size()) +
                              (problems.size() == 1 ? " node runs" : " nodes run") +
                              " outside the backends";
  throw exir::Failure(summary, std::move(problems));
}

exir::ExportResult compile(ExportOptions& options) {
  Progress progress;
  if (options.dump_after.empty()) {
    options.request.lowering.before_pass = [&](std::string_view pass, size_t done, size_t total) {
      progress.show("compiling: " + std::string(pass), done, total);
    };
  } else {
    options.request.lowering.after_pass = [&](std::string_view pass, const exir::Graph& graph) {
      for (const std::string& name : options.dump_after) {
        if (name != pass && name != "all") continue;
        std::printf("# after %s\n%s\n", std::string(pass).c_str(), exir::print(graph).c_str());
        return;
      }
    };
  }
  try {
    exir::ExportResult result = exir::export_program(options.request);
    if (options.full_delegation) require_full_delegation(result);
    return result;
  } catch (const exir::Failure& failure) {
    throw naming_the_file(options.request, failure);
  }
}

// Writes the program as sources; see selective_build/firmware.h. Operators that --ops declares and
// that have no portable kernel are left to the application.
void write_sources(const ExportOptions& options, const std::string& pte) {
  const std::string& folder = options.output;
  select::Needs needs;
  const std::string refused = select::add_needs(pte, "the model", &needs);
  if (!refused.empty()) throw InputError(refused);
  select::Request request;
  for (const auto& [name, need] : needs.operators) {
    if (options.own_ops && select::find_portable_kernel(name) == nullptr) {
      request.own.push_back(name);
    }
  }
  select::FirmwareFiles made;
  const select::Selection selection = select::select(needs, request, &made.problems);
  if (made.problems.empty()) made = select::firmware_files(pte, selection, request.own);
  if (!made.problems.empty()) throw InputError("--format=c: " + made.problems[0]);
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) throw InputError(folder + ": " + problem.message());
  OutputFiles files;
  for (const auto& [name, text] : made.files) files.add(folder + "/" + name, text);
  files.commit();
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

// What float16 changes, per method and output. A program that cannot run here, or not on such
// inputs, is no error.
void print_changes(const ExportOptions& options, const exir::ExportResult& result) {
  for (const exir::ExportedMethod& method : result.methods) {
    try {
      for (const OutputChange& change :
           changes_by_half(options.output, options.weights, method.name, options.inputs)) {
        std::printf("  %s in float16: %s\n", method.name.c_str(), text_of(change).c_str());
      }
    } catch (const InputError& error) {
      print_note("what float16 changes is not measured: " + std::string(error.what()));
    }
  }
}

void summarise(const ExportOptions& options, const exir::ExportResult& result, double seconds) {
  for (size_t i = 0; i < result.methods.size(); ++i) {
    if (options.time_passes) print_passes(result.methods[i]);
    if (options.report) {
      print_report(result.methods[i], *result.programs[i].graph, options.request.lowering.backends);
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
    std::printf("  %s: %zu instructions, %s\n", method.name.c_str(), method.instructions,
                plan_text(method.plan).c_str());
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
  const auto start = std::chrono::steady_clock::now();
  const exir::ExportResult result = compile(options);
  if (options.budget != UINT64_MAX) require_budget(result.files.pte.joined(), options.budget);
  write(options, result);
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  warn(result);
  summarise(options, result, passed.count());
  if (options.in_half && !options.sources) print_changes(options, result);
  return 0;
}

}  // namespace taper::tools
