// Each node gets a key of its operator and arguments; one whose key was seen before is replaced.

#include "exir/passes/simplify/cse.h"

#include <cstring>
#include <string>
#include <unordered_map>

#include "exir/ir/registry.h"
#include "exir/ir/rewrite.h"
#include "exir/ops/aten_calls.h"

namespace taper::exir {
namespace {

constexpr size_t kSmallConstant = 256;

// Writes a key that is the same for two arguments if and only if they are equal. False for a graph.
struct KeyWriter {
  std::string& key;

  template <typename T>
  bool raw(char tag, const T& value) {
    key += tag;
    key.append(reinterpret_cast<const char*>(&value), sizeof(value));
    return true;
  }
  bool operator()(std::monostate) { return key += 'n', true; }
  bool operator()(Value* value) { return raw('v', value); }
  bool operator()(int64_t number) { return raw('i', number); }
  bool operator()(double number) { return raw('d', number); }
  bool operator()(bool flag) { return raw('b', flag); }
  bool operator()(const std::string& text) {
    raw('s', text.size());
    key += text;
    return true;
  }
  bool operator()(ScalarType type) { return raw('t', type); }
  bool operator()(MemoryFormat format) { return raw('m', format); }
  bool operator()(Layout) { return key += 'l', true; }
  bool operator()(Device) { return key += 'c', true; }
  bool operator()(const Argument::List& items) {
    raw('[', items.size());
    for (const Argument& item : items) {
      if (!std::visit(*this, item.v)) return false;
    }
    return true;
  }
  bool operator()(const std::shared_ptr<Graph>&) { return false; }
};

bool write_key(const Node& node, std::string& key) {
  key = node.schema->name;
  key += '(';
  KeyWriter writer{key};
  for (const Argument& arg : node.args) {
    if (!std::visit(writer, arg.v)) return false;
  }
  writer.raw(')', node.outputs.size());
  return true;
}

bool same_types(const Node& a, const Node& b) {
  for (size_t i = 0; i < a.outputs.size(); ++i) {
    const Value &x = *a.outputs[i], &y = *b.outputs[i];
    if (x.kind != y.kind || !(x.type == y.type) || !(x.sym == y.sym)) return false;
  }
  return true;
}

// Maps small constants, such as lifted numbers, to the first constant that equals them.
std::unordered_map<const Value*, Value*> equal_constants(const Graph& graph) {
  std::unordered_map<const Value*, Value*> same;
  std::unordered_map<std::string, Value*> first;
  for (Value* constant : graph.constants) {
    if (constant->role != ValueRole::kConstant || constant->data.bytes > kSmallConstant) continue;
    if (constant->scales != nullptr) continue;
    std::string key(1, static_cast<char>(constant->type.dtype));
    for (const Sym& size : constant->type.sizes) key += size.text() + ",";
    key.append(constant->type.dim_order.begin(), constant->type.dim_order.end());
    key += ':';
    if (constant->data.bytes != 0) {
      key.append(reinterpret_cast<const char*>(constant->data.data), constant->data.bytes);
    }
    const auto [found, fresh] = first.try_emplace(std::move(key), constant);
    if (!fresh) same[constant] = found->second;
  }
  return same;
}

// Whether two such calls may have different results. Of PyTorch's own operators that is not known.
bool is_random(const Node& node, const OperatorRegistry& operators) {
  return is_left_to_aten(node) || operators.tags(node.target()).random;
}

int merge(Graph& graph) {
  const auto same = equal_constants(graph);
  std::unordered_map<std::string, const Node*> seen;
  bool first = true;
  std::string key;
  return rewrite(graph, [&](Node& node, Rewriter& rewriter) {
    if (first) {
      for (const auto& [constant, other] : same)
        rewriter.replace(const_cast<Value*>(constant), other);
      for (Argument& arg : node.args) arg = rewriter.resolve(arg);
      first = false;
    }
    if (node.outputs.empty() || node.schema->mutates()) return false;
    if (is_random(node, *graph.operators()) || !write_key(node, key)) return false;
    const auto [found, fresh] = seen.try_emplace(key, &node);
    if (fresh || !same_types(node, *found->second)) return false;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      rewriter.replace(node.outputs[i], found->second->outputs[i]);
    }
    return true;
  });
}

}  // namespace

int cse(Graph& graph) {
  int total = 0;
  for (Graph* each : all_graphs(graph)) {
    total += merge(*each);
    erase_dead(*each);
  }
  return total;
}

}  // namespace taper::exir
