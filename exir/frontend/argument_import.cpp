// Reads arguments, one reader per kind of argument in the file, and converts them to what a schema
// declares.

#include "exir/frontend/argument_import.h"

#include "exir/frontend/graph_import.h"
#include "exir/frontend/tensor_meta.h"

namespace taper::exir {
namespace {

using List = Argument::List;

[[noreturn]] void unsupported(std::string_view what) {
  refuse("unsupported-argument", std::string(what) + " cannot be compiled");
}

std::string_view name_of(Json json) { return json_text(json_need(json, "name"), "name"); }

// {"as_name": s} or {"as_int": n}; also for floats and bools.
Argument read_symbolic(Json json, Scope& scope) {
  const JsonVariant variant = json_variant(json, "symbolic number");
  if (variant.key == "as_name") return scope.use(json_text(variant.value, "as_name"));
  if (variant.key == "as_int") return json_int(variant.value, "as_int");
  if (variant.key == "as_float") return json_double(variant.value, "as_float");
  if (variant.key == "as_bool") return json_bool(variant.value, "as_bool");
  refuse("bad-json", in_quotes(variant.key) + " is not a kind of symbolic number");
}

Argument read_optional_tensor(Json json, Scope& scope) {
  const JsonVariant variant = json_variant(json, "optional tensor");
  if (variant.key == "as_none") return Argument();
  if (variant.key == "as_tensor") return scope.use(name_of(variant.value));
  refuse("bad-json", in_quotes(variant.key) + " is not a kind of optional tensor");
}

template <typename ReadItem>
Argument read_list(Json json, std::string_view key, Scope& scope, const ReadItem& read_item) {
  List out;
  for (const Json item : json_array(json, key)) {
    scope.context().budget.take_items(1, key);
    out.push_back(read_item(item));
  }
  return out;
}

Argument read_memory_format(Json json) {
  const int64_t format = json_int(json, "as_memory_format");
  if (format < 1 || format > 4)
    refuse("bad-json", "memory format " + std::to_string(format) + " is not known");
  return static_cast<MemoryFormat>(format);
}

Argument read_layout(Json json) {
  constexpr int64_t kStrided = 7;
  if (json_int(json, "as_layout") != kStrided) unsupported("a layout other than strided");
  return Layout{};
}

Argument read_graph(Json json, Scope& scope) {
  return import_subgraph(json_need(json, "graph"), name_of(json), scope);
}

// A dictionary becomes a list: key, value, key, value ...
Argument read_dictionary(Json json, std::string_view key, Scope& scope) {
  List out;
  for (const auto field : json_object(json, key)) {
    scope.context().budget.take_items(2, key);
    out.push_back(std::string(field.key));
    out.push_back(read_argument(field.value, scope));
  }
  return out;
}

// A complex number becomes a constant that holds its real and its imaginary part: a 0-d complex
// tensor, as pairs.
Argument read_complex(Json json, std::string_view, Scope& scope) {
  const double parts[2] = {json_double(json_need(json, "real"), "real"),
                           json_double(json_need(json, "imag"), "imag")};
  const auto* bytes = reinterpret_cast<const uint8_t*>(parts);
  TensorType type(ScalarType::kDouble, {Sym(2)});
  type.pairs = true;
  scope.context().budget.take_bytes(sizeof parts, "complex numbers");
  return scope.graph().new_constant("complex", type, own_bytes({bytes, bytes + sizeof parts}));
}

struct Variant {
  std::string_view key;
  Argument (*read)(Json json, std::string_view key, Scope& scope);
};

Argument read_int(Json json, std::string_view key, Scope&) { return json_int(json, key); }
Argument read_float(Json json, std::string_view key, Scope&) { return json_double(json, key); }
Argument read_bool(Json json, std::string_view key, Scope&) { return json_bool(json, key); }
Argument read_text(Json json, std::string_view key, Scope&) {
  return std::string(json_text(json, key));
}
Argument read_sym(Json json, std::string_view, Scope& scope) { return read_symbolic(json, scope); }
Argument read_tensor(Json json, std::string_view, Scope& scope) { return scope.use(name_of(json)); }
Argument read_maybe(Json json, std::string_view, Scope& scope) {
  return read_optional_tensor(json, scope);
}

template <Argument (*read_item)(Json, std::string_view, Scope&)>
Argument read_items(Json json, std::string_view key, Scope& scope) {
  return read_list(json, key, scope, [&](Json item) { return read_item(item, key, scope); });
}

constexpr Variant kVariants[] = {
    {"as_tensor", read_tensor},
    {"as_int", read_int},
    {"as_ints", read_items<read_int>},
    {"as_float", read_float},
    {"as_floats", read_items<read_float>},
    {"as_bool", read_bool},
    {"as_bools", read_items<read_bool>},
    {"as_string", read_text},
    {"as_strings", read_items<read_text>},
    {"as_none", [](Json, std::string_view, Scope&) { return Argument(); }},
    {"as_tensors", read_items<read_tensor>},
    {"as_nested_tensors", read_items<read_items<read_tensor>>},
    {"as_optional_tensor", read_maybe},
    {"as_optional_tensors", read_items<read_maybe>},
    {"as_int_lists", read_items<read_items<read_int>>},
    {"as_float_lists", read_items<read_items<read_float>>},
    {"as_sym_int", read_sym},
    {"as_sym_ints", read_items<read_sym>},
    {"as_sym_float", read_sym},
    {"as_sym_floats", read_items<read_sym>},
    {"as_sym_bool", read_sym},
    {"as_sym_bools", read_items<read_sym>},
    {"as_scalar_type", [](Json json, std::string_view key,
                          Scope&) { return Argument(import_part_dtype(json_int(json, key))); }},
    {"as_memory_format",
     [](Json json, std::string_view, Scope&) { return read_memory_format(json); }},
    {"as_layout", [](Json json, std::string_view, Scope&) { return read_layout(json); }},
    {"as_device", [](Json, std::string_view, Scope&) { return Argument(Device{}); }},
    {"as_graph", [](Json json, std::string_view, Scope& scope) { return read_graph(json, scope); }},
    {"as_operator", read_text},
    {"as_complex", read_complex},
    {"as_string_to_argument", read_dictionary},
};

// --- Coercion

constexpr const char* kTypeNames[] = {
    "a tensor", "a number", "an integer",      "a float",     "a bool",  "a string", "a dtype",
    "a layout", "a device", "a memory format", "a generator", "a graph", "anything"};

// Converts `arg` to `base` where Python would do so silently. Returns whether it now fits.
bool coerce_item(Argument& arg, TypeBase base) {
  const bool number = arg.is_int() || arg.is<double>() || arg.is<bool>();
  switch (base) {
    case TypeBase::kScalar:
    case TypeBase::kTensor:
      return arg.is_value() || number;
    case TypeBase::kInt:
      if (const bool* flag = std::get_if<bool>(&arg.v)) arg = Argument(int64_t{*flag});
      return arg.is_value() || arg.is_int();
    case TypeBase::kFloat:
      if (number) arg = Argument(arg.to_double());
      return arg.is_value() || arg.is<double>();
    case TypeBase::kBool:
      if (arg.is_int()) arg = Argument(arg.to_int() != 0);
      return arg.is_value() || arg.is<bool>();
    case TypeBase::kString:
      return arg.is<std::string>();
    case TypeBase::kScalarType:
      return arg.is<ScalarType>();
    case TypeBase::kLayout:
      return arg.is<Layout>();
    case TypeBase::kDevice:
      return arg.is<Device>();
    case TypeBase::kMemoryFormat:
      return arg.is<MemoryFormat>();
    case TypeBase::kGraph:
      return arg.is<std::shared_ptr<Graph>>();
    case TypeBase::kGenerator:
      return false;
    case TypeBase::kAny:
      return true;
  }
  return false;
}

bool coerce_list(Argument& arg, const ArgType& type) {
  if (!arg.is_list()) {
    if (type.list_size == 0 || !coerce_item(arg, type.base)) return false;
    arg = Argument(List(static_cast<size_t>(type.list_size), arg));
    return true;
  }
  List& items = arg.list();
  for (Argument& item : items) {
    const bool gap = item.is_none() && (type.optional_item || type.base == TypeBase::kAny);
    if (!gap && !coerce_item(item, type.base)) return false;
  }
  if (items.size() == 1 && type.list_size > 1) {
    const Argument item = items[0];
    items.assign(static_cast<size_t>(type.list_size), item);
  }
  return true;
}

}  // namespace

Argument read_argument(Json json, Scope& scope) {
  scope.context().budget.take_items(1, "arguments");
  const JsonVariant variant = json_variant(json, "argument");
  for (const Variant& known : kVariants) {
    if (known.key == variant.key) return known.read(variant.value, variant.key, scope);
  }
  if (variant.key == "as_custom_obj") {
    unsupported("an object of the class " +
                in_quotes(json_text_or(variant.value, "class_fqn", "unknown")));
  }
  unsupported("an argument of the kind " + in_quotes(variant.key));
}

void coerce(Argument& arg, const ArgType& type, std::string_view name) {
  if (type.base == TypeBase::kAny && !type.list) return;
  if (arg.is_none() && (type.optional || type.base == TypeBase::kGenerator)) return;
  if (type.list ? coerce_list(arg, type) : coerce_item(arg, type.base)) return;
  if (type.base == TypeBase::kGenerator) unsupported("a custom random number generator");
  const char* wanted = kTypeNames[static_cast<size_t>(type.base)];
  refuse("wrong-type", "argument " + in_quotes(name) + " is not " +
                           (type.list ? "a list whose entries are each " : "") + wanted);
}

}  // namespace taper::exir
