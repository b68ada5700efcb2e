// A recursive-descent parser of schemas, and their text.

#include "exir/ir/schema.h"

#include <algorithm>
#include <optional>

#include "exir/ir/failure.h"

namespace taper::exir {
namespace {

struct TypeName {
  std::string_view text;
  TypeBase base;
};

constexpr TypeName kTypeNames[] = {
    {"Tensor", TypeBase::kTensor},
    {"Scalar", TypeBase::kScalar},
    {"int", TypeBase::kInt},
    {"SymInt", TypeBase::kInt},
    {"float", TypeBase::kFloat},
    {"SymFloat", TypeBase::kFloat},
    {"bool", TypeBase::kBool},
    {"SymBool", TypeBase::kBool},
    {"str", TypeBase::kString},
    {"ScalarType", TypeBase::kScalarType},
    {"Layout", TypeBase::kLayout},
    {"Device", TypeBase::kDevice},
    {"MemoryFormat", TypeBase::kMemoryFormat},
    {"Generator", TypeBase::kGenerator},
    {"Graph", TypeBase::kGraph},
    {"Any", TypeBase::kAny},
    {"number", TypeBase::kScalar},
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Schema parse() {
    Schema out;
    out.name = std::string(until("("));
    if (out.name.empty() || out.name.find("::") == std::string::npos)
      fail("the name lacks \"ns::\"");
    need("(");
    parse_args(out);
    need("->");
    parse_returns(out);
    skip_space();
    if (at_ != text_.size()) fail("text follows the returns");
    return out;
  }

 private:
  [[noreturn]] void fail(const std::string& why) {
    throw Failure("bad operator schema \"" + std::string(text_.substr(0, 200)) + "\": " + why);
  }
  void skip_space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(std::string_view token) {
    skip_space();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  void need(std::string_view token) {
    if (!take(token)) fail("\"" + std::string(token) + "\" is missing");
  }
  std::string_view until(std::string_view stops) {
    skip_space();
    const size_t end = std::min(text_.find_first_of(stops, at_), text_.size());
    const std::string_view out = text_.substr(at_, end - at_);
    at_ = end;
    return out;
  }

  // "Tensor(a!)?[2]?": fills the type and returns the alias mark.
  std::string parse_type(ArgType* type) {
    const std::string_view name = until("( ?[,)");
    const auto known = std::find_if(std::begin(kTypeNames), std::end(kTypeNames),
                                    [&](const TypeName& entry) { return entry.text == name; });
    if (known == std::end(kTypeNames)) fail("unknown type \"" + std::string(name) + "\"");
    type->base = known->base;
    std::string alias;
    if (at_ < text_.size() && text_[at_] == '(') {
      ++at_;
      alias = std::string(until(")"));
      need(")");
      alias.erase(std::remove(alias.begin(), alias.end(), ' '), alias.end());
      if (const size_t arrow = alias.find("->"); arrow != std::string::npos) alias.resize(arrow);
    }
    const bool first_mark = take("?");
    if (take("[")) {
      type->list = true;
      type->optional_item = first_mark;
      const std::string size(until("]"));
      need("]");
      if (!size.empty()) type->list_size = size.size() < 4 ? std::atoi(size.c_str()) : 0;
      type->optional = take("?");
    } else {
      type->optional = first_mark;
    }
    if (type->list && at_ < text_.size() && text_[at_] == '(') {  // Tensor[](a!)
      ++at_;
      alias = std::string(until(")"));
      need(")");
    }
    return alias;
  }

  // A default may hold brackets and quotes; it ends at a comma or bracket outside of them.
  std::string parse_default() {
    const size_t start = at_;
    int depth = 0;
    bool quoted = false;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"' || c == '\'') quoted = !quoted;
      if (quoted) continue;
      if (c == '[' || c == '(') ++depth;
      if (depth == 0 && (c == ',' || c == ')')) break;
      if (c == ']' || c == ')') --depth;
    }
    return std::string(text_.substr(start, at_ - start));
  }

  void parse_args(Schema& out) {
    bool keyword_only = false;
    if (take(")")) return;
    do {
      if (take("*")) {
        keyword_only = true;
        continue;
      }
      SchemaArg arg;
      arg.alias = parse_type(&arg.type);
      arg.name = std::string(until(",)="));
      arg.keyword_only = keyword_only;
      if (arg.name.empty()) fail("an argument has no name");
      if (take("=")) {
        arg.has_default = true;
        arg.default_text = parse_default();
      }
      out.args.push_back(std::move(arg));
    } while (take(","));
    need(")");
  }

  void parse_return(Schema& out) {
    SchemaReturn item;
    item.alias = parse_type(&item.type);
    item.name = std::string(until(",)"));
    out.returns.push_back(std::move(item));
  }

  void parse_returns(Schema& out) {
    if (!take("(")) {
      parse_return(out);
      return;
    }
    if (take(")")) return;
    do {
      parse_return(out);
    } while (take(","));
    need(")");
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

int Schema::find(std::string_view arg) const {
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].name == arg) return static_cast<int>(i);
  }
  return -1;
}

bool Schema::mutates() const {
  return std::any_of(args.begin(), args.end(), [](const SchemaArg& arg) { return arg.written(); });
}

bool Schema::returns_alias() const {
  return std::any_of(returns.begin(), returns.end(), [](const SchemaReturn& item) {
    return !item.alias.empty() && item.alias.back() != '!';
  });
}

namespace {

std::string type_text(const ArgType& type, const std::string& alias) {
  const auto name = std::find_if(std::begin(kTypeNames), std::end(kTypeNames),
                                 [&](const TypeName& entry) { return entry.base == type.base; });
  std::string out(name->text);
  if (!alias.empty()) out += "(" + alias + ")";
  if (type.list) {
    if (type.optional_item) out += "?";
    out += "[" + (type.list_size > 0 ? std::to_string(type.list_size) : "") + "]";
  }
  return type.optional ? out + "?" : out;
}

std::string arg_text(const SchemaArg& arg, size_t index) {
  std::string out = type_text(arg.type, arg.alias) + " ";
  out += arg.name.empty() ? "arg" + std::to_string(index) : arg.name;
  return arg.has_default ? out + "=" + arg.default_text : out;
}

}  // namespace

std::string to_text(const Schema& schema) {
  std::string out = schema.name + "(";
  bool keyword_only = false;
  for (size_t i = 0; i < schema.args.size(); ++i) {
    if (i != 0) out += ", ";
    if (schema.args[i].keyword_only && !keyword_only) out += "*, ";
    keyword_only = schema.args[i].keyword_only;
    out += arg_text(schema.args[i], i);
  }
  out += ") -> ";
  if (schema.returns.size() == 1 && schema.returns[0].name.empty()) {
    return out + type_text(schema.returns[0].type, schema.returns[0].alias);
  }
  out += "(";
  for (size_t i = 0; i < schema.returns.size(); ++i) {
    const SchemaReturn& item = schema.returns[i];
    if (i != 0) out += ", ";
    out += type_text(item.type, item.alias);
    if (!item.name.empty()) out += " " + item.name;
  }
  return out + ")";
}

Schema parse_schema(std::string_view text) { return Parser(text).parse(); }

}  // namespace taper::exir
