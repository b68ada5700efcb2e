#include "exir/emit/signature.h"

#include <set>

namespace taper::exir {

Signature signature_of(const Graph& graph) {
  Signature out;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    if (!graph.inputs[i].is_value()) continue;
    const Value& value = *graph.inputs[i].value();
    if (value.kind != ValueKind::kTensor) continue;
    std::set<std::string> symbols;
    for (const Sym& size : value.type.sizes) {
      for (const std::string& symbol : size.symbols()) symbols.insert(symbol);
    }
    if (symbols.empty()) continue;
    out.inputs.push_back({i, value.name, value.type.sizes});
    for (const std::string& symbol : symbols) {
      const auto range = graph.ranges.find(symbol);
      out.ranges[symbol] = range == graph.ranges.end() ? SymRange() : range->second;
    }
  }
  return out;
}

std::string signature_text(const Signature& signature) {
  std::string out;
  for (const SignatureInput& input : signature.inputs) {
    out += "input " + std::to_string(input.index) + " " + input.name + " (";
    for (size_t d = 0; d < input.sizes.size(); ++d) {
      out += (d == 0 ? "" : ", ") + input.sizes[d].text();
    }
    out += ")\n";
  }
  for (const auto& [symbol, range] : signature.ranges) {
    out += "symbol " + symbol + " from " + std::to_string(range.min) + " to " +
           std::to_string(range.max) + "\n";
  }
  return out;
}

}  // namespace taper::exir
