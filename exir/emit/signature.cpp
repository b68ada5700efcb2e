// The text form of signatures, and the check of actual sizes against them.

#include "exir/emit/signature.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>

#include "exir/ir/failure.h"

namespace taper::exir {
namespace {

[[noreturn]] void refuse(const std::string& line) {
  throw Failure("'" + line + "' is not a line of a signature");
}

constexpr char kBeforeText[] = ": ";

template <typename Number>
Number number_of(const std::string& text, const std::string& line) {
  Number value = 0;
  const char* end = text.data() + text.size();
  if (std::from_chars(text.data(), end, value).ptr != end || text.empty()) refuse(line);
  return value;
}

// The items of "(a, max(b, c))": commas inside brackets do not separate.
std::vector<Sym> parse_sizes(const std::string& text, const std::string& line) {
  if (text.size() < 2 || text.front() != '(' || text.back() != ')') refuse(line);
  std::vector<Sym> sizes;
  std::string item;
  int depth = 0;
  for (size_t i = 1; i < text.size(); ++i) {
    const char c = text[i];
    if (depth == 0 && (c == ',' || i + 1 == text.size())) {
      sizes.push_back(parse_sym(item));
      item.clear();
      if (i + 1 < text.size() && text[i + 1] == ' ') ++i;
      continue;
    }
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    item += c;
  }
  if (!item.empty()) refuse(line);
  return sizes;
}

std::string place(const SignatureInput& input, size_t dim) {
  return "dimension " + std::to_string(dim) + " of input " + input.name;
}

std::string range_text(const SymRange& range) {
  if (range.max == SymRange::kUnbounded) return "at least " + std::to_string(range.min);
  return "from " + std::to_string(range.min) + " to " + std::to_string(range.max);
}

// Binds symbols to the sizes of the dimensions that they stand for.
class Solver {
 public:
  explicit Solver(const Signature& signature) : signature_(signature) {}

  std::string bind(const SignatureInput& input, size_t dim, int64_t size) {
    const std::string& symbol = input.sizes[dim].name();
    const auto [found, fresh] = values_.emplace(symbol, size);
    if (!fresh && found->second != size) {
      return place(input, dim) + " is " + std::to_string(size) + ", but " + symbol + " is " +
             std::to_string(found->second) + " by " + origin_[symbol];
    }
    origin_.emplace(symbol, place(input, dim));
    const auto range = signature_.ranges.find(symbol);
    if (range == signature_.ranges.end()) return {};
    if (size >= range->second.min && size <= range->second.max) return {};
    return place(input, dim) + " is " + std::to_string(size) + ", but its size " + symbol +
           " runs " + range_text(range->second);
  }

  std::string compare(const SignatureInput& input, size_t dim, int64_t size) const {
    const Sym& expected = input.sizes[dim];
    const std::optional<int64_t> value = expected.evaluate(values_);
    if (!value || *value == size) return {};
    return place(input, dim) + " is " + std::to_string(size) + ", but " + expected.text() + " is " +
           std::to_string(*value);
  }

  std::string check(const Guard& guard) const {
    const std::optional<int64_t> holds = guard.holds.evaluate(values_);
    if (!holds || *holds != 0) return {};
    std::string sizes;
    for (const std::string& symbol : guard.holds.symbols()) {
      sizes += (sizes.empty() ? "" : ", ") + origin_.at(symbol) + " is " +
               std::to_string(values_.at(symbol));
    }
    return "the model was exported for inputs with " + guard.text + " only, but " + sizes;
  }

 private:
  const Signature& signature_;
  SymValues values_;
  std::map<std::string, std::string> origin_;
};

}  // namespace

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
  for (const Guard& guard : graph.guards) {
    const std::vector<std::string> symbols = guard.holds.symbols();
    if (std::all_of(symbols.begin(), symbols.end(),
                    [&](const std::string& symbol) { return out.ranges.count(symbol) != 0; })) {
      out.guards.push_back(guard);
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
  for (const Guard& guard : signature.guards) {
    out += "guard " + guard.holds.text() + kBeforeText + guard.text + "\n";
  }
  return out;
}

Signature parse_signature(std::string_view text) {
  Signature out;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind, index, name, rest;
    words >> kind >> index >> name;
    if (kind == "input") {
      std::getline(words >> std::ws, rest);
      out.inputs.push_back({number_of<size_t>(index, line), name, parse_sizes(rest, line)});
    } else if (kind == "symbol" && name == "from") {
      std::string min, to, max;
      words >> min >> to >> max;
      out.ranges[index] = {number_of<int64_t>(min, line), number_of<int64_t>(max, line)};
    } else if (const size_t text = line.find(kBeforeText); kind == "guard" && text != line.npos) {
      out.guards.push_back({parse_sym(line.substr(6, text - 6)),
                            line.substr(text + std::string_view(kBeforeText).size())});
    } else {
      refuse(line);
    }
  }
  return out;
}

std::string contradiction(const Signature& signature,
                          const std::vector<std::vector<int64_t>>& shapes) {
  Solver solver(signature);
  for (const bool plain : {true, false}) {  // Plain symbols first: expressions need their values.
    for (const SignatureInput& input : signature.inputs) {
      if (input.index >= shapes.size() || shapes[input.index].size() != input.sizes.size()) {
        continue;
      }
      for (size_t d = 0; d < input.sizes.size(); ++d) {
        if (input.sizes[d].is_symbol() != plain) continue;
        const int64_t size = shapes[input.index][d];
        std::string problem = plain ? solver.bind(input, d, size) : solver.compare(input, d, size);
        if (!problem.empty()) return problem;
      }
    }
  }
  for (const Guard& guard : signature.guards) {
    std::string problem = solver.check(guard);
    if (!problem.empty()) return problem;
  }
  return {};
}

}  // namespace taper::exir
