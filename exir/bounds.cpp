#include "exir/bounds.h"

#include <algorithm>
#include <set>

#include "exir/ir/rewrite.h"

namespace taper::exir {
namespace {

bool is_unbacked(std::string_view symbol) { return !symbol.empty() && symbol[0] == 'u'; }

// "dimension 0 of the input x"; empty if no input has that size.
std::string input_with(const Graph& graph, const std::string& symbol) {
  for (const Argument& input : graph.inputs) {
    if (!input.is_value()) continue;
    const Value& value = *input.value();
    if (value.kind != ValueKind::kTensor) {
      if (value.sym.is_symbol() && value.sym.name() == symbol) return "the input " + value.name;
      continue;
    }
    for (size_t d = 0; d < value.type.rank(); ++d) {
      const std::vector<std::string> names = value.type.sizes[d].symbols();
      if (std::find(names.begin(), names.end(), symbol) == names.end()) continue;
      return "dimension " + std::to_string(d) + " of the input " + value.name;
    }
  }
  return {};
}

bool mentions(const Value& value, const std::string& symbol) {
  const auto has = [&](const Sym& sym) {
    const std::vector<std::string> names = sym.symbols();
    return std::find(names.begin(), names.end(), symbol) != names.end();
  };
  if (value.kind != ValueKind::kTensor) return has(value.sym);
  return std::any_of(value.type.sizes.begin(), value.type.sizes.end(), has);
}

const Node* maker_of(Graph& graph, const std::string& symbol) {
  for (Graph* each : all_graphs(graph)) {
    for (const auto& node : each->nodes) {
      for (const Value* output : node->outputs) {
        if (mentions(*output, symbol)) return node.get();
      }
    }
  }
  return nullptr;
}

Diagnostic unbounded(Graph& graph, const std::string& symbol) {
  Diagnostic out;
  out.id = "no-upper-bound";
  out.message = "the size " + symbol;
  const std::string input = input_with(graph, symbol);
  const Node* maker = maker_of(graph, symbol);
  if (!input.empty()) {
    out.message += " (" + input + ")";
  } else if (maker != nullptr) {
    out.where = maker->name;
    if (maker->source) out.source = maker->source->newest_frame();
  }
  out.message += " has no upper bound, so no memory can be planned for it";
  out.remedy = (is_unbacked(symbol) ? "write torch._check(size <= N) after that line"
                                    : "export with torch.export.Dim(\"...\", max=N)") +
               std::string(", or use --bound ") + symbol + "=N";
  return out;
}

void add_unbounded(const Value* value, const SymRanges& ranges, std::set<std::string>& found) {
  if (value->kind != ValueKind::kTensor) return;
  for (const Sym& size : value->type.sizes) {
    if (size.is_int() || size.range(ranges).max != SymRange::kUnbounded) continue;
    for (const std::string& symbol : size.symbols()) {
      const auto range = ranges.find(symbol);
      if (range == ranges.end() || range->second.max == SymRange::kUnbounded) found.insert(symbol);
    }
  }
}

}  // namespace

void bound_symbols(Graph& graph, const SymValues& bounds, std::vector<std::string>& warnings) {
  for (auto& [symbol, range] : graph.ranges) {
    if (const auto given = bounds.find(symbol); given != bounds.end()) {
      if (given->second < range.min) {
        throw Failure("the bound " + std::to_string(given->second) + " of " + symbol +
                      " is below its minimum " + std::to_string(range.min));
      }
      range.max = given->second;
      continue;
    }
    const auto hint = graph.hints.find(symbol);
    if (range.max != SymRange::kUnbounded || hint == graph.hints.end()) continue;
    range.max = std::max(range.min, hint->second);
    const std::string input = input_with(graph, symbol);
    warnings.push_back("the size " + symbol + (input.empty() ? "" : " (" + input + ")") +
                       " has no upper bound: planned for " + std::to_string(range.max) +
                       ", its value at the sample inputs; export with "
                       "torch.export.Dim(\"...\", max=N) or use --bound " +
                       symbol + "=N");
  }
}

void check_bounds(Graph& graph) {
  std::set<std::string> found;
  for (const Argument& input : graph.inputs) {
    if (input.is_value()) add_unbounded(input.value(), graph.ranges, found);
  }
  for (Graph* each : all_graphs(graph)) {
    for (const auto& node : each->nodes) {
      for (const Value* output : node->outputs) add_unbounded(output, graph.ranges, found);
    }
  }
  if (found.empty()) return;
  std::vector<Diagnostic> problems;
  for (const std::string& symbol : found) problems.push_back(unbounded(graph, symbol));
  const std::string summary = problems[0].message;
  throw Failure(summary, std::move(problems));
}

}  // namespace taper::exir
