// taper inspect: prints the contents of a .pte or a .pt2 as text or as JSON.

#include <cstdio>

#include "taper/module.h"
#include "tools/atomic_file.h"
#include "tools/commands.h"
#include "tools/commands/inspect.h"
#include "tools/error.h"
#include "tools/memory/memory_report.h"
#include "tools/model_arguments.h"
#include "tools/program_runner.h"
#include "tools/pte_summary.h"
#include "tools/text/json_writer.h"
#include "tools/text/terminal.h"

namespace taper::tools {
namespace {

CommandLine describe() {
  return {
      "taper inspect",
      "Shows the contents of a .pte or a .pt2: methods, inputs, outputs, operators, memory,\n"
      "sizes, delegates. Only --memory runs it.\n",
      "FILE [OPTIONS]",
      {{"Inspect",
        {{"json", "Print one JSON object; sizes are in bytes"},
         {"all",
          "For a .pte: list the data that it has by name, such as weights of delegates; with "
          "--memory all tensors and their places"},
         {"dialect", "Print a .pt2's graph in a dialect: aten, core, edge or backend", "DIALECT"},
         {"model", "Of a .pt2 with several models: the one to show", "NAME"},
         {"ops", "Declarations of custom operators", "OPS.txt"},
         {"memory",
          "For a .pte: its planned buffers and its delegates, what is alive at their peaks, and "
          "what "
          "it takes on this machine while it loads and runs, on inputs of ones"},
         {"w,external-weights", "With --memory: the .ptd that belongs to the program", "W.ptd"},
         {"svg", "With --memory: a picture of the buffers over time", "OUT.svg"}}}}};
}

std::string bold(const std::string& text) { return coloured(stdout, Colour::kBold, text); }

std::string bytes(uint64_t n) { return bytes_text(static_cast<double>(n)); }

void print_values(const char* what, const std::vector<ValueSummary>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    std::printf("  %-7s %2zu  %s\n", what, i, value_text(values[i]).c_str());
  }
}

void print_method(const MethodSummary& method) {
  std::printf("\n%s\n", bold("method " + method.name).c_str());
  print_values("input", method.inputs);
  print_values("output", method.outputs);
  std::printf("  code        %lld instructions, %lld values\n",
              static_cast<long long>(method.instructions), static_cast<long long>(method.values));
  uint64_t planned = 0;
  std::string arenas;
  for (const int64_t arena : method.arenas) {
    planned += static_cast<uint64_t>(arena);
    arenas += (arenas.empty() ? "" : " + ") + std::to_string(arena);
  }
  std::printf("  memory      %s planned (%s bytes)", bytes(planned).c_str(),
              arenas.empty() ? "0" : arenas.c_str());
  if (method.method_bytes != 0)
    std::printf(", %s method block", bytes(method.method_bytes).c_str());
  std::printf("\n  constants   %lld, mutable buffers %lld, external %zu\n",
              static_cast<long long>(method.constants),
              static_cast<long long>(method.mutable_buffers), method.external.size());
  for (const DelegateSummary& delegate : method.delegates) {
    std::printf("  delegate    %s, %s%s%s\n", delegate.id.c_str(), bytes(delegate.bytes).c_str(),
                delegate.text.empty() ? "" : ", ", delegate.text.c_str());
    for (const std::string& spec : delegate.specs) std::printf("    spec      %s\n", spec.c_str());
  }
  std::printf("  operators   %zu\n", method.operators.size());
  for (const auto& [name, calls] : method.operators) {
    std::printf("    %6lld  %s\n", static_cast<long long>(calls), name.c_str());
  }
}

// The parts of the file; named data may be hundreds of weights.
void print_parts(const PteSummary& summary, bool list_all) {
  std::printf("\n%s\n  program     %s\n  constants   %s\n", bold("file").c_str(),
              bytes(summary.program_bytes).c_str(), bytes(summary.constant_bytes).c_str());
  if (summary.mutable_bytes != 0) {
    std::printf("  state       %s\n", bytes(summary.mutable_bytes).c_str());
  }
  if (summary.named_data.empty()) return;
  uint64_t total = 0;
  for (const NamedDataSummary& each : summary.named_data) total += each.bytes;
  std::printf("  named data  %zu, %s%s\n", summary.named_data.size(), bytes(total).c_str(),
              list_all ? "" : "; --all lists them");
  if (!list_all) return;
  for (const NamedDataSummary& each : summary.named_data) {
    std::printf("    %10s  %s\n", bytes(each.bytes).c_str(), each.key.c_str());
  }
}

void print_text(const PteSummary& summary, const std::string& path, bool list_all) {
  std::printf("%s  %s\n", bold(path).c_str(), bytes(summary.file_bytes).c_str());
  for (const MethodSummary& method : summary.methods) print_method(method);
  print_parts(summary, list_all);
}

void add_values(JsonWriter& json, const char* key, const std::vector<ValueSummary>& values) {
  json.key(key).open('[');
  for (const ValueSummary& value : values) {
    json.open('{').key("kind").text(value.kind);
    if (value.kind == "tensor") {
      json.key("dtype").text(value.dtype).key("sizes").open('[');
      for (const int64_t size : value.sizes) json.number(size);
      json.close(']').key("dynamic").boolean(value.dynamic);
    } else if (!value.text.empty()) {
      json.key("value").text(value.text);
      if (value.varies) json.key("varies").boolean(true);
    }
    json.close('}');
  }
  json.close(']');
}

void add_method(JsonWriter& json, const MethodSummary& method) {
  json.open('{').key("name").text(method.name);
  add_values(json, "inputs", method.inputs);
  add_values(json, "outputs", method.outputs);
  json.key("instructions").number(method.instructions).key("values").number(method.values);
  json.key("operators").open('{');
  for (const auto& [name, calls] : method.operators) json.key(name).number(calls);
  json.close('}').key("delegates").open('[');
  for (const DelegateSummary& delegate : method.delegates) {
    json.open('{').key("id").text(delegate.id).key("bytes");
    json.number(static_cast<int64_t>(delegate.bytes));
    if (!delegate.text.empty()) json.key("payload").text(delegate.text);
    json.key("specs").open('[');
    for (const std::string& spec : delegate.specs) json.text(spec);
    json.close(']').close('}');
  }
  json.close(']').key("planned_bytes").open('[');
  for (const int64_t arena : method.arenas) json.number(arena);
  json.close(']').key("method_bytes").number(static_cast<int64_t>(method.method_bytes));
  json.key("constants").number(method.constants);
  json.key("mutable_buffers").number(method.mutable_buffers).key("external").open('[');
  for (const std::string& name : method.external) json.text(name);
  json.close(']').close('}');
}

void print_json(const PteSummary& summary) {
  JsonWriter json;
  json.open('{').key("kind").text("pte");
  json.key("file_bytes").number(static_cast<int64_t>(summary.file_bytes));
  json.key("program_bytes").number(static_cast<int64_t>(summary.program_bytes));
  json.key("constant_bytes").number(static_cast<int64_t>(summary.constant_bytes));
  json.key("mutable_bytes").number(static_cast<int64_t>(summary.mutable_bytes));
  json.key("named_data").open('[');
  for (const NamedDataSummary& each : summary.named_data) json.text(each.key);
  json.close(']').key("named_data_bytes").open('[');
  for (const NamedDataSummary& each : summary.named_data) {
    json.number(static_cast<int64_t>(each.bytes));
  }
  json.close(']').key("methods").open('[');
  for (const MethodSummary& method : summary.methods) add_method(json, method);
  json.close(']').close('}');
  std::printf("%s\n", json.str().c_str());
}

int show_memory(const CommandLine& line, const PteSummary& summary) {
  if (line.given("json")) throw UsageError("--memory prints no JSON");
  const std::string path = line.file();
  const std::vector<MethodMemory> methods = read_memory(read_file(path));
  Module module(path);
  if (!module.load().ok()) throw InputError(module.last_error_text());
  for (size_t i = 0; i < methods.size(); ++i) {
    MemoryReport report;
    report.planned = methods[i];
    report.summary = summary.methods[i];
    report.origins = origins_in(*module.program(), methods[i].name);
    report.loaded = loaded_memory(path, line.text("external-weights"), methods[i].name);
    if (i > 0) std::printf("\n");
    print_memory(report, summary, line.given("all"));
  }
  if (line.given("svg")) write_file(line.text("svg"), memory_svg(methods));
  return 0;
}

}  // namespace

int inspect_command(int argc, char** argv) {
  CommandLine line = describe();
  if (!line.parse(argc, argv)) return 0;
  const std::string path = line.file();
  const bool as_json = line.given("json");
  const bool pt2 = read_head(path).substr(0, 2) == "PK";
  if (line.given("dialect")) {
    if (!pt2) throw UsageError("--dialect needs a .pt2");
    return inspect_dialect(path, line.text("model"), line.text("dialect"), operators_of(line));
  }
  if (pt2 && (line.given("memory") || line.given("svg"))) {
    throw UsageError("--memory and --svg need a .pte, which 'taper export' makes of a .pt2");
  }
  if (pt2) return inspect_pt2(path, line.text("model"), as_json);
  const PteSummary summary = inspect_pte(path);
  if (line.given("memory") || line.given("svg")) return show_memory(line, summary);
  as_json ? print_json(summary) : print_text(summary, path, line.given("all"));
  return 0;
}

}  // namespace taper::tools
