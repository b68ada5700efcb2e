// The defaults of a schema as arguments.

#include <charconv>

#include "exir/ir/graph.h"

namespace taper::exir {
namespace {

[[noreturn]] void fail(const SchemaArg& arg) {
  throw Failure("the default \"" + arg.default_text + "\" of argument \"" + arg.name +
                "\" is not understood");
}

Argument number(std::string_view text, TypeBase base, const SchemaArg& arg) {
  const char* end = text.data() + text.size();
  int64_t whole = 0;
  if (std::from_chars(text.data(), end, whole).ptr == end && !text.empty()) {
    if (base == TypeBase::kFloat) return static_cast<double>(whole);
    return whole;
  }
  double real = 0;
  if (std::from_chars(text.data(), end, real).ptr != end || text.empty()) fail(arg);
  return real;
}

Argument item(std::string_view text, const SchemaArg& arg) {
  const TypeBase base = arg.type.base;
  if (text == "None") return {};
  if (text == "True" || text == "False") return text == "True";
  if (text.size() >= 2 && (text[0] == '"' || text[0] == '\'')) {
    return std::string(text.substr(1, text.size() - 2));
  }
  if (text == "contiguous_format") return MemoryFormat::kContiguous;
  if (text == "long") return ScalarType::kLong;
  if (text == "float") return ScalarType::kFloat;
  if (text == "bfloat16") return ScalarType::kBFloat16;
  return number(text, base, arg);
}

}  // namespace

Argument default_argument(const SchemaArg& arg) {
  std::string_view text = arg.default_text;
  if (!arg.has_default) return {};
  if (!text.empty() && text[0] == '[') {
    Argument::List out;
    text = text.substr(1, text.size() - 2);
    while (!text.empty()) {
      const size_t end = std::min(text.find(','), text.size());
      out.push_back(item(text.substr(0, end), arg));
      text = text.substr(std::min(end + 1, text.size()));
      text = text.substr(std::min(text.find_first_not_of(' '), text.size()));
    }
    return out;
  }
  Argument single = item(text, arg);
  if (!arg.type.list || single.is_none()) return single;
  const size_t count = arg.type.list_size > 0 ? static_cast<size_t>(arg.type.list_size) : 1;
  return Argument::List(count, single);
}

}  // namespace taper::exir
