#include "exir/ir/graph.h"

#include <algorithm>
#include <charconv>

namespace taper::exir {

std::vector<uint8_t> contiguous_order(size_t rank) {
  std::vector<uint8_t> order(rank);
  for (size_t i = 0; i < rank; ++i) order[i] = static_cast<uint8_t>(i);
  return order;
}

std::string description_of(const TensorType& type) {
  std::string text = std::string(to_string(type.dtype)) + " (";
  for (size_t i = 0; i < type.sizes.size(); ++i) {
    text += (i == 0 ? "" : ", ") + type.sizes[i].text();
  }
  text += type.sizes.size() == 1 ? ",)" : ")";
  return text + (type.is_contiguous() ? "" : " not row-major");
}

const Sym& TensorSizes::operator[](size_t dim) const { return at(dim); }
Sym& TensorSizes::operator[](size_t dim) { return at(dim); }

TensorType::TensorType() = default;
TensorType::TensorType(const TensorType&) = default;
TensorType::TensorType(TensorType&&) noexcept = default;
TensorType& TensorType::operator=(const TensorType&) = default;
TensorType& TensorType::operator=(TensorType&&) noexcept = default;
TensorType::~TensorType() = default;
TensorType::TensorType(ScalarType type, std::vector<Sym> dims)
    : dtype(type), sizes(std::move(dims)), dim_order(contiguous_order(sizes.size())) {}

bool TensorType::is_static() const {
  return std::all_of(sizes.begin(), sizes.end(), [](const Sym& size) { return size.is_int(); });
}

bool TensorType::is_contiguous() const {
  for (size_t i = 0; i < dim_order.size(); ++i) {
    if (dim_order[i] != i) return false;
  }
  return true;
}

Sym TensorType::numel() const {
  Sym out(1);
  for (const Sym& size : sizes) out = out * size;
  return out;
}

TensorData own_bytes(std::vector<uint8_t> bytes) {
  auto owner = std::make_shared<const std::vector<uint8_t>>(std::move(bytes));
  return {owner->data(), owner->size(), owner};
}

namespace {

std::string kind_of(const Argument& arg) {
  static constexpr const char* kNames[] = {"None",     "a value",  "an int",  "a float",
                                           "a bool",   "a string", "a dtype", "a memory format",
                                           "a layout", "a device", "a list",  "a graph"};
  static_assert(std::size(kNames) == std::variant_size_v<decltype(arg.v)>);
  return kNames[arg.v.index()];
}

template <typename T>
const T& get(const Argument& arg, const char* wanted) {
  if (const T* item = std::get_if<T>(&arg.v)) return *item;
  throw Failure("an argument is " + kind_of(arg) + " where " + wanted + " is expected");
}

}  // namespace

Argument::Argument() noexcept = default;
Argument::Argument(Value* value) : v(value) {}
Argument::Argument(int64_t value) : v(value) {}
Argument::Argument(int value) : v(int64_t{value}) {}
Argument::Argument(double value) : v(value) {}
Argument::Argument(bool value) : v(value) {}
Argument::Argument(std::string text) : v(std::move(text)) {}
Argument::Argument(const char* text) : v(std::string(text)) {}
Argument::Argument(ScalarType dtype) : v(dtype) {}
Argument::Argument(MemoryFormat format) : v(format) {}
Argument::Argument(Layout layout) : v(layout) {}
Argument::Argument(Device device) : v(device) {}
Argument::Argument(List items) : v(std::move(items)) {}
Argument::Argument(std::shared_ptr<Graph> graph) : v(std::move(graph)) {}
// Assigned, not constructed: where a copy lacks memory, gcc 12 takes the variant for complete.
Argument::Argument(const Argument& other) { v = other.v; }
Argument::Argument(Argument&& other) noexcept = default;
Argument& Argument::operator=(const Argument& other) = default;
Argument& Argument::operator=(Argument&& other) noexcept = default;
Argument::~Argument() = default;

Value* Argument::value() const { return get<Value*>(*this, "a value"); }

int64_t Argument::to_int() const { return get<int64_t>(*this, "an int"); }

double Argument::to_double() const {
  if (const auto* number = std::get_if<int64_t>(&v)) return static_cast<double>(*number);
  if (const auto* flag = std::get_if<bool>(&v)) return *flag ? 1 : 0;
  return get<double>(*this, "a number");
}

bool Argument::to_bool() const {
  if (const auto* number = std::get_if<int64_t>(&v)) return *number != 0;
  return get<bool>(*this, "a bool");
}

const std::string& Argument::text() const { return get<std::string>(*this, "a string"); }
const Argument::List& Argument::list() const { return get<List>(*this, "a list"); }
Argument::List& Argument::list() { return const_cast<List&>(get<List>(*this, "a list")); }

Argument int_list(const std::vector<int64_t>& items) {
  return Argument(Argument::List(items.begin(), items.end()));
}

std::vector<int64_t> to_ints(const Argument& list) {
  std::vector<int64_t> out;
  for (const Argument& item : list.list()) out.push_back(item.to_int());
  return out;
}

const Argument& Node::arg(std::string_view wanted) const {
  const int index = schema->find(wanted);
  if (index < 0 || static_cast<size_t>(index) >= args.size()) {
    throw Failure(schema->name + " has no argument \"" + std::string(wanted) + "\"");
  }
  return args[static_cast<size_t>(index)];
}

// The trace is Python's: pairs of lines, "  File "a/model.py", line 12, in forward" and the source.
std::string Source::newest_frame() const {
  const size_t file = stack_trace.rfind("File \"");
  if (file == std::string::npos) return {};
  const size_t name_end = stack_trace.find('"', file + 6);
  if (name_end == std::string::npos) return {};
  std::string path = stack_trace.substr(file + 6, name_end - file - 6);
  path = path.substr(path.find_last_of('/') + 1);  // npos + 1 is 0.
  const size_t line_end = std::min(stack_trace.find('\n', name_end), stack_trace.size());
  const std::string rest = stack_trace.substr(name_end, line_end - name_end);
  std::string out = path;
  if (const size_t at = rest.find("line "); at != std::string::npos) {
    const size_t stop = std::min(rest.find_first_not_of("0123456789", at + 5), rest.size());
    out += ":" + rest.substr(at + 5, stop - at - 5);
  }
  if (const size_t at = rest.find(", in "); at != std::string::npos) {
    out += " in " + rest.substr(at + 5);
  }
  if (line_end >= stack_trace.size()) return out;
  const size_t begin = stack_trace.find_first_not_of(" \n", line_end);
  if (begin == std::string::npos) return out;
  const size_t end = std::min(stack_trace.find('\n', begin), stack_trace.size());
  return out + ": " + stack_trace.substr(begin, std::min<size_t>(end - begin, 200));
}

namespace {

// "relu_12" without the number at its end, so that copies of copies do not grow names.
std::string_view base_name(std::string_view hint) {
  const size_t last = hint.find_last_not_of("0123456789");
  if (last == std::string_view::npos || last + 1 == hint.size() || hint[last] != '_' || last == 0) {
    return hint;
  }
  return hint.substr(0, last);
}

std::string clean_name(std::string_view hint) {
  std::string out(hint.substr(0, 200));
  for (char& c : out) {
    const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '.';
    if (!good) c = '_';
  }
  return out.empty() ? "v" : out;
}

}  // namespace

Graph::Graph(Operators operators) : operators_(std::move(operators)) {}
Graph::~Graph() = default;

Value* Graph::new_value(std::string_view hint, ValueKind kind) {
  std::string wanted = clean_name(hint);
  if (names_.count(wanted) != 0) {
    const std::string base(base_name(wanted));
    int& next = names_[base];
    do {
      wanted = base + "_" + std::to_string(++next);
    } while (names_.count(wanted) != 0);
  }
  names_.emplace(wanted, 0);
  values_.push_back(std::make_unique<Value>());
  values_.back()->name = std::move(wanted);
  values_.back()->kind = kind;
  return values_.back().get();
}

Value* Graph::new_tensor(std::string_view hint, TensorType type) {
  Value* value = new_value(hint, ValueKind::kTensor);
  value->type = std::move(type);
  return value;
}

Value* Graph::new_constant(std::string_view hint, TensorType type, TensorData data) {
  Value* value = new_tensor(hint, std::move(type));
  value->role = ValueRole::kConstant;
  value->data = std::move(data);
  constants.push_back(value);
  return value;
}

namespace {

constexpr std::string_view kRefused = "refused::";

}  // namespace

void mark_refused(Node& node) {
  if (is_refused(node)) return;
  auto schema = std::make_shared<Schema>(*node.schema);
  schema->name = std::string(kRefused) + node.schema->name;
  for (SchemaArg& arg : schema->args) {
    arg.type = ArgType();
    arg.alias.clear();
  }
  for (SchemaReturn& item : schema->returns) item.alias.clear();
  node.schema = std::move(schema);
}

bool is_refused(const Node& node) { return node.target().starts_with(kRefused); }

std::string_view called_operator(const Node& node) {
  return is_refused(node) ? node.target().substr(kRefused.size()) : node.target();
}

Diagnostic diagnose(const Node& node, std::string id, std::string message, std::string remedy) {
  Diagnostic out;
  out.id = std::move(id);
  out.message = std::move(message);
  out.where = node.name;
  out.remedy = std::move(remedy);
  if (node.source) out.source = node.source->newest_frame();
  return out;
}

Node* Graph::append(std::shared_ptr<const Schema> schema, std::vector<Argument> args) {
  auto node = std::make_unique<Node>();
  node->schema = std::move(schema);
  node->args = std::move(args);
  nodes.push_back(std::move(node));
  return nodes.back().get();
}

}  // namespace taper::exir
