// Prints an exported program as the front end reads it, before any pass.

#include <cstdio>
#include <map>
#include <utility>

#include "exir/frontend/import.h"
#include "exir/lower.h"
#include "tools/commands/inspect.h"
#include "tools/error.h"
#include "tools/text/json_writer.h"
#include "tools/text/terminal.h"

namespace taper::tools {
namespace {

using exir::Argument;
using exir::Graph;
using exir::Value;

// "float32 (s0, 3)", "int", "literal".
std::string type_of(const Argument& argument) {
  if (argument.is_none()) return "None";
  if (!argument.is_value()) return "literal";
  const Value& value = *argument.value();
  if (value.kind == exir::ValueKind::kInt) return "int";
  if (value.kind == exir::ValueKind::kFloat) return "float";
  if (value.kind == exir::ValueKind::kBool) return "bool";
  std::string text = std::string(to_string(value.type.dtype)) + " (";
  for (size_t i = 0; i < value.type.sizes.size(); ++i) {
    text += (i == 0 ? "" : ", ") + value.type.sizes[i].text();
  }
  return text + (value.type.sizes.size() == 1 ? ",)" : ")");
}

struct Facts {
  std::map<std::string, int64_t> operators;
  int64_t constants = 0, states = 0, nodes = 0;
  uint64_t constant_bytes = 0;
};

Facts facts_of(const Graph& graph) {
  Facts facts;
  for (const auto& node : graph.nodes) {
    ++facts.nodes;
    ++facts.operators[std::string(node->target())];
  }
  for (const Value* value : graph.constants) {
    ++(value->role == exir::ValueRole::kState ? facts.states : facts.constants);
    facts.constant_bytes += value->data.bytes;
  }
  return facts;
}

std::string bound(int64_t value) {
  return value == exir::SymRange::kUnbounded ? "no limit" : std::to_string(value);
}

void print_text(const exir::ExportedProgram& program, const std::string& path) {
  const Graph& graph = *program.graph;
  const Facts facts = facts_of(graph);
  std::printf("%s  %s\n", coloured(stdout, Colour::kBold, path).c_str(), program.container.c_str());
  std::printf("  torch       %s, schema %d.%d\n", program.torch_version.c_str(),
              program.schema_major, program.schema_minor);
  for (const std::string& verifier : program.verifiers) {
    std::printf("  dialect     %s\n", verifier.c_str());
  }
  for (const std::string& model : program.models) std::printf("  model       %s\n", model.c_str());
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    std::printf("  input   %2zu  %s\n", i, type_of(graph.inputs[i]).c_str());
  }
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    std::printf("  output  %2zu  %s\n", i, type_of(graph.outputs[i]).c_str());
  }
  for (const auto& [name, range] : graph.ranges) {
    std::printf("  symbol      %s from %s to %s\n", name.c_str(), bound(range.min).c_str(),
                bound(range.max).c_str());
  }
  std::printf("  constants   %lld, %s; state %lld\n", static_cast<long long>(facts.constants),
              bytes_text(static_cast<double>(facts.constant_bytes)).c_str(),
              static_cast<long long>(facts.states));
  std::printf("  operators   %zu, %lld nodes\n", facts.operators.size(),
              static_cast<long long>(facts.nodes));
  for (const auto& [name, calls] : facts.operators) {
    std::printf("    %6lld  %s\n", static_cast<long long>(calls), name.c_str());
  }
  for (const std::string& warning : program.warnings) {
    std::fprintf(stderr, "taper: warning: %s\n", warning.c_str());
  }
}

void print_json(const exir::ExportedProgram& program) {
  const Graph& graph = *program.graph;
  const Facts facts = facts_of(graph);
  JsonWriter json;
  json.open('{').key("kind").text("pt2").key("container").text(program.container);
  json.key("torch").text(program.torch_version);
  json.key("schema").open('[').number(int64_t{program.schema_major});
  json.number(int64_t{program.schema_minor}).close(']').key("models").open('[');
  for (const std::string& model : program.models) json.text(model);
  json.close(']').key("inputs").open('[');
  for (const Argument& input : graph.inputs) json.text(type_of(input));
  json.close(']').key("outputs").open('[');
  for (const Argument& output : graph.outputs) json.text(type_of(output));
  json.close(']').key("symbols").open('{');
  for (const auto& [name, range] : graph.ranges) {
    json.key(name).open('[').number(range.min);
    range.max == exir::SymRange::kUnbounded ? json.null() : json.number(range.max);
    json.close(']');
  }
  json.close('}').key("constants").number(facts.constants).key("states").number(facts.states);
  json.key("constant_bytes").number(static_cast<int64_t>(facts.constant_bytes));
  json.key("operators").open('{');
  for (const auto& [name, calls] : facts.operators) json.key(name).number(calls);
  json.close('}').close('}');
  std::printf("%s\n", json.str().c_str());
}

}  // namespace

int inspect_pt2(const std::string& path, const std::string& model, bool as_json) {
  const exir::ExportedProgram program = exir::import_pt2(path, {.model = model});
  as_json ? print_json(program) : print_text(program, path);
  return 0;
}

int inspect_dialect(const std::string& path, const std::string& model, const std::string& dialect,
                    const exir::Operators& operators) {
  constexpr std::pair<const char*, exir::Dialect> kDialects[] = {
      {"aten", exir::Dialect::kAten},
      {"core", exir::Dialect::kCoreAten},
      {"edge", exir::Dialect::kEdge},
      {"backend", exir::Dialect::kBackend}};
  for (const auto& [name, value] : kDialects) {
    if (dialect != name) continue;
    const exir::ExportedProgram program =
        exir::import_pt2(path, {.model = model, .operators = operators});
    exir::LowerOptions options;
    options.until = value;
    if (value != exir::Dialect::kAten) exir::lower(*program.graph, options);
    std::printf("%s\n", exir::print(*program.graph).c_str());
    return 0;
  }
  throw UsageError("--dialect must be aten, core, edge or backend, not '" + dialect + "'");
}

}  // namespace taper::tools
