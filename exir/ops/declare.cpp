#include "exir/ops/declare.h"

#include <algorithm>

#include "exir/ops/builtin.h"
#include "exir/ops/infer.h"

namespace taper::exir {
namespace {

bool is_tensor(const ArgType& type) { return type.base == TypeBase::kTensor; }
bool is_fresh(const SchemaReturn& item) { return item.alias.empty(); }

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = text.find_first_not_of(" \t,", at);
    if (begin == text.npos) break;
    at = std::min(text.find_first_of(" \t,", begin), text.size());
    words.push_back(text.substr(begin, at - begin));
  }
  return words;
}

// The end of the schema: behind the type, or the bracketed list, that follows the arrow.
size_t end_of_schema(std::string_view line) {
  const size_t arrow = line.find("->");
  if (arrow == line.npos) throw Failure("\"->\" and the results are missing");
  size_t at = line.find_first_not_of(" \t", arrow + 2);
  if (at == line.npos) throw Failure("the results are missing");
  for (int depth = 0; at < line.size(); ++at) {
    if (line[at] == '(') ++depth;
    if (line[at] == ')') --depth;
    if (depth == 0 && (line[at] == ' ' || line[at] == '\t')) break;
  }
  return at;
}

// "ns::name" or "ns::name.overload".
bool is_operator_name(std::string_view name) {
  const size_t colon = name.find("::");
  const auto is_word = [](std::string_view word) {
    return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    });
  };
  if (colon == name.npos || !is_word(name.substr(0, colon))) return false;
  const std::string_view rest = name.substr(colon + 2);
  const size_t dot = rest.find('.');
  return is_word(rest.substr(0, dot)) && (dot == rest.npos || is_word(rest.substr(dot + 1)));
}

void check_names(const Schema& schema) {
  if (!is_operator_name(schema.name)) {
    throw Failure("\"" + schema.name.substr(0, 80) +
                  "\" is no name like ns::op or ns::op.overload");
  }
  for (size_t i = 0; i < schema.args.size(); ++i) {
    if (static_cast<size_t>(schema.find(schema.args[i].name)) != i) {
      throw Failure("two arguments are called " + schema.args[i].name);
    }
  }
}

void check_schema(const Schema& schema) {
  check_names(schema);
  if (schema.name.starts_with("aten::") || schema.name.starts_with("prim::")) {
    throw Failure("the namespace of " + schema.name + " is PyTorch's own");
  }
  for (const SchemaReturn& item : schema.returns) {
    if (!is_tensor(item.type) || item.type.optional) throw Failure("results must be tensors");
    if (item.type.list && schema.returns.size() > 1) {
      throw Failure("a list of tensors must be the only result");
    }
  }
  for (const SchemaArg& arg : schema.args) {
    if (arg.written() && arg.keyword_only) {
      throw Failure("declare the operator without out=; its out variant follows from it");
    }
    const bool plain = is_tensor(arg.type) && !arg.type.list && !arg.type.optional;
    if (arg.written() && !plain) throw Failure("only single tensors can be written");
  }
  for (const SchemaReturn& item : schema.returns) {
    const bool known =
        item.alias.empty() ||
        std::any_of(schema.args.begin(), schema.args.end(),
                    [&](const SchemaArg& arg) { return arg.written() && arg.alias == item.alias; });
    if (!known) throw Failure("a result aliases \"" + item.alias + "\", which no argument does");
  }
  if (schema.returns_alias()) {
    throw Failure("a custom operator cannot return a view: return a new tensor");
  }
}

}  // namespace

std::optional<Schema> kernel_of(const Schema& schema, const std::string& name) {
  Schema out = schema;
  out.returns.clear();
  const auto fresh = std::count_if(schema.returns.begin(), schema.returns.end(), is_fresh);
  if (fresh == 0 && name.empty()) return std::nullopt;
  out.name = !name.empty() ? name : with_overload(schema.name, "out");
  if (fresh == 0) {
    out.returns = schema.returns;
    return out;
  }
  size_t made = 0;
  for (const SchemaReturn& item : schema.returns) {
    if (!is_fresh(item)) continue;
    SchemaArg arg;
    arg.type = item.type;
    arg.name = fresh == 1 ? "out" : "out" + std::to_string(made);
    while (out.find(arg.name) >= 0) arg.name += "_";
    arg.alias = "o" + std::to_string(made++) + "!";
    arg.keyword_only = true;
    if (!item.type.list) out.returns.push_back({arg.type, "", arg.alias});
    out.args.push_back(std::move(arg));
  }
  return out;
}

namespace {

class LineParser {
 public:
  explicit LineParser(std::string_view line) : line_(line) {}

  Declaration parse() {
    const size_t end = end_of_schema(line_);
    op_.schema = parse_schema(line_.substr(0, end));
    check_schema(op_.schema);
    words_ = words_of(line_.substr(end));
    while (at_ < words_.size()) clause(words_[at_++]);
    op_.kernel = kernel_of(op_.schema, kernel_);
    return std::move(op_);
  }

 private:
  std::string next(std::string_view after) {
    if (at_ == words_.size()) throw Failure("a name must follow \"" + std::string(after) + "\"");
    return std::string(words_[at_++]);
  }

  void clause(std::string_view word) {
    if (word == "random") {
      op_.random = true;
    } else if (word == "kernel") {
      kernel_ = next(word);
      if (!is_operator_name(kernel_))
        throw Failure("\"" + kernel_.substr(0, 80) +
                      "\" is no name like ns::op or ns::op.overload");
    } else if (word == "as") {
      op_.rule.as = next(word);
      if (!has_type_rule(op_.rule.as)) throw Failure("no type rule is called " + op_.rule.as);
    } else if (word == "like") {
      like();
    } else {
      throw Failure("\"" + std::string(word) + "\" is none of like, as, kernel, random");
    }
  }

  void like() {
    while (op_.rule.like.size() < std::max<size_t>(op_.schema.returns.size(), 1) &&
           at_ < words_.size()) {
      const std::string name(words_[at_]);
      const int arg = op_.schema.find(name);
      if (arg < 0 || !is_tensor(op_.schema.args[static_cast<size_t>(arg)].type)) break;
      op_.rule.like.push_back(name);
      ++at_;
    }
    if (op_.rule.like.size() == op_.schema.returns.size() && !op_.rule.like.empty()) return;
    throw Failure("\"like\" needs the name of a tensor argument for each result");
  }

  std::string_view line_;
  std::vector<std::string_view> words_;
  size_t at_ = 0;
  Declaration op_;
  std::string kernel_;
};

std::string_view without_comment(std::string_view line) {
  line = line.substr(0, line.find('#'));
  const size_t begin = line.find_first_not_of(" \t\r");
  if (begin == line.npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
}

// The types of the results of a call.
std::vector<TensorType> types_by_rule(const TypeRule& rule, const Schema& schema,
                                      const std::vector<Argument>& args) {
  if (!rule.as.empty()) {
    const std::shared_ptr<const Schema> model = builtin_operators()->need(rule.as);
    std::vector<Argument> given(
        args.begin(), args.begin() + static_cast<long>(std::min(args.size(), model->args.size())));
    for (size_t i = given.size(); i < model->args.size(); ++i) {
      given.push_back(default_argument(model->args[i]));
    }
    return infer_types(*model, given);
  }
  std::vector<TensorType> types;
  for (const std::string& name : rule.like) {
    const Argument& arg = args.at(static_cast<size_t>(schema.find(name)));
    if (!arg.is_value())
      throw Failure(schema.name + ": the argument \"" + name + "\" is no tensor");
    types.push_back(arg.value()->type);
  }
  return types;
}

}  // namespace

void for_each_declaration(std::string_view text, std::string_view where,
                          const std::function<void(const Declaration&)>& visit) {
  size_t number = 0;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = without_comment(text.substr(at, end - at));
    at = end + 1;
    ++number;
    if (line.empty()) continue;
    try {
      visit(LineParser(line).parse());
    } catch (const Failure& failure) {
      throw Failure(std::string(where) + ":" + std::to_string(number) + ": " + failure.what());
    }
  }
}

Operators declare_operators(Operators below, std::string_view text, std::string_view where) {
  auto operators = std::make_shared<OperatorRegistry>(std::move(below));
  for_each_declaration(text, where, [&](const Declaration& op) {
    ResultTypes types;
    if (!op.rule.empty()) {
      types = [rule = op.rule](const Schema& schema, const std::vector<Argument>& args) {
        return types_by_rule(rule, schema, args);
      };
    }
    operators->declare(op.schema, op.kernel, op.random, std::move(types));
  });
  return operators;
}

namespace {

std::string type_of(const Argument& arg) {
  if (arg.is_value()) {
    static constexpr const char* kKinds[] = {"Tensor", "int", "float", "bool"};
    return kKinds[static_cast<size_t>(arg.value()->kind)];
  }
  if (arg.is_int()) return "int";
  if (arg.is<double>()) return "float";
  if (arg.is<bool>()) return "bool";
  if (arg.is<std::string>()) return "str";
  if (arg.is<ScalarType>()) return "ScalarType";
  if (arg.is_list()) return (arg.list().empty() ? "int" : type_of(arg.list()[0])) + "[]";
  return "Tensor?";
}

}  // namespace

std::string suggested_declaration(const Node& node) {
  std::string out = node.schema->name + "(";
  bool writes = node.outputs.empty();
  for (size_t i = 0; i < node.args.size(); ++i) {
    std::string type = type_of(node.args[i]);
    if (writes && type == "Tensor") {
      type = "Tensor(a!)";
      writes = false;
    }
    out += (i == 0 ? "" : ", ") + type + " " + node.schema->args.at(i).name;
  }
  out += ") -> ";
  if (node.outputs.size() == 1) return out + "Tensor";
  out += "(";
  for (size_t i = 0; i < node.outputs.size(); ++i) out += i == 0 ? "Tensor" : ", Tensor";
  return out + ")";
}

}  // namespace taper::exir
