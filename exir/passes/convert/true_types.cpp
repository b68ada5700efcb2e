// A table of what is stated wrongly, and type inference for what follows from it.

#include "exir/passes/convert/true_types.h"

#include <unordered_set>

#include "exir/ir/rewrite.h"
#include "exir/ops/infer.h"

namespace taper::exir {
namespace {

// The final states of a layer on batches, [layers, batch, width], have a 1 as second size.
TensorType true_state(const TensorType& stated) {
  std::vector<Sym> sizes = stated.sizes;
  if (sizes.size() == 4 && sizes[1] == Sym(1)) sizes.erase(sizes.begin() + 1);
  return TensorType(stated.dtype, sizes);
}

// Indices and counts have the dtype of the input.
TensorType true_index(const TensorType& stated) {
  return TensorType(ScalarType::kLong, stated.sizes);
}

// The first result of each operator is right.
struct WrongResults {
  const char* op;
  TensorType (*truth)(const TensorType& stated);
};
constexpr WrongResults kWrongResults[] = {
    {"aten::lstm.input", true_state},              // Of 2.11.
    {"aten::unique_consecutive", true_index},      // Of 2.11.
    {"aten::unique_dim_consecutive", true_index},  // As the one before it.
};

class Corrector {
 public:
  int run(Graph& graph) {
    for (const auto& node : graph.nodes) {
      for (const WrongResults& wrong : kWrongResults) {
        if (!node->is(wrong.op)) continue;
        for (size_t i = 1; i < node->outputs.size(); ++i) {
          correct(*node->outputs[i], wrong.truth(node->outputs[i]->type));
        }
      }
      if (reads_corrected(*node)) follow(*node);
    }
    return static_cast<int>(corrected_.size());
  }

  std::vector<Diagnostic> problems;

 private:
  void correct(Value& value, const TensorType& truth) {
    if (value.type.sizes == truth.sizes && value.type.dtype == truth.dtype) return;
    value.type = truth;
    corrected_.insert(&value);
  }

  bool reads_corrected(const Node& node) const {
    bool reads = false;
    for_each_value(node, [&](const Value* value) { reads |= corrected_.count(value) != 0; });
    return reads;
  }

  void follow(Node& node) {
    try {
      const std::vector<TensorType> types = infer_types(*node.schema, node.args);
      if (types.size() != node.outputs.size()) throw Failure("it has another number of results");
      for (size_t i = 0; i < types.size(); ++i) correct(*node.outputs[i], types[i]);
    } catch (const Failure& failure) {
      problems.push_back(diagnose(node, "wrong-types",
                                  "this version of PyTorch states wrong sizes or a wrong dtype of "
                                  "what it reads, and its own are not known: " +
                                      std::string(failure.what()),
                                  "export the model with another version of PyTorch"));
      mark_refused(node);
    }
  }

  std::unordered_set<const Value*> corrected_;
};

}  // namespace

int true_types(Graph& graph) {
  int changed = 0;
  std::vector<Diagnostic> problems;
  for (Graph* g : all_graphs(graph)) {
    Corrector corrector;
    changed += corrector.run(*g);
    problems.insert(problems.end(), corrector.problems.begin(), corrector.problems.end());
  }
  if (!problems.empty()) {
    throw Failure("operators that read what is stated wrongly", std::move(problems));
  }
  return changed;
}

}  // namespace taper::exir
