// Reads types from the file's tables and binds names to values.

#include "exir/frontend/scope.h"

#include "exir/frontend/sym_srepr.h"
#include "exir/frontend/tensor_meta.h"
#include "exir/ops/float8.h"

namespace taper::exir {
namespace {

// A size, stride or scalar: its expression, and its value at the sample inputs (0 if not given).
struct Quantity {
  Sym sym;
  int64_t hint = 0;
};

// {"as_int": 3}, {"as_float": 0.5}, {"as_bool": true} or {"as_expr": {"expr_str": ..., "hint":
// ...}}
Quantity read_quantity(Json json, ImportContext& context) {
  const JsonVariant variant = json_variant(json, "size");
  if (variant.key == "as_int") {
    const int64_t value = json_int(variant.value, "as_int");
    return {Sym(value), value};
  }
  if (variant.key == "as_bool") return {Sym(json_bool(variant.value, "as_bool") ? 1 : 0), 0};
  if (variant.key == "as_float")
    return {Sym::from_float(json_double(variant.value, "as_float")), 0};
  if (variant.key != "as_expr")
    refuse("bad-json", in_quotes(variant.key) + " is not a kind of size");
  Quantity out{context.expression(json_text(json_need(variant.value, "expr_str"), "expr_str")), 0};
  if (const std::optional<Json> hint = json_find(variant.value, "hint");
      hint && hint->is_object()) {
    if (const std::optional<Json> known = json_find(*hint, "as_int"); known && known->is_int64()) {
      out.hint = json_int(*known, "hint");
      if (out.sym.is_symbol()) context.hints.emplace(out.sym.name(), out.hint);
    }
  }
  return out;
}

struct Quantities {
  std::vector<Sym> syms;
  std::vector<int64_t> hints;
};

Quantities read_quantities(Json meta, std::string_view key, ImportContext& context) {
  Quantities out;
  for (const Json item : json_array(json_need(meta, key), key)) {
    if (out.syms.size() == kHighestRank) refuse("bad-value", "has too many dimensions");
    Quantity quantity = read_quantity(item, context);
    if (quantity.sym.is_int() && quantity.sym.as_int() < 0) {
      refuse("bad-value", "has a negative entry in its " + std::string(key));
    }
    out.syms.push_back(std::move(quantity.sym));
    out.hints.push_back(quantity.hint);
  }
  return out;
}

// Converts strides that count complex numbers to strides that count their parts.
void split_strides(Quantities& strides) {
  for (Sym& stride : strides.syms) {
    stride = stride.is_int() ? Sym(doubled(stride.as_int())) : stride * Sym(2);
  }
  for (int64_t& hint : strides.hints) hint = doubled(hint);
  strides.syms.push_back(1);
  strides.hints.push_back(1);
}

TensorType read_tensor_type(Json meta, ImportContext& context) {
  constexpr int64_t kStridedLayout = 7;
  if (const std::optional<Json> layout = json_find(meta, "layout")) {
    if (json_int(*layout, "layout") != kStridedLayout) {
      refuse("unsupported-layout", "is a sparse or otherwise special tensor", {},
             "make it a plain dense tensor, or compute what needs it within one custom operator");
    }
  }
  Quantities sizes = read_quantities(meta, "sizes", context);
  const int64_t code = json_int(json_need(meta, "dtype"), "dtype");
  const std::optional<ScalarType> part = complex_part(code);
  if (part) sizes.syms.push_back(2);
  TensorType type(import_part_dtype(code), std::move(sizes.syms));
  type.pairs = part.has_value();
  if (!json_find(meta, "strides")) return type;
  Quantities strides = read_quantities(meta, "strides", context);
  if (part) split_strides(strides);
  if (strides.syms.size() != type.rank())
    refuse("bad-value", "has more strides than sizes or fewer");
  if (type.is_static()) type.numel();  // Throws if it overflows.
  if (auto order = dense_order(type.sizes, strides.syms, strides.hints)) type.dim_order = *order;
  return type;
}

// Extracts "encoder.layers.0" from "key,path,type;key,path,type": the path of the last entry. A
// path may contain commas and semicolons within brackets.
std::string module_path(std::string_view stack) {
  int depth = 0;
  size_t commas = 0, begin = 0;
  std::string_view path;
  for (size_t i = 0; i < stack.size(); ++i) {
    const char c = stack[i];
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') --depth;
    if (depth > 0) continue;
    if (c == ';') commas = 0;
    if (c != ',') continue;
    ++commas;
    if (commas == 1) begin = i + 1;
    if (commas == 2) path = stack.substr(begin, i - begin);
  }
  constexpr std::string_view kSelf = "L['self']";
  if (path.starts_with(kSelf)) path.remove_prefix(kSelf.size());
  if (path.starts_with(".")) path.remove_prefix(1);
  return std::string(path);
}

}  // namespace

const Sym& ImportContext::expression(std::string_view text) {
  const auto known = expressions_.find(text);
  if (known != expressions_.end()) return known->second;
  Sym parsed = parse_srepr(text);
  for (std::string& name : parsed.symbols()) symbols.insert(std::move(name));
  return expressions_.emplace(text, std::move(parsed)).first->second;
}

std::shared_ptr<const Source> ImportContext::source(Json node) {
  const std::optional<Json> metadata = json_find(node, "metadata");
  if (!metadata) return nullptr;
  const std::string_view trace = json_text_or(*metadata, "stack_trace", "");
  const std::string_view modules = json_text_or(*metadata, "nn_module_stack", "");
  if (trace.empty() && modules.empty()) return nullptr;
  std::shared_ptr<const Source>& known = sources_[{trace, modules}];
  if (!known)
    known = std::make_shared<const Source>(Source{std::string(trace), module_path(modules)});
  return known;
}

Scope::Scope(Graph& graph, Json json, ImportContext& context) : graph_(graph), context_(context) {
  read_table(json, "tensor_values", ValueKind::kTensor);
  read_table(json, "sym_int_values", ValueKind::kInt);
  read_table(json, "sym_float_values", ValueKind::kFloat);
  read_table(json, "sym_bool_values", ValueKind::kBool);
}

void Scope::read_table(Json json, const char* key, ValueKind kind) {
  const std::optional<Json> table = json_find(json, key);
  if (!table) return;
  for (const auto field : json_object(*table, key)) {
    if (!metas_.emplace(field.key, Meta{kind, field.value}).second) {
      refuse("duplicate-value", "the type of value " + in_quotes(field.key) + " is given twice");
    }
  }
}

void Scope::claim(std::string_view name, Entry entry) {
  context_.budget.take_items(1, graph_.name);
  if (!entries_.emplace(name, entry).second) {
    refuse("duplicate-value", "value " + in_quotes(name) + " is defined twice");
  }
}

Value* Scope::make(std::string_view name, ValueKind kind) {
  const auto meta = metas_.find(name);
  if (meta == metas_.end() || meta->second.kind != kind) {
    refuse("untyped-value", "value " + in_quotes(name) + " has no type in the file");
  }
  try {
    return make_typed(name, kind, meta->second.json);
  } catch (const Failure& failure) {
    if (context_.problems == nullptr) throw;
    for (Diagnostic said : failure.diagnostics()) {
      if (said.where.empty()) said.where = std::string(name);
      context_.problems->push_back(std::move(said));
    }
    Value* value = graph_.new_value(name, kind);
    context_.unknown.insert(value);
    return value;
  }
}

Value* Scope::make_typed(std::string_view name, ValueKind kind, Json meta) {
  try {
    if (kind == ValueKind::kTensor) {
      Value* tensor = graph_.new_tensor(name, read_tensor_type(meta, context_));
      const int64_t code = json_int(json_need(meta, "dtype"), "dtype");
      if (find_float8(code) != nullptr) context_.float8.emplace(tensor, code);
      return tensor;
    }
    Value* value = graph_.new_value(name, kind);
    value->sym = read_quantity(meta, context_).sym;
    return value;
  } catch (const Failure& failure) {
    const bool plain = failure.diagnostics().empty();
    Diagnostic said =
        plain ? Diagnostic{"bad-value", failure.what(), {}, {}, {}} : failure.diagnostics()[0];
    said.message = "value " + in_quotes(name) + ": " + said.message;
    refuse(std::move(said));
  }
}

Value* Scope::define(std::string_view name, ValueKind kind) {
  claim(name, {});
  Value* value = make(name, kind);
  entries_[name].value = value;
  return value;
}

Value* Scope::define_unnamed(ValueKind kind, const Sym& sym) {
  context_.budget.take_items(1, graph_.name);
  Value* value = graph_.new_value("undefined", kind);
  if (kind == ValueKind::kTensor) value->type = TensorType(ScalarType::kFloat, {Sym(0)});
  value->sym = sym;
  return value;
}

void Scope::define_saved(SavedTensor* saved) { claim(saved->name, {nullptr, saved}); }

void Scope::define_token(std::string_view name) { claim(name, {}); }

bool Scope::is_token(std::string_view name) const {
  const auto found = entries_.find(name);
  return found != entries_.end() && !found->second.value && !found->second.saved;
}

Value* Scope::use(std::string_view name) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) {
    const bool later = metas_.count(name) != 0;
    refuse("undefined-value",
           "uses value " + in_quotes(name) +
               (later ? " before it is computed: the nodes form a cycle or are out of order"
                      : ", which nothing defines"));
  }
  Entry& entry = found->second;
  if (!entry.value && !entry.saved) {
    refuse("unsupported-op", "uses effect token " + in_quotes(name) + " as a value");
  }
  if (!entry.value) {
    entry.value = make(name, ValueKind::kTensor);
    entry.value->role = ValueRole::kConstant;
    entry.value->fqn = std::string(entry.saved->fqn);
    entry.saved->value = entry.value;
  }
  return entry.value;
}

}  // namespace taper::exir
