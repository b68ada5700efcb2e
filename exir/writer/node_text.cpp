// Spells arguments by what they hold.

#include "exir/writer/node_text.h"

#include <charconv>
#include <cmath>

#include "exir/writer/json_text.h"

namespace taper::exir {
namespace {

std::string variant(const char* key, const std::string& value) {
  return "{\"" + std::string(key) + "\": " + value + "}";
}

std::string name_text(const Value* value) { return variant("name", json_quote(value->name)); }

// The shortest text that reads back as the same number.
std::string number_text(double number) {
  if (std::isnan(number)) return "\"NaN\"";
  if (std::isinf(number)) return number > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  char digits[40];
  const auto end = std::to_chars(digits, digits + sizeof(digits), number).ptr;
  std::string text(digits, end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string symbol_text(const Value* value) { return variant("as_name", json_quote(value->name)); }

const char* symbol_key(const Value* value) {
  return value->kind == ValueKind::kInt     ? "as_sym_int"
         : value->kind == ValueKind::kFloat ? "as_sym_float"
                                            : "as_sym_bool";
}

template <typename Text>
std::string texts(const Argument::List& items, const Text& text) {
  std::vector<std::string> out;
  for (const Argument& item : items) out.push_back(text(item));
  return list_text(out);
}

std::string plain_number(const Argument& item) {
  if (item.is<double>()) return number_text(item.to_double());
  if (item.is<bool>()) return item.to_bool() ? "true" : "false";
  return std::to_string(item.to_int());
}

std::string list_argument(const Argument::List& items) {
  bool values = false, gaps = false, symbols = false;
  for (const Argument& item : items) {
    values = values || item.is_value();
    gaps = gaps || item.is_none();
    symbols = symbols || (item.is_value() && item.value()->kind != ValueKind::kTensor);
  }
  if (gaps) {
    return variant("as_optional_tensors", texts(items, [](const Argument& item) {
                     return item.is_none() ? variant("as_none", "true") : argument_text(item);
                   }));
  }
  if (symbols) {
    return variant("as_sym_ints", texts(items, [](const Argument& item) {
                     return item.is_value() ? symbol_text(item.value())
                                            : variant("as_int", std::to_string(item.to_int()));
                   }));
  }
  if (values) {
    return variant("as_tensors",
                   texts(items, [](const Argument& item) { return name_text(item.value()); }));
  }
  const char* key = items.empty() || items[0].is_int() ? "as_ints"
                    : items[0].is<bool>()              ? "as_bools"
                    : items[0].is<double>()            ? "as_floats"
                                                       : "as_strings";
  return variant(key, texts(items, [](const Argument& item) {
                   return item.is<std::string>() ? json_quote(item.text()) : plain_number(item);
                 }));
}

}  // namespace

int dtype_code(ScalarType type) {
  switch (type) {
    case ScalarType::kByte:
      return 1;
    case ScalarType::kChar:
      return 2;
    case ScalarType::kShort:
      return 3;
    case ScalarType::kInt:
      return 4;
    case ScalarType::kLong:
      return 5;
    case ScalarType::kHalf:
      return 6;
    case ScalarType::kFloat:
      return 7;
    case ScalarType::kDouble:
      return 8;
    case ScalarType::kBool:
      return 12;
    case ScalarType::kBFloat16:
      return 13;
    case ScalarType::kUInt16:
      return 28;
    case ScalarType::kUInt32:
      return 34;
    case ScalarType::kUInt64:
      return 35;
    case ScalarType::kComplexHalf:
      return 9;
    case ScalarType::kComplexFloat:
      return 10;
    case ScalarType::kComplexDouble:
      return 11;
  }
  throw Failure("a tensor has a dtype that a .pt2 cannot hold");
}

std::string argument_text(const Argument& arg) {
  if (arg.is_none()) return variant("as_none", "true");
  if (arg.is_value()) {
    const Value* value = arg.value();
    return value->kind == ValueKind::kTensor ? variant("as_tensor", name_text(value))
                                             : variant(symbol_key(value), symbol_text(value));
  }
  if (arg.is_list()) return list_argument(arg.list());
  if (arg.is_int()) return variant("as_int", plain_number(arg));
  if (arg.is<double>()) return variant("as_float", plain_number(arg));
  if (arg.is<bool>()) return variant("as_bool", plain_number(arg));
  if (arg.is<std::string>()) return variant("as_string", json_quote(arg.text()));
  if (const auto* dtype = std::get_if<ScalarType>(&arg.v)) {
    return variant("as_scalar_type", std::to_string(dtype_code(*dtype)));
  }
  if (const auto* format = std::get_if<MemoryFormat>(&arg.v)) {
    return variant("as_memory_format", std::to_string(static_cast<int>(*format)));
  }
  if (arg.is<Layout>()) return variant("as_layout", "7");
  if (arg.is<Device>()) return variant("as_device", "{\"type\": \"cpu\", \"index\": null}");
  throw Failure("a new node has an argument that cannot be written");
}

std::string target_text(std::string_view target) {
  const size_t colon = target.find("::");
  if (colon == target.npos) throw Failure("a new node calls " + std::string(target));
  std::string name(target.substr(colon + 2));
  if (name.find('.') == std::string::npos) name += ".default";
  return "torch.ops." + std::string(target.substr(0, colon)) + "." + name;
}

std::string input_text(const SchemaArg& schema, const Argument& arg) {
  return "{\"name\": " + json_quote(schema.name) + ", \"arg\": " + argument_text(arg) +
         ", \"kind\": " + (schema.keyword_only ? "2}" : "1}");
}

std::string tensor_meta_text(const TensorType& type, int64_t float8) {
  std::vector<std::string> sizes, strides;
  const size_t rank = type.pairs ? type.rank() - 1 : type.rank();
  std::vector<int64_t> steps(rank, 1);
  int64_t step = 1;
  for (size_t i = type.dim_order.size(); i-- > 0;) {
    const size_t dim = type.dim_order[i];
    if (dim >= rank) continue;
    steps[dim] = step;
    const int64_t size = type.sizes[dim].as_int();
    step *= size > 0 ? size : 1;
  }
  for (size_t d = 0; d < rank; ++d) {
    sizes.push_back(variant("as_int", std::to_string(type.sizes[d].as_int())));
    strides.push_back(variant("as_int", std::to_string(steps[d])));
  }
  ScalarType dtype = type.dtype;
  if (type.pairs) {
    dtype = dtype == ScalarType::kDouble  ? ScalarType::kComplexDouble
            : dtype == ScalarType::kFloat ? ScalarType::kComplexFloat
                                          : ScalarType::kComplexHalf;
  }
  const int64_t code = float8 != 0 ? float8 : dtype_code(dtype);
  return "{\"dtype\": " + std::to_string(code) + ", \"sizes\": " + list_text(sizes) +
         ", \"requires_grad\": false, \"device\": {\"type\": \"cpu\", \"index\": null}, " +
         "\"strides\": " + list_text(strides) +
         ", \"storage_offset\": {\"as_int\": 0}, \"layout\": 7}";
}

}  // namespace taper::exir
