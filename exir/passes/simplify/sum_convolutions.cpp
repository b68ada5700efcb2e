// Each addition joins two terms; longer sums become one convolution term by term. See
// sum_convolutions.h.

#include "exir/passes/simplify/sum_convolutions.h"

#include <optional>
#include <unordered_map>

#include "exir/ir/rewrite.h"
#include "exir/passes/simplify/convolution_branch.h"
#include "exir/passes/simplify/floating_constants.h"

namespace taper::exir {
namespace {

using Uses = std::unordered_map<const Value*, int>;
Value* new_floats(Graph& graph, const Value& like, TensorType type, const Doubles& numbers) {
  const std::string name = like.name.ends_with("_sum") ? like.name : like.name + "_sum";
  TensorData data = own_bytes(to_bytes(numbers, type.dtype));
  return named_after(graph.new_constant(name, std::move(type), std::move(data)), like);
}

// A convolution that no one else reads. Its numbers are read by load(), when it is known to change.
struct Term {
  ConvolutionBranch branch;
  const Value* input = nullptr;
  Doubles weight, bias;  // The bias is empty if there is none.

  bool read(const Value& value, const Uses& uses) {
    const Node* node = value.producer;
    const auto count = uses.find(&value);
    if (node == nullptr || !node->is("aten::convolution")) return false;
    if (count == uses.end() || count->second != 1 || !node->arg("input").is_value()) return false;
    if (!branch.read(*node) || branch.weight->type.dtype != ScalarType::kFloat) return false;
    input = node->arg("input").value();
    return true;
  }

  void load() {
    weight = read_doubles(branch.node->arg("weight")).value();
    if (branch.bias != nullptr) bias = read_doubles(branch.node->arg("bias")).value();
  }

  void add_to_bias(size_t channel, double number) {
    bias.resize(static_cast<size_t>(branch.outs));
    bias[channel] += number;
  }

  // Adds a convolution of the same tensor; false if its window does not lie in this one's.
  bool add(Term& other) {
    const bool is_alike = input == other.input && branch.agrees_with(other.branch) &&
                          branch.groups == other.branch.groups;
    if (!is_alike || !other.branch.fits_into(branch)) return false;
    load();
    other.load();
    const auto row = static_cast<size_t>(other.branch.window.back());
    other.branch.for_rows(branch, [&](int64_t from, int64_t to) {
      for (size_t i = 0; i < row; ++i) {
        weight[static_cast<size_t>(to) + i] += other.weight[static_cast<size_t>(from) + i];
      }
    });
    for (size_t c = 0; c < other.bias.size(); ++c) add_to_bias(c, other.bias[c]);
    return true;
  }

  // Whether each pixel of the result has the pixel of the tensor in the middle of its window, and
  // as many channels.
  bool has_middle() const {
    if (branch.outs != branch.groups * branch.group_ins) return false;
    ConvolutionBranch pixel = branch;
    for (size_t d = 0; d < pixel.window.size(); ++d) {
      if (pixel.stride[d] != 1) return false;
      pixel.window[d] = 1;
      pixel.padding[d] = 0;
    }
    return pixel.fits_into(branch);
  }

  // Adds the tensor itself, times a factor. REQUIRES: has_middle() and load().
  void add_input(size_t channel, double factor) {
    const auto ins = static_cast<size_t>(branch.group_ins),
               taps = static_cast<size_t>(branch.taps());
    weight[(channel * ins + channel % ins) * taps + taps / 2] += factor;
  }

  // Adds a batch norm of the same tensor.
  bool add_norm(const Node& norm) {
    if (!norm.is("aten::_native_batch_norm_legit_no_training") || !has_middle()) return false;
    if (!norm.arg("input").is_value() || norm.arg("input").value() != input) return false;
    const std::optional<FixedNorm> fixed = read_fixed_norm(norm);
    if (!fixed || fixed->mean.size() != static_cast<size_t>(branch.outs)) return false;
    load();
    for (size_t c = 0; c < fixed->mean.size(); ++c) {
      add_input(c, fixed->scale[c]);
      add_to_bias(c, fixed->shift[c] - fixed->mean[c] * fixed->scale[c]);
    }
    return true;
  }

  Value* emit(Rewriter& rewriter, const TensorType& type) const {
    Graph& graph = rewriter.graph();
    std::vector<Argument> args = branch.node->args;
    args[1] = new_floats(graph, *branch.weight, branch.weight->type, weight);
    if (!bias.empty()) {
      const TensorType channels(ScalarType::kFloat, {Sym(branch.outs)});
      const Value& like = branch.bias != nullptr ? *branch.bias : *branch.weight;
      args[2] = new_floats(graph, like, channels, bias);
    }
    return rewriter.emit("aten::convolution", args, {type})[0];
  }
};

bool is_number(const Argument& arg) { return arg.is_int() || arg.is<double>(); }

// The convolution that computes `a + b`; none if they are other terms. The first is a convolution.
std::optional<Term> sum_of(const Value& a, const Value& b, const Uses& uses) {
  Term sum, other;
  if (!sum.read(a, uses) || a.type.sizes != b.type.sizes) return std::nullopt;
  if (other.read(b, uses) && other.input == sum.input) {
    if (sum.add(other)) return sum;
    if (other.add(sum)) return other;
    return std::nullopt;
  }
  if (&b == sum.input && sum.branch.group_ins == 1 && sum.has_middle()) {
    sum.load();
    for (int64_t c = 0; c < sum.branch.outs; ++c) sum.add_input(static_cast<size_t>(c), 1);
    return sum;
  }
  const auto count = uses.find(&b);
  const bool is_alone = count != uses.end() && count->second == 1;
  if (is_alone && b.producer != nullptr && b.producer->outputs[0] == &b &&
      sum.add_norm(*b.producer)) {
    return sum;
  }
  return std::nullopt;
}

std::optional<Term> sum_of(const Node& node, const Uses& uses) {
  if (!node.args[0].is_value() || !is_number(node.arg("alpha"))) return std::nullopt;
  const Value& a = *node.args[0].value();
  const double alpha = node.arg("alpha").to_double();
  if (node.is("aten::add.Scalar") && is_number(node.args[1])) {
    Term sum;
    if (!sum.read(a, uses)) return std::nullopt;
    sum.load();
    for (int64_t c = 0; c < sum.branch.outs; ++c) {
      sum.add_to_bias(static_cast<size_t>(c), node.args[1].to_double() * alpha);
    }
    return sum;
  }
  if (!node.is("aten::add.Tensor") || !node.args[1].is_value() || alpha != 1) return std::nullopt;
  const Value& b = *node.args[1].value();
  std::optional<Term> sum = sum_of(a, b, uses);
  return sum ? sum : sum_of(b, a, uses);
}

}  // namespace

int sum_convolutions(Graph& graph) {
  Uses uses = count_uses(graph);
  const int summed = rewrite(graph, [&](Node& node, Rewriter& rewriter) {
    if (!node.is("aten::add.Tensor") && !node.is("aten::add.Scalar")) return false;
    const std::optional<Term> sum = sum_of(node, uses);
    if (!sum || node.outputs[0]->type.dtype != ScalarType::kFloat) return false;
    Value* result = sum->emit(rewriter, node.outputs[0]->type);
    result->producer->name = node.name;
    uses[result] = uses[node.outputs[0]];
    rewriter.replace(node.outputs[0], result);
    return true;
  });
  if (summed != 0) erase_dead(graph);
  return summed;
}

}  // namespace taper::exir
