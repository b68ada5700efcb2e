// Finds symbols without an upper bound, the inputs and nodes that they come from, and the words for
// a remedy.

#include "exir/bounds.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "exir/frontend/refuse.h"
#include "exir/guards.h"
#include "exir/ir/rewrite.h"
#include "exir/ops/facts.h"
#include "exir/ops/infer.h"

namespace taper::exir {
namespace {

bool is_unbacked(std::string_view symbol) { return !symbol.empty() && symbol[0] == 'u'; }

bool mentions(const Sym& sym, const std::string& symbol) {
  const std::vector<std::string> names = sym.symbols();
  return std::find(names.begin(), names.end(), symbol) != names.end();
}

bool mentions(const Value& value, const std::string& symbol) {
  if (value.kind != ValueKind::kTensor) return mentions(value.sym, symbol);
  return std::any_of(value.type.sizes.begin(), value.type.sizes.end(),
                     [&](const Sym& size) { return mentions(size, symbol); });
}

// The input in whose sizes a symbol occurs; `value` is null if there is none.
struct SizedInput {
  const Value* value = nullptr;
  size_t dim = 0;

  // "dimension 0 of the input x".
  std::string text() const {
    if (value == nullptr) return {};
    const bool tensor = value->kind == ValueKind::kTensor;
    return (tensor ? "dimension " + std::to_string(dim) + " of " : "") + "the input " + value->name;
  }
};

SizedInput input_with(const Graph& graph, const std::string& symbol) {
  for (const Argument& input : graph.inputs) {
    if (!input.is_value() || !mentions(*input.value(), symbol)) continue;
    const Value& value = *input.value();
    size_t d = 0;
    while (d < value.type.rank() && !mentions(value.type.sizes[d], symbol)) ++d;
    return {&value, d};
  }
  return {};
}

// The first node in whose results the symbol occurs, else the first one that uses `input`.
const Node* first_use(Graph& graph, const std::string& symbol, const Value* input) {
  const Node* reader = nullptr;
  for (Graph* each : all_graphs(graph)) {
    for (const auto& node : each->nodes) {
      for (const Value* output : node->outputs) {
        if (!mentions(*output, symbol)) continue;
        if (node->source) return node.get();
        reader = reader == nullptr ? node.get() : reader;
      }
      for_each_value(*node, [&](const Value* value) {
        if (value == input && reader == nullptr) reader = node.get();
      });
    }
  }
  return reader;
}

std::string remedy_for(const std::string& symbol, const SizedInput& input) {
  const std::string option = ", or use --bound " + symbol + "=N";
  if (is_unbacked(symbol)) return "write torch._check(size <= N) after that line" + option;
  const std::string dim = "torch.export.Dim(\"" + symbol + "\", max=N)";
  if (input.value == nullptr || input.value->kind != ValueKind::kTensor) {
    return "export with " + dim + option;
  }
  return "export with dynamic_shapes={\"" + input.value->name + "\": {" +
         std::to_string(input.dim) + ": " + dim + "}}" + option;
}

Diagnostic unbounded(Graph& graph, const std::string& symbol) {
  Diagnostic out;
  out.id = "no-upper-bound";
  out.message = "the size " + symbol;
  const SizedInput input = input_with(graph, symbol);
  const Node* use = first_use(graph, symbol, input.value);
  if (input.value != nullptr) {
    out.message += " (" + input.text() + ")";
    out.where = input.value->name;
  } else if (use != nullptr) {
    out.where = use->name;
  }
  if (use != nullptr && use->source) out.source = use->source->newest_frame();
  out.message += " has no upper bound, so no memory can be planned for it";
  out.expected = "an upper bound";
  out.actual = "none";
  out.remedy = remedy_for(symbol, input);
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

// The constant whose elements a value has, each equally often; null if there is none.
const Value* constant_of(const Value* value) {
  static const std::set<std::string_view> copies = {
      "aten::lift_fresh_copy", "aten::detach_", "aten::detach", "aten::alias",
      "aten::clone",           "aten::view",    "aten::expand"};
  while (value->producer != nullptr && copies.count(value->producer->target()) != 0) {
    value = value->producer->arg(0).value();
  }
  const bool known = value->role == ValueRole::kConstant && value->data.data != nullptr;
  return known ? value : nullptr;
}

template <typename T>
int64_t sum_of(const TensorData& data) {
  int64_t total = 0;
  for (size_t at = 0; at + sizeof(T) <= data.bytes; at += sizeof(T)) {
    T each = 0;
    std::memcpy(&each, data.data + at, sizeof(T));
    if (each < 0 || __builtin_add_overflow(total, each, &total)) return SymRange::kUnbounded;
  }
  return total;
}

// How many elements repeat_interleave makes if a constant says how often each is repeated; a single
// number holds for all `rows`. kUnbounded if inputs say it.
int64_t most_repeated(const Node& node, const SymRanges& ranges) {
  const Value* repeats = node.arg("repeats").value();
  const Value* numbers = constant_of(repeats);
  if (numbers == nullptr || numbers->data.bytes == 0) return SymRange::kUnbounded;
  const ScalarType dtype = numbers->type.dtype;
  if (dtype != ScalarType::kLong && dtype != ScalarType::kInt) return SymRange::kUnbounded;
  const TensorData& data = numbers->data;
  const int64_t total = dtype == ScalarType::kLong ? sum_of<int64_t>(data) : sum_of<int32_t>(data);
  Sym rows = repeats->type.numel();
  if (rows == Sym(1) && node.is("aten::repeat_interleave.self_Tensor")) {
    const TensorType& type = node.arg("self").value()->type;
    const Argument& dim = node.arg("dim");
    const auto rank = static_cast<int64_t>(type.rank());
    rows = dim.is_none() || rank == 0
               ? type.numel()
               : type.sizes.at(static_cast<size_t>(wrap_dim(dim.to_int(), rank)));
  }
  const int64_t most = rows.range(ranges).max;
  const auto count = static_cast<int64_t>(data.bytes / element_size(dtype));
  int64_t all = 0;
  const bool open = total == SymRange::kUnbounded || most == SymRange::kUnbounded ||
                    __builtin_mul_overflow(total, most, &all);
  return open ? SymRange::kUnbounded : all / count;
}

// Whether a call returns elements of its first operand, and nothing else.
bool keeps_elements(const Node& node) {
  static const std::set<std::string_view> more = {
      "aten::chunk",         "aten::flip",          "aten::gather",       "aten::index.Tensor",
      "aten::index_select",  "aten::masked_select", "aten::permute",      "aten::ravel",
      "aten::roll",          "aten::select.int",    "aten::split.Tensor", "aten::t",
      "aten::transpose.int", "aten::unbind.int"};
  if (node.is("aten::view.dtype") || node.is("aten::constant_pad_nd")) return false;
  return facts_of(node.target()).is(kPassive | kReshapes | kMoves) ||
         more.count(node.target()) != 0;
}

// How many places the indices say that a call returns as output `output`, such as argmax();
// kUnbounded for other outputs.
int64_t places_of(const Node& node, size_t output, const SymRanges& ranges) {
  static const std::set<std::pair<std::string_view, size_t>> makers = {
      {"aten::argmax", 0},  {"aten::argmin", 0},        {"aten::argsort", 0},
      {"aten::cummax", 1},  {"aten::cummin", 1},        {"aten::kthvalue", 1},
      {"aten::max.dim", 1}, {"aten::median.dim", 1},    {"aten::min.dim", 1},
      {"aten::mode", 1},    {"aten::sort", 1},          {"aten::sort.stable", 1},
      {"aten::topk", 1},    {"aten::argsort.stable", 0}};
  if (makers.count({node.target(), output}) == 0) return SymRange::kUnbounded;
  const TensorType& type = node.args.at(0).value()->type;
  const Argument& dim = node.arg("dim");
  const auto rank = static_cast<int64_t>(type.rank());
  if (dim.is_none() || rank == 0) return type.numel().range(ranges).max;
  return type.sizes.at(static_cast<size_t>(wrap_dim(dim.to_int(), rank))).range(ranges).max;
}

// The largest number that a tensor of integers can have; kUnbounded if that is not known.
int64_t largest_in(const Value* value, const SymRanges& ranges) {
  while (value->kind == ValueKind::kTensor) {
    if (value->type.dtype == ScalarType::kBool) return 1;
    if (value->type.dtype == ScalarType::kByte) return 255;
    if (!is_integral(value->type.dtype)) break;
    const Node* node = value->producer;
    if (node == nullptr) break;
    const auto output = std::find(node->outputs.begin(), node->outputs.end(), value);
    const int64_t places =
        places_of(*node, static_cast<size_t>(output - node->outputs.begin()), ranges);
    if (places != SymRange::kUnbounded) return std::max<int64_t>(0, places - 1);
    if (!keeps_elements(*node) || !node->args.at(0).is_value()) break;
    value = node->args[0].value();
  }
  return SymRange::kUnbounded;
}

// How many numbers bincount() counts; kUnbounded if inputs say it.
int64_t most_counted(const Node& node, const SymRanges& ranges) {
  const int64_t largest = largest_in(node.arg("self").value(), ranges);
  const Argument& least = node.arg("minlength");
  if (largest == SymRange::kUnbounded || !least.is_int()) return SymRange::kUnbounded;
  return std::max(largest + 1, least.to_int());
}

// The most elements that a call with a data-dependent result size can select; kUnbounded for other
// calls.
int64_t most_chosen(const Node& node, const SymRanges& ranges) {
  if (node.is("aten::repeat_interleave.Tensor") || node.is("aten::repeat_interleave.self_Tensor")) {
    return most_repeated(node, ranges);
  }
  if (node.is("aten::bincount")) return most_counted(node, ranges);
  if (!facts_of(node.target()).is(kChooses)) return SymRange::kUnbounded;
  const TensorType& from = node.args.at(0).value()->type;
  std::vector<Sym> sizes = from.sizes;
  if (from.pairs) sizes.pop_back();
  const bool slices = node.is("aten::unique_dim") || node.is("aten::unique_consecutive");
  if (slices && !node.arg("dim").is_none() && !sizes.empty()) {
    const auto rank = static_cast<int64_t>(sizes.size());
    sizes = {sizes.at(static_cast<size_t>(wrap_dim(node.arg("dim").to_int(), rank)))};
  }
  if (node.is("aten::masked_select")) sizes = broadcast(sizes, node.args[1].value()->type.sizes);
  if (node.is("torchvision::nms")) sizes.resize(1);  // Boxes, not their numbers.
  if (node.is("aten::combinations")) {
    constexpr int64_t kMost = 64;
    sizes.assign(static_cast<size_t>(std::clamp<int64_t>(node.arg("r").to_int(), 0, kMost)),
                 sizes.at(0));
  }
  return TensorType(ScalarType::kBool, sizes).numel().range(ranges).max;
}

// The most that dimension `d` of a part of a tensor, whose place or size depends on data, can have;
// kUnbounded for results of other calls.
int64_t most_of_part(const Node& node, size_t d, const SymRanges& ranges) {
  static const std::set<std::string_view> parts = {"aten::narrow", "aten::slice.Tensor",
                                                   "aten::split_with_sizes", "aten::split.sizes",
                                                   "aten::unsafe_split_with_sizes"};
  if (parts.count(node.target()) == 0) return SymRange::kUnbounded;
  const TensorType& from = node.args.at(0).value()->type;
  return d < from.rank() ? from.sizes[d].range(ranges).max : SymRange::kUnbounded;
}

// Bounds data-dependent sizes by the number of elements that are selected from, where the program
// states no bound.
void bound_choices(Graph& graph) {
  for (Graph* each : all_graphs(graph)) {
    for (const auto& node : each->nodes) {
      for (const Value* output : node->outputs) {
        if (output->kind != ValueKind::kTensor) continue;
        for (size_t d = 0; d < output->type.rank(); ++d) {
          const Sym& size = output->type.sizes[d];
          if (size.is_int() || !is_unbacked(size.text())) continue;
          const auto range = graph.ranges.find(size.text());
          if (range == graph.ranges.end() || range->second.max != SymRange::kUnbounded) continue;
          int64_t most = most_of_part(*node, d, graph.ranges);
          if (output == node->outputs[0]) most = std::min(most, most_chosen(*node, graph.ranges));
          range->second.max = std::max(range->second.min, most);
        }
      }
    }
  }
}

}  // namespace

void bound_symbols(Graph& graph, const SymValues& bounds, std::vector<std::string>& warnings) {
  apply_guards(graph);
  for (auto& [symbol, range] : graph.ranges) {
    if (const auto given = bounds.find(symbol); given != bounds.end()) {
      if (given->second < range.min) {
        throw Failure("the bound " + std::to_string(given->second) + " of " + symbol +
                      " is below its minimum " + std::to_string(range.min));
      }
      if (given->second > range.max) {
        throw Failure("the bound " + std::to_string(given->second) + " of " + symbol +
                      " is above its maximum " + std::to_string(range.max));
      }
      range.max = given->second;
      continue;
    }
    const auto hint = graph.hints.find(symbol);
    if (range.max != SymRange::kUnbounded || hint == graph.hints.end()) continue;
    range.max = std::max(range.min, hint->second);
    const std::string input = input_with(graph, symbol).text();
    warnings.push_back("the size " + symbol + (input.empty() ? "" : " (" + input + ")") +
                       " has no upper bound: planned for " + std::to_string(range.max) +
                       ", its value at the sample inputs; export with "
                       "torch.export.Dim(\"...\", max=N) or use --bound " +
                       symbol + "=N");
  }
  apply_guards(graph);
  bound_choices(graph);
}

std::set<std::string> symbols_of(const Graph& graph) {
  std::set<std::string> symbols;
  for (const auto& [symbol, range] : graph.ranges) symbols.insert(symbol);
  return symbols;
}

void check_symbols(const SymValues& bounds, const std::set<std::string>& symbols) {
  std::string list;
  for (const std::string& symbol : symbols) list += (list.empty() ? "" : ", ") + symbol;
  std::vector<Diagnostic> problems;
  for (const auto& [symbol, bound] : bounds) {
    if (symbols.count(symbol) != 0) continue;
    problems.emplace_back("no-such-symbol",
                          "the bound " + std::to_string(bound) + " is of " + in_quotes(symbol) +
                              ", which is no symbolic size of the program; it has " +
                              (list.empty() ? "none" : list));
  }
  if (problems.empty()) return;
  const std::string summary = problems[0].message;
  throw Failure(summary, std::move(problems));
}

std::vector<Diagnostic> sampled_symbols(Graph& graph, const SymValues& bounds) {
  std::vector<Diagnostic> out;
  for (const auto& [symbol, range] : graph.ranges) {
    const bool open = range.max == SymRange::kUnbounded && bounds.count(symbol) == 0;
    if (open && graph.hints.count(symbol) != 0) out.push_back(unbounded(graph, symbol));
  }
  return out;
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
