// Reads the text form of a graph. README.md has the grammar; printer.cpp writes it.

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "exir/ir/graph.h"
#include "exir/ir/registry.h"

namespace taper::exir {
namespace {

constexpr int kMaxNesting = 50;
constexpr size_t kMaxConstantBytes = size_t{1} << 28;

struct Word {
  std::string_view text;
  Argument meaning;
};

const std::vector<Word>& words() {
  static const auto* list = new std::vector<Word>{
      {"None", {}},
      {"True", true},
      {"False", false},
      {"contiguous_format", MemoryFormat::kContiguous},
      {"channels_last", MemoryFormat::kChannelsLast},
      {"channels_last_3d", MemoryFormat::kChannelsLast3d},
      {"preserve_format", MemoryFormat::kPreserve},
      {"strided", Layout{}},
      {"cpu", Device{}},
      {"inf", HUGE_VAL},
      {"nan", std::nan("")},
  };
  return *list;
}

std::optional<ScalarType> dtype_of(std::string_view name) {
  for (int i = 0; i < 64; ++i) {
    const auto type = static_cast<ScalarType>(i);
    if (is_valid(type) && to_string(type) == name) return type;
  }
  return std::nullopt;
}

class Parser {
 public:
  Parser(std::string_view text, Operators known) : text_(text), known_(std::move(known)) {}

  std::unique_ptr<Graph> parse() {
    while (take_word("operator")) {
      auto schema = std::make_shared<const Schema>(parse_schema(string()));
      operators_[schema->name] = std::move(schema);
    }
    need_word("graph");
    auto graph = parse_graph_body();
    skip_space();
    if (at_ != text_.size()) fail("text follows the graph");
    return graph;
  }

 private:
  using Scope = std::unordered_map<std::string_view, Value*>;

  [[noreturn]] void fail(const std::string& why) const {
    size_t line = 1;
    for (size_t i = 0; i < at_ && i < text_.size(); ++i) line += text_[i] == '\n';
    throw Failure("line " + std::to_string(line) + ": " + why);
  }
  void skip_space() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(text_[at_]))) {
        ++at_;
      } else if (text_.substr(at_, 2) == "//") {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else {
        return;
      }
    }
  }
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void need(char c) {
    if (!take(c)) fail(std::string("'") + c + "' is missing");
  }
  static bool is_word_char(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == ':';
  }
  std::string_view word() {
    skip_space();
    const size_t start = at_;
    while (at_ < text_.size() && is_word_char(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }
  bool take_word(std::string_view wanted) {
    skip_space();
    const size_t start = at_;
    if (word() == wanted) return true;
    at_ = start;
    return false;
  }
  void need_word(std::string_view wanted) {
    if (!take_word(wanted)) fail("\"" + std::string(wanted) + "\" is missing");
  }
  std::string_view name() {
    need('%');
    size_t start = at_;
    while (at_ < text_.size() && is_word_char(text_[at_]) && text_[at_] != ':') ++at_;
    if (at_ == start) fail("a name is missing after %");
    return text_.substr(start, at_ - start);
  }
  std::string string() {
    need('"');
    std::string out;
    while (at_ < text_.size() && text_[at_] != '"') {
      char c = text_[at_++];
      if (c == '\\' && at_ < text_.size()) {
        c = text_[at_++];
        if (c == 'n') c = '\n';
      }
      out += c;
    }
    need('"');
    return out;
  }
  // Text up to one of `stops` outside of brackets.
  std::string_view until(std::string_view stops) {
    const size_t start = at_;
    int depth = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (depth == 0 && stops.find(c) != stops.npos) break;
      if (c == '(') ++depth;
      if (c == ')') --depth;
    }
    return text_.substr(start, at_ - start);
  }
  Argument number() {
    skip_space();
    const size_t start = at_;
    if (peek() == '-') ++at_;
    if (take_word("inf")) return -HUGE_VAL;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool sign = (c == '-' || c == '+') && (text_[at_ - 1] == 'e');
      if (!std::isdigit(static_cast<unsigned char>(c)) && c != '.' && c != 'e' && !sign) break;
      ++at_;
    }
    const char *from = text_.data() + start, *to = text_.data() + at_;
    int64_t whole = 0;
    const auto [end, error] = std::from_chars(from, to, whole);
    if (end == to && error == std::errc()) return whole;
    double real = 0;
    if (from == to || std::from_chars(from, to, real).ptr != to) fail("bad number");
    return real;
  }

  Value* define(std::string_view called) {
    if (scope_->count(called) != 0) fail("%" + std::string(called) + " is defined twice");
    Value* value = graph_->new_value(called);
    if (value->name != called) fail("%" + std::string(called) + " is not a valid name");
    (*scope_)[called] = value;
    return value;
  }
  TensorType tensor_type(ScalarType dtype) {
    std::vector<Sym> sizes;
    need('[');
    while (peek() != ']') {
      sizes.push_back(parse_sym(until(",]")));
      if (!take(',')) break;
    }
    need(']');
    TensorType type(dtype, std::move(sizes));
    if (!take_word("order")) return type;
    need('(');
    type.dim_order.clear();
    while (peek() != ')') {
      type.dim_order.push_back(static_cast<uint8_t>(number().to_int()));
      if (!take(',')) break;
    }
    need(')');
    return type;
  }
  Value* definition() {
    Value* value = define(name());
    need(':');
    const std::string_view type = word();
    if (const auto dtype = dtype_of(type); dtype && peek() == '[') {
      value->type = tensor_type(*dtype);
      return value;
    }
    if (type == "int") {
      value->kind = ValueKind::kInt;
    } else if (type == "float") {
      value->kind = ValueKind::kFloat;
    } else if (type == "bool") {
      value->kind = ValueKind::kBool;
    } else {
      fail("unknown type \"" + std::string(type) + "\"");
    }
    need('(');
    value->sym = parse_sym(until(")"));
    need(')');
    return value;
  }

  Argument list() {
    Argument::List items;
    need('[');
    while (peek() != ']') {
      items.push_back(argument());
      if (!take(',')) break;
    }
    need(']');
    return items;
  }
  Argument argument() {
    const char c = peek();
    if (c == '%') {
      const std::string_view called = name();
      const auto found = scope_->find(called);
      if (found == scope_->end()) fail("%" + std::string(called) + " is not defined");
      return found->second;
    }
    if (c == '"') return string();
    if (c == '[') return nested([&] { return list(); });
    if (c == '-' || std::isdigit(static_cast<unsigned char>(c))) return number();
    if (take_word("graph")) {
      return nested([&] { return Argument(std::shared_ptr<Graph>(parse_graph_body())); });
    }
    const std::string_view text = word();
    for (const Word& known : words()) {
      if (known.text == text) return known.meaning;
    }
    if (const auto dtype = dtype_of(text)) return *dtype;
    fail("unexpected \"" + std::string(text.empty() ? std::string_view(&c, 1) : text) + "\"");
  }
  template <typename Body>
  Argument nested(const Body& body) {
    if (++depth_ > kMaxNesting) fail("nested too deeply");
    Argument out = body();
    --depth_;
    return out;
  }

  template <typename T>
  void write_numbers(std::vector<uint8_t>& bytes) {
    for (size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
      if (at != 0) need(',');
      const Argument item = argument();
      T value;
      if constexpr (std::is_floating_point_v<T>) {
        value = static_cast<T>(item.to_double());
      } else {
        value = static_cast<T>(item.to_int());
      }
      std::memcpy(bytes.data() + at, &value, sizeof(T));
    }
  }
  void literal(std::vector<uint8_t>& bytes, ScalarType type) {
    switch (type) {
      case ScalarType::kFloat:
        return write_numbers<float>(bytes);
      case ScalarType::kDouble:
        return write_numbers<double>(bytes);
      case ScalarType::kLong:
        return write_numbers<int64_t>(bytes);
      case ScalarType::kInt:
        return write_numbers<int32_t>(bytes);
      case ScalarType::kShort:
        return write_numbers<int16_t>(bytes);
      case ScalarType::kChar:
        return write_numbers<int8_t>(bytes);
      case ScalarType::kByte:
      case ScalarType::kBool:
        return write_numbers<uint8_t>(bytes);
      default:
        fail("this element type has no literals: write hex");
    }
  }
  void hex(std::vector<uint8_t>& bytes) {
    const std::string digits = string();
    if (digits.size() != bytes.size() * 2) fail("the hex data has the wrong length");
    for (size_t i = 0; i < bytes.size(); ++i) {
      const char* from = digits.data() + 2 * i;
      if (std::from_chars(from, from + 2, bytes[i], 16).ptr != from + 2) fail("bad hex digits");
    }
  }
  TensorData data(const TensorType& type) {
    if (take_word("none")) return {};
    size_t count = element_size(type.dtype);
    for (const Sym& size : type.sizes) {
      if (!size.is_int() || size.as_int() < 0) fail("a constant has sizes that are not known");
      if (__builtin_mul_overflow(count, static_cast<size_t>(size.as_int()), &count))
        count = SIZE_MAX;
    }
    if (count > kMaxConstantBytes) fail("a constant is too large");
    std::vector<uint8_t> bytes(count);
    if (take('{')) {
      literal(bytes, type.dtype);
      need('}');
    } else if (take_word("hex")) {
      hex(bytes);
    } else if (take('#')) {
      word();
    } else {
      need_word("zeros");
    }
    return own_bytes(std::move(bytes));
  }

  void constant(ValueRole role) {
    Value* value = definition();
    if (value->kind != ValueKind::kTensor) fail("a constant is a tensor");
    value->role = role;
    if (peek() == '"') value->fqn = string();
    need('=');
    value->data = data(value->type);
    graph_->constants.push_back(value);
  }
  void input() {
    if (peek() != '%') {
      graph_->inputs.push_back(argument());
      return;
    }
    Value* value = definition();
    value->role = ValueRole::kInput;
    graph_->inputs.push_back(value);
  }
  void range() {
    const std::string symbol(word());
    need('=');
    need('[');
    const Argument low = argument();
    need(',');
    const Argument high = argument();
    need(']');
    graph_->ranges[symbol] = {low.is_int() ? low.to_int() : INT64_MIN,
                              high.is_int() ? high.to_int() : SymRange::kUnbounded};
  }
  void mutation() {
    Mutation item;
    item.target = argument().value();
    need('=');
    item.source = argument().value();
    graph_->mutations.push_back(item);
  }
  void node() {
    std::vector<Value*> outputs;
    if (peek() == '%') {
      do {
        outputs.push_back(definition());
      } while (take(','));
      need('=');
    }
    const std::string target(word());
    if (target.empty()) fail("an operator is missing");
    const auto own = operators_.find(target);
    const auto schema = own != operators_.end() ? own->second : known_->find(target);
    if (!schema) fail("unknown operator \"" + target + "\"");
    need('(');
    std::vector<Argument> args;
    while (peek() != ')') {
      args.push_back(argument());
      if (!take(',')) break;
    }
    need(')');
    for (size_t i = args.size(); i < schema->args.size(); ++i) {
      args.push_back(default_argument(schema->args[i]));
    }
    Node* made = graph_->append(schema, std::move(args));
    made->outputs = std::move(outputs);
    made->name = made->outputs.empty() ? target : made->outputs[0]->name;
    for (Value* output : made->outputs) output->producer = made;
  }
  void returns() {
    while (peek() != '}') {
      graph_->outputs.push_back(argument());
      if (!take(',')) break;
    }
  }

  std::unique_ptr<Graph> parse_graph_body() {
    auto graph = std::make_unique<Graph>(known_);
    Scope scope;
    Graph* outer_graph = std::exchange(graph_, graph.get());
    Scope* outer_scope = std::exchange(scope_, &scope);
    graph->name = string();
    need('{');
    statements();
    need('}');
    graph_ = outer_graph;
    scope_ = outer_scope;
    return graph;
  }
  void statements() {
    while (peek() != '}') {
      if (take_word("range")) {
        range();
      } else if (take_word("guard")) {
        const std::string text = string();
        graph_->guards.push_back({parse_sym(text), text});
      } else if (take_word("in_spec")) {
        graph_->in_spec = string();
      } else if (take_word("out_spec")) {
        graph_->out_spec = string();
      } else if (take_word("input")) {
        input();
      } else if (take_word("constant")) {
        constant(ValueRole::kConstant);
      } else if (take_word("state")) {
        constant(ValueRole::kState);
      } else if (take_word("mutate")) {
        mutation();
      } else if (take_word("return")) {
        returns();
        return;
      } else {
        node();
      }
    }
  }

  std::string_view text_;
  Operators known_;
  size_t at_ = 0;
  int depth_ = 0;
  Graph* graph_ = nullptr;
  Scope* scope_ = nullptr;
  std::map<std::string, std::shared_ptr<const Schema>, std::less<>> operators_;
};

}  // namespace

std::unique_ptr<Graph> parse_graph(std::string_view text, Operators operators) {
  return Parser(text, std::move(operators)).parse();
}

}  // namespace taper::exir
