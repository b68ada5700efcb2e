// The text form of a graph. README.md has the grammar; parser.cpp reads it back.

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <set>

#include "exir/ir/graph.h"
#include "exir/ir/registry.h"

namespace taper::exir {
namespace {

constexpr size_t kMaxLiteralBytes = 256;

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string hex(const uint8_t* bytes, size_t count) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (size_t i = 0; i < count; ++i) {
    out += kDigits[bytes[i] >> 4];
    out += kDigits[bytes[i] & 15];
  }
  return out;
}

// FNV-1a, to tell large constants apart by eye.
std::string hash_of(const TensorData& data) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < data.bytes; ++i) hash = (hash ^ data.data[i]) * 0x100000001b3u;
  std::array<uint8_t, 8> bytes;
  for (size_t i = 0; i < 8; ++i) bytes[i] = static_cast<uint8_t>(hash >> (56 - 8 * i));
  return "#" + hex(bytes.data(), bytes.size());
}

template <typename T>
std::string literal(const TensorData& data) {
  std::string out;
  for (size_t at = 0; at + sizeof(T) <= data.bytes; at += sizeof(T)) {
    T value;
    std::memcpy(&value, data.data + at, sizeof(T));
    if (at != 0) out += ", ";
    if constexpr (std::is_same_v<T, float>) {
      if (std::isnan(value)) return {};
      std::array<char, 32> text;
      out.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr);
    } else if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(value)) return {};
      out += Sym::from_float(value).text();
    } else {
      out += std::to_string(value);
    }
  }
  return "{" + out + "}";
}

// The numbers as text; empty if the dtype or a NaN has no literal.
std::string literal_of(const TensorData& data, ScalarType type) {
  switch (type) {
    case ScalarType::kFloat:
      return literal<float>(data);
    case ScalarType::kDouble:
      return literal<double>(data);
    case ScalarType::kLong:
      return literal<int64_t>(data);
    case ScalarType::kInt:
      return literal<int32_t>(data);
    case ScalarType::kShort:
      return literal<int16_t>(data);
    case ScalarType::kChar:
      return literal<int8_t>(data);
    case ScalarType::kByte:
    case ScalarType::kBool:
      return literal<uint8_t>(data);
    default:
      return {};
  }
}

std::string data_text(const TensorData& data, ScalarType type) {
  if (data.data == nullptr) return "none";
  const auto is_zero = [](uint8_t byte) { return byte == 0; };
  if (std::all_of(data.data, data.data + data.bytes, is_zero)) return "zeros";
  if (data.bytes > kMaxLiteralBytes) return hash_of(data);
  const std::string numbers = literal_of(data, type);
  return numbers.empty() ? "hex \"" + hex(data.data, data.bytes) + "\"" : numbers;
}

std::string type_text(const TensorType& type) {
  std::string out = std::string(to_string(type.dtype)) + "[";
  for (size_t i = 0; i < type.sizes.size(); ++i) {
    if (i != 0) out += ", ";
    out += type.sizes[i].text();
  }
  out += "]";
  if (type.is_contiguous()) return out;
  out += " order(";
  for (size_t i = 0; i < type.dim_order.size(); ++i) {
    if (i != 0) out += ", ";
    out += std::to_string(type.dim_order[i]);
  }
  return out + ")";
}

std::string definition(const Value& value) {
  std::string out = "%" + value.name + ": ";
  switch (value.kind) {
    case ValueKind::kTensor:
      return out + type_text(value.type);
    case ValueKind::kInt:
      return out + "int(" + value.sym.text() + ")";
    case ValueKind::kFloat:
      return out + "float(" + value.sym.text() + ")";
    case ValueKind::kBool:
      return out + "bool(" + value.sym.text() + ")";
  }
  return out;
}

const char* format_name(MemoryFormat format) {
  switch (format) {
    case MemoryFormat::kContiguous:
      return "contiguous_format";
    case MemoryFormat::kChannelsLast:
      return "channels_last";
    case MemoryFormat::kChannelsLast3d:
      return "channels_last_3d";
    case MemoryFormat::kPreserve:
      return "preserve_format";
  }
  return "preserve_format";
}

class Printer {
 public:
  std::string run(const Graph& graph) {
    known_ = graph.operators();
    print_graph(graph);
    out_ += "\n";
    std::string operators;
    for (const std::string& text : unknown_) operators += "operator " + quoted(text) + "\n";
    return operators + out_;
  }

  std::string run(const Argument& argument) {
    print_argument(argument);
    return std::move(out_);
  }

 private:
  void line(const std::string& text) {
    out_ += "\n" + std::string(static_cast<size_t>(indent_) * 2, ' ') + text;
  }

  void print_graph(const Graph& graph) {
    out_ += "graph " + quoted(graph.name) + " {";
    ++indent_;
    for (const auto& [name, range] : graph.ranges) line(range_text(name, range));
    for (const Guard& guard : graph.guards) line("guard " + quoted(guard.holds.text()));
    if (!graph.in_spec.empty()) line("in_spec " + quoted(graph.in_spec));
    if (!graph.out_spec.empty()) line("out_spec " + quoted(graph.out_spec));
    for (const Argument& input : graph.inputs) {
      line("input ");
      input.is_value() ? void(out_ += definition(*input.value())) : print_argument(input);
    }
    for (const Value* constant : graph.constants) print_constant(*constant);
    for (const auto& node : graph.nodes) print_node(*node);
    for (const Mutation& mutation : graph.mutations) {
      line("mutate %" + mutation.target->name + " = %" + mutation.source->name);
    }
    line("return");
    for (size_t i = 0; i < graph.outputs.size(); ++i) {
      out_ += i == 0 ? " " : ", ";
      print_argument(graph.outputs[i]);
    }
    --indent_;
    line("}");
  }

  static std::string range_text(const std::string& name, const SymRange& range) {
    const std::string low = range.min == INT64_MIN ? "-inf" : std::to_string(range.min);
    const std::string high = range.max == SymRange::kUnbounded ? "inf" : std::to_string(range.max);
    return "range " + name + " = [" + low + ", " + high + "]";
  }

  void print_constant(const Value& value) {
    line(value.role == ValueRole::kState ? "state " : "constant ");
    out_ += definition(value);
    if (!value.fqn.empty()) out_ += " " + quoted(value.fqn);
    out_ += " = " + data_text(value.data, value.type.dtype);
  }

  void print_node(const Node& node) {
    if (known_->find(node.schema->name) == nullptr) unknown_.insert(to_text(*node.schema));
    line("");
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (i != 0) out_ += ", ";
      out_ += definition(*node.outputs[i]);
    }
    if (!node.outputs.empty()) out_ += " = ";
    out_ += node.schema->name + "(";
    for (size_t i = 0; i < node.args.size(); ++i) {
      if (i != 0) out_ += ", ";
      print_argument(node.args[i]);
    }
    out_ += ")";
  }

  void print_list(const Argument::List& items) {
    out_ += "[";
    for (size_t i = 0; i < items.size(); ++i) {
      if (i != 0) out_ += ", ";
      print_argument(items[i]);
    }
    out_ += "]";
  }

  struct Visitor {
    Printer& p;
    void operator()(std::monostate) { p.out_ += "None"; }
    void operator()(Value* value) { p.out_ += value ? "%" + value->name : "None"; }
    void operator()(int64_t number) { p.out_ += std::to_string(number); }
    void operator()(double number) { p.out_ += Sym::from_float(number).text(); }
    void operator()(bool flag) { p.out_ += flag ? "True" : "False"; }
    void operator()(const std::string& text) { p.out_ += quoted(text); }
    void operator()(ScalarType type) { p.out_ += to_string(type); }
    void operator()(MemoryFormat format) { p.out_ += format_name(format); }
    void operator()(Layout) { p.out_ += "strided"; }
    void operator()(Device) { p.out_ += "cpu"; }
    void operator()(const Argument::List& items) { p.print_list(items); }
    void operator()(const std::shared_ptr<Graph>& graph) { p.print_graph(*graph); }
  };
  void print_argument(const Argument& arg) { std::visit(Visitor{*this}, arg.v); }

  std::string out_;
  Operators known_;
  std::set<std::string> unknown_;
  int indent_ = 0;
};

}  // namespace

std::string print(const Graph& graph) { return Printer().run(graph); }

std::string print(const Argument& argument) { return Printer().run(argument); }

}  // namespace taper::exir
