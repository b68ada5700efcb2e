// Reads the options, runs the compiler, and holds the result against what they ask for.

#include "tools/export/compile.h"

#include <algorithm>

#include "exir/ops/declare.h"
#include "tools/aten_kernels.h"
#include "tools/backends.h"
#include "tools/error.h"
#include "tools/memory/memory_budget.h"
#include "tools/model_arguments.h"

namespace taper::tools {
namespace {

exir::DebugLevel debug_level(const CommandLine& line) {
  const bool is_full = line.given("debug-info"), is_none = line.given("strip-debug");
  if (is_full && is_none) throw UsageError("--debug-info and --strip-debug exclude each other");
  if (is_full) return exir::DebugLevel::kFull;
  return is_none ? exir::DebugLevel::kNone : exir::DebugLevel::kIfSmall;
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

// One of the values that an option may have. Throws a UsageError that names them.
std::string choice(const CommandLine& line, const std::string& option, const std::string& a,
                   const std::string& b) {
  std::string given = line.text(option);
  if (given == a || given == b) return given;
  throw UsageError("--" + option + " must be " + a + " or " + b + ", not '" + given + "'");
}

// Whether PyTorch's operators run what has no kernel, and which ones its libraries add.
void choose_kernels(const CommandLine& line, exir::ExportRequest& request) {
  const AtenOptions aten = aten_options_of(line);
  request.lowering.aten = choice(line, "kernels", "portable", "aten") == "aten";
  if (request.lowering.aten && request.lowering.for_executorch) {
    throw UsageError("--kernels=aten and --compat=executorch exclude each other");
  }
  if (aten.wanted && !request.lowering.aten) throw UsageError("--aten needs --kernels=aten");
  if (const std::string own = aten_declarations(aten); !own.empty()) {
    request.operators = exir::declare_operators(request.operators, own, "--aten-library");
  }
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

}  // namespace

std::vector<Option> compile_options() {
  return {
      {"backend",
       "Backends that run the operators, by preference, with options; see 'taper export "
       "--list-backends'",
       "A:KEY=N,B", "portable"},
      {"precision",
       "f32; f16: backends compute in float16 where they can; bf16: products of bfloat16, summed "
       "in "
       "float32; prints what that changes",
       "PRECISION", "f32"},
      {"compat", "executorch: write what the runtime in ExecuTorch's wheel can run", "RUNTIME"},
      {"kernels",
       "portable, or aten: leave what they cannot run to PyTorch's own operators; the program then "
       "needs 'taper run --aten'",
       "KERNELS", "portable"},
      {"aten-library",
       "With --kernels=aten: libraries of custom operators, which need no --ops then", "A.so,B.so"},
      {"aten", "The libtaper_aten.so that opens them; default: the one beside this program",
       "FILE"},
      {"require-full-delegation", "Fail unless backends run every node of the program"},
      {"delegate-all", "Also delegate what is slower that way, to test backends"},
      {"io",
       "planned: inputs are copied into the plan's memory; application: inputs and outputs lie in "
       "buffers that the application binds, without copies",
       "MEMORY", "planned"},
      {"memory-budget", "Fail if a method's block and planned buffers need more than this", "256K"},
      {"memory", "Memories to distribute tensors over, the fastest first", "sram=256K,dram"},
      {"debug-info",
       "Write where instructions come from (for 'taper profile') even if that is more than 3 % of "
       "the file"},
      {"strip-debug", "Do not write where instructions come from"},
      {"disable-pass", "Skip a pass, to find the one with a bug", "PASS"}};
}

std::vector<std::string> passes_of(const CommandLine& line, const std::string& option,
                                   bool allow_all) {
  const std::vector<std::string>& known = exir::pass_names();
  std::vector<std::string> names = line.list(option);
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    if (allow_all && name == "all") continue;
    throw UsageError("--" + option + ": '" + name +
                     "' is not a pass; see 'taper export --list-passes'");
  }
  return names;
}

exir::Numerals numerals_of(const std::string& precision) {
  if (precision == "f32") return exir::Numerals::kFloat32;
  if (precision == "f16") return exir::Numerals::kFloat16;
  if (precision == "bf16") return exir::Numerals::kBfloat16;
  throw UsageError("--precision must be f32, f16 or bf16, not '" + precision + "'");
}

CompileOptions compile_options_of(const CommandLine& line, const Methods& in_memory) {
  CompileOptions options;
  exir::ExportRequest& request = options.request;
  request = model_request(line, in_memory);
  options.numerals = numerals_of(line.text("precision"));
  if (choice(line, "io", "planned", "application") == "application") {
    request.io = exir::IoMemory::kApplication;
  }
  request.lowering.backends = compilers_of(line.joined("backend"), options.numerals);
  options.full_delegation = line.given("require-full-delegation");
  if (options.full_delegation && request.lowering.backends.empty()) {
    throw UsageError("--require-full-delegation needs --backend");
  }
  if (line.given("delegate-all")) request.lowering.delegated = exir::Groups::kAll;
  if (line.given("compat")) {
    if (line.text("compat") != "executorch") {
      throw UsageError("--compat must be executorch, not '" + line.text("compat") + "'");
    }
    request.lowering.for_executorch = true;
  }
  choose_kernels(line, request);
  request.debug = debug_level(line);
  request.lowering.disabled = passes_of(line, "disable-pass", false);
  if (line.given("memory-budget")) {
    options.budget = bytes_of_text(line.text("memory-budget"), "memory-budget");
  }
  request.memories = memories_of(line);
  return options;
}

exir::ExportResult compile(const CompileOptions& options) {
  try {
    exir::ExportResult result = exir::export_program(options.request);
    if (options.full_delegation) require_full_delegation(result);
    if (options.budget != UINT64_MAX) require_budget(result.files.pte, options.budget);
    return result;
  } catch (const exir::Failure& failure) {
    throw naming_the_file(options.request, failure);
  }
}

}  // namespace taper::tools
