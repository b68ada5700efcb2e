// Lowers the program until writes are values and all tensors are real; then outputs and inputs are
// exchanged, and the rest of the compiler runs.

#include "tools/compare/reference.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "exir/bounds.h"
#include "exir/emit/debug_info.h"
#include "exir/frontend/import.h"
#include "exir/ir/registry.h"
#include "exir/ir/rewrite.h"
#include "exir/lower.h"
#include "kernels_portable/engine/half.h"
#include "tools/compare/bounds.h"
#include "tools/error.h"
#include "tools/tensor_bytes.h"

namespace taper::tools {
namespace {

using exir::Graph;
using exir::Value;

// The values behind Reference::tensors(), in the same order.
std::vector<Value*> values_of(const Graph& graph) {
  std::set<const Value*> results;  // Passes may have made them, without a name of the exporter's.
  for (const exir::Argument& output : graph.outputs) {
    if (output.is_value()) results.insert(output.value());
  }
  std::vector<Value*> values;
  for (const auto& node : graph.nodes) {
    for (Value* output : node->outputs) {
      const bool is_named = !output->holds.empty() || results.count(output) != 0;
      if (output->kind == exir::ValueKind::kTensor && is_named) values.push_back(output);
    }
  }
  return values;
}

// Symbols that are the size of an input are bounded by what the compiled program takes.
exir::SymValues bounds_of(const Graph& graph, const std::vector<std::vector<int64_t>>& sizes) {
  exir::SymValues bounds;
  size_t k = 0;
  for (const exir::Argument& input : graph.inputs) {
    if (!input.is_value() || input.value()->kind != exir::ValueKind::kTensor) continue;
    const exir::TensorType& type = input.value()->type;
    if (k < sizes.size() && sizes[k].size() == type.rank()) {
      for (size_t d = 0; d < type.rank(); ++d) {
        const std::vector<std::string> symbols = type.sizes[d].symbols();
        if (symbols.size() == 1 && type.sizes[d] == exir::Sym::symbol(symbols[0])) {
          bounds[symbols[0]] = sizes[k][d];
        }
      }
    }
    ++k;
  }
  return bounds;
}

void replace_argument(exir::Argument& arg, const std::unordered_map<Value*, Value*>& by) {
  if (arg.is_list()) {
    for (exir::Argument& item : arg.list()) replace_argument(item, by);
  } else if (arg.is_value()) {
    const auto found = by.find(arg.value());
    if (found != by.end()) arg = found->second;
  }
}

// Makes tensors inputs, for the nodes that read them.
void give(Graph& graph, const std::vector<Value*>& values,
          const std::map<size_t, const NpyArray*>& given) {
  std::unordered_map<Value*, Value*> inputs;
  for (const auto& [at, array] : given) {
    Value* input = graph.new_tensor(values.at(at)->name, values[at]->type);
    input->role = exir::ValueRole::kInput;
    graph.inputs.emplace_back(input);
    inputs[values[at]] = input;
  }
  for (const auto& node : graph.nodes) {
    for (exir::Argument& arg : node->args) replace_argument(arg, inputs);
  }
}

// Kernels of which there are none for float64: what they read and give stays as it is.
bool stays_narrow(const exir::Node& node) {
  const std::string op(node.target());
  return is_quantising(op) || op.find("view_as_real") != op.npos ||
         op.find("view_as_complex") != op.npos;
}

bool is_single(const Value* value) {
  return value->kind == exir::ValueKind::kTensor && value->type.dtype == ScalarType::kFloat;
}

// float32 becomes float64 in a graph and those nested in it; copies convert at nodes that stay
// narrow.
class Widening {
 public:
  void run(Graph& root) {
    for (Graph* graph : all_graphs(root)) separate(*graph);
    for (Graph* graph : all_graphs(root)) {
      for (exir::Argument& input : graph->inputs) {
        if (input.is_value()) widen(*input.value());
      }
      for (Value* constant : graph->constants) widen(*constant);
      for (const auto& node : graph->nodes) widen(*node);
    }
  }

 private:
  // Puts copies around the nodes that stay narrow.
  void separate(Graph& graph) {
    std::vector<std::unique_ptr<exir::Node>> nodes = std::move(graph.nodes);
    graph.nodes.clear();
    for (auto& node : nodes) {
      exir::Node& at = *node;
      if (!stays_narrow(at)) {
        graph.nodes.push_back(std::move(node));
        continue;
      }
      narrow_nodes_.insert(&at);
      for (exir::Argument& arg : at.args) {
        if (arg.is_value() && is_single(arg.value())) {
          Value* narrow = narrow_value(graph, *arg.value());
          copy(graph, at, arg.value(), narrow);
          arg = narrow;
        }
      }
      graph.nodes.push_back(std::move(node));
      for (Value*& output : at.outputs) {
        if (!is_single(output)) continue;
        Value* narrow = narrow_value(graph, *output);
        narrow->producer = &at;
        copy(graph, at, narrow, output);
        output = narrow;
      }
    }
  }

  Value* narrow_value(Graph& graph, const Value& like) {
    Value* value = graph.new_tensor(like.name, like.type);
    narrow_.insert(value);
    return value;
  }

  static void copy(Graph& graph, const exir::Node& of, Value* from, Value* to) {
    const auto schema = graph.operators()->need("aten::_to_copy");
    std::vector<exir::Argument> args = {from};
    for (size_t i = 1; i < schema->args.size(); ++i) {
      args.push_back(default_argument(schema->args[i]));
    }
    exir::Node* node = graph.append(schema, std::move(args));
    node->name = of.name;
    node->source = of.source;
    node->outputs = {to};
    to->producer = node;
    copies_of(*node) = to->type.dtype;
  }
  static exir::Argument& copies_of(exir::Node& node) {
    return node.args[static_cast<size_t>(node.schema->find("dtype"))];
  }

  void widen(exir::Node& node) {
    if (narrow_nodes_.count(&node) != 0) return;
    for (Value* output : node.outputs) {
      // A copy for a narrow node names its type.
      if (narrow_.count(output) != 0) return;
      widen(*output);
    }
    for (exir::Argument& arg : node.args) widen(arg);
  }

  static void widen(exir::Argument& arg) {
    if (arg.is<ScalarType>() && std::get<ScalarType>(arg.v) == ScalarType::kFloat) {
      arg = ScalarType::kDouble;
    } else if (arg.is_list()) {
      for (exir::Argument& item : arg.list()) widen(item);
    }
  }

  static void widen(Value& value) {
    if (!is_single(&value)) return;
    value.type.dtype = ScalarType::kDouble;
    if (value.data.bytes == 0) return;
    NpyArray array;
    array.data.assign(reinterpret_cast<const char*>(value.data.data), value.data.bytes);
    const std::string data = converted(array, ScalarType::kDouble).data;
    value.data = exir::own_bytes({data.begin(), data.end()});
  }

  std::set<const exir::Node*> narrow_nodes_;
  std::set<const Value*> narrow_;
};

void find_reads(const exir::Node& first, const std::unordered_map<const Value*, size_t>& places,
                ReferenceTensor& tensor) {
  std::set<const exir::Node*> known = {&first};
  std::set<size_t> reads;
  std::vector<const exir::Node*> open = {&first};
  while (!open.empty()) {
    const exir::Node* node = open.back();
    open.pop_back();
    for_each_value(*node, [&](const Value* read) {
      if (read->role == exir::ValueRole::kInput) tensor.reads_inputs = true;
      const auto found = places.find(read);
      if (found != places.end()) {
        reads.insert(found->second);
      } else if (read->producer != nullptr && known.insert(read->producer).second) {
        open.push_back(read->producer);
      }
    });
  }
  tensor.reads.assign(reads.begin(), reads.end());
}

exir::SampleTensor sample_of(const NpyArray& array, ScalarType dtype) {
  return {dtype, array.shape, array.dtype == dtype ? array.data : converted(array, dtype).data};
}

void put_element(char* to, ScalarType dtype, double value) {
  const auto put = [&](auto number) { std::memcpy(to, &number, sizeof(number)); };
  const auto single = static_cast<float>(value);
  if (dtype == ScalarType::kDouble) put(value);
  if (dtype == ScalarType::kFloat) put(single);
  if (dtype == ScalarType::kHalf) put(portable::float_to_half(single).bits);
  if (dtype == ScalarType::kBFloat16) put(portable::float_to_bfloat16(single).bits);
}

}  // namespace

bool can_replace(ScalarType given, ScalarType dtype) {
  return given == dtype || (is_floating(given) && is_floating(dtype));
}

NpyArray converted(const NpyArray& array, ScalarType dtype) {
  if (!is_floating(array.dtype) || !is_floating(dtype)) {
    throw InputError(std::string("cannot make ") + to_string(dtype) + " of " +
                     to_string(array.dtype));
  }
  NpyArray result = {dtype, array.shape, ""};
  const size_t count = array.data.size() / element_size(array.dtype);
  result.data.resize(count * element_size(dtype));
  for (size_t i = 0; i < count; ++i) {
    put_element(&result.data[i * element_size(dtype)], dtype,
                element_at(array.dtype, array.data, i));
  }
  return result;
}

Reference::Reference(ReferenceOptions options) : options_(std::move(options)) {
  const std::unique_ptr<Graph> graph = fresh();
  const std::vector<Value*> values = values_of(*graph);
  std::unordered_map<const Value*, size_t> places;
  for (size_t i = 0; i < values.size(); ++i) places[values[i]] = i;
  for (const Value* value : values) {
    const exir::Node& node = *value->producer;
    const exir::Origin origin = origin_of(node.name, node.target(), node.source.get());
    ReferenceTensor tensor;
    tensor.names = value->holds;
    if (tensor.names.empty()) tensor.names = {value->name};
    tensor.op = origin.op;
    tensor.module = origin.module;
    tensor.line = origin.line;
    tensor.dtype = value->type.dtype;
    tensor.is_random = graph->operators()->tags(node.target()).random;
    find_reads(node, places, tensor);
    tensors_.push_back(std::move(tensor));
  }
  for (const exir::Argument& output : graph->outputs) {
    const auto found = output.is_value() ? places.find(output.value()) : places.end();
    outputs_.push_back(found == places.end() ? -1 : static_cast<int64_t>(found->second));
  }
}

std::unique_ptr<Graph> Reference::fresh() const {
  exir::ImportOptions importing;
  importing.model = options_.model;
  importing.operators = options_.operators;
  std::unique_ptr<Graph> graph = exir::import_pt2(options_.path, importing).graph;
  std::vector<std::string> warnings;
  exir::SymValues bounds = bounds_of(*graph, options_.input_sizes);
  for (const auto& [symbol, bound] : options_.bounds) bounds[symbol] = bound;
  exir::bound_symbols(*graph, bounds, warnings);
  exir::check_symbols(options_.bounds, exir::symbols_of(*graph));
  exir::LowerOptions lowering;
  lowering.until = exir::Dialect::kAten;
  exir::lower(*graph, lowering);
  return graph;
}

Cone Reference::cone_of(size_t tensor, const std::vector<int64_t>& seen) const {
  Cone cone;
  std::vector<size_t> open = {tensor};
  while (!open.empty()) {
    const ReferenceTensor& at = tensors_[open.back()];
    open.pop_back();
    cone.reads_inputs = cone.reads_inputs || at.reads_inputs;
    for (const size_t read : at.reads) {
      if (seen[read] >= 0) {
        cone.from.insert(read);
      } else if (cone.between.insert(read).second) {
        open.push_back(read);
      }
    }
  }
  return cone;
}

std::vector<NpyArray> Reference::run(const ReferenceRun& run) const {
  const std::unique_ptr<Graph> graph = fresh();
  const std::vector<Value*> values = values_of(*graph);
  graph->outputs.clear();
  graph->mutations.clear();
  for (const size_t at : run.wanted) graph->outputs.emplace_back(values.at(at));
  give(*graph, values, run.given);
  if (options_.exact) Widening().run(*graph);
  erase_dead(*graph);
  exir::Sample sample;
  std::vector<const NpyArray*> arrays;
  for (const NpyArray& input : run.inputs) arrays.push_back(&input);
  for (const auto& [at, array] : run.given) arrays.push_back(array);
  for (const exir::Argument& input : graph->inputs) {
    if (!input.is_value() || input.value()->kind != exir::ValueKind::kTensor) continue;
    const size_t k = sample.size();
    if (k == arrays.size()) throw InputError("the exported program takes more inputs");
    sample.push_back(sample_of(*arrays[k], input.value()->type.dtype));
  }
  if (sample.size() != arrays.size()) throw InputError("the exported program takes fewer inputs");
  const bool by_backend = run.backend != "portable";
  const EngineOptions engine = {run.backend, 1, by_backend, exir::Dialect::kAten};
  const std::unique_ptr<exir::LoadedProgram> program = graph_engine(engine)(*graph);
  program->run(sample);
  std::vector<NpyArray> results;
  for (size_t i = 0; i < run.wanted.size(); ++i) {
    exir::SampleTensor tensor = program->output(i);
    results.push_back({tensor.dtype, std::move(tensor.sizes), std::move(tensor.bytes)});
  }
  return results;
}

}  // namespace taper::tools
