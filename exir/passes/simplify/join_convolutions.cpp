// A concatenation is the place where its branches are found; see join_convolutions.h.

#include "exir/passes/simplify/join_convolutions.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "exir/ir/rewrite.h"
#include "exir/passes/simplify/convolution_branch.h"

namespace taper::exir {
namespace {

using Uses = std::unordered_map<const Value*, int>;

// The convolutions between a split and a concatenation.
class Branches {
 public:
  bool read(const Node& cat, const Uses& uses, bool pads_windows) {
    const Argument& dim = cat.arg("dim");
    if (!dim.is_int() || dim.to_int() != 1 || cat.args[0].list().size() < 2) return false;
    for (const Argument& item : cat.args[0].list()) {
      if (!item.is_value() || !add(*item.value(), uses)) return false;
    }
    // All parts of the split, in their order, each read by its convolution.
    const Argument& along = split_->arg("dim");
    if (!along.is_int() || along.to_int() != 1 || split_->outputs.size() != all_.size()) {
      return false;
    }
    for (size_t i = 0; i < all_.size(); ++i) {
      if (all_[i].node->arg("input").value() != split_->outputs[i]) return false;
    }
    return has_common_window(pads_windows);
  }

  Value* emit(Rewriter& rewriter, const TensorType& type) const {
    std::vector<Argument> args = largest_->node->args;
    args[0] = split_->args[0];
    args[1] = joined_weight(rewriter.graph());
    args[2] = joined_bias(rewriter.graph());
    int64_t groups = 0;
    for (const ConvolutionBranch& branch : all_) groups += branch.groups;
    args[8] = groups;
    return rewriter.emit("aten::convolution", args, {type})[0];
  }

 private:
  bool add(const Value& result, const Uses& uses) {
    const Node* convolution = result.producer;
    const auto count = uses.find(&result);
    if (convolution == nullptr || !convolution->is("aten::convolution")) return false;
    if (count == uses.end() || count->second != 1) return false;
    const Argument& input = convolution->arg("input");
    const Node* split = input.is_value() ? input.value()->producer : nullptr;
    if (split == nullptr || !split->is("aten::split_with_sizes_copy")) return false;
    if (split_ != nullptr && split != split_) return false;
    split_ = split;
    return all_.emplace_back().read(*convolution) && all_.back().agrees_with(all_[0]);
  }

  bool has_common_window(bool pads_windows) {
    int64_t products = 0, padded = 0;
    largest_ = &*std::max_element(
        all_.begin(), all_.end(),
        [](const ConvolutionBranch& a, const ConvolutionBranch& b) { return a.taps() < b.taps(); });
    for (const ConvolutionBranch& branch : all_) {
      const bool is_same = branch.window == largest_->window && branch.padding == largest_->padding;
      if (!is_same && (!pads_windows || !branch.fits_into(*largest_))) return false;
      products += branch.outs * branch.taps();
      padded += branch.outs * largest_->taps();
    }
    return padded <= 2 * products;
  }

  // A constant of that type with a row for each result of all branches, of which copy(branch, to)
  // writes one branch's; the others are zero. It is named after one of those that it joins.
  template <typename Copy>
  Value* joined(Graph& graph, TensorType type, const Value& first, const Copy& copy) const {
    int64_t outs = 0;
    for (const ConvolutionBranch& branch : all_) outs += branch.outs;
    type.sizes[0] = Sym(1);
    const size_t row = static_cast<size_t>(type.numel().as_int()) * element_size(type.dtype);
    type.sizes[0] = Sym(outs);
    std::vector<uint8_t> bytes(static_cast<size_t>(outs) * row);
    uint8_t* to = bytes.data();
    for (const ConvolutionBranch& branch : all_) {
      copy(branch, to);
      to += static_cast<size_t>(branch.outs) * row;
    }
    Value* made = graph.new_constant(first.name + "_joined", type, own_bytes(std::move(bytes)));
    if (!first.fqn.empty()) made->fqn = first.fqn + "." + made->name;
    return made;
  }

  // Copies the weights into windows of the largest branch, which are zero.
  void copy_weight(const ConvolutionBranch& branch, uint8_t* to) const {
    const size_t width = element_size(branch.weight->type.dtype);
    const auto row = static_cast<size_t>(branch.window.back()) * width;
    branch.for_rows(*largest_, [&](int64_t from, int64_t place) {
      std::memcpy(to + static_cast<size_t>(place) * width,
                  branch.weight->data.data + static_cast<size_t>(from) * width, row);
    });
  }

  Value* joined_weight(Graph& graph) const {
    return joined(graph, largest_->weight->type, *all_[0].weight,
                  [&](const ConvolutionBranch& branch, uint8_t* to) { copy_weight(branch, to); });
  }

  Argument joined_bias(Graph& graph) const {
    const auto any = std::find_if(all_.begin(), all_.end(), [](const ConvolutionBranch& branch) {
      return branch.bias != nullptr;
    });
    if (any == all_.end()) return {};
    return joined(graph, any->bias->type, *any->bias,
                  [](const ConvolutionBranch& branch, uint8_t* to) {
                    if (branch.bias != nullptr)
                      std::memcpy(to, branch.bias->data.data, branch.bias->data.bytes);
                  });
  }

  const Node* split_ = nullptr;
  std::vector<ConvolutionBranch> all_;
  const ConvolutionBranch* largest_ = nullptr;
};

}  // namespace

int join_convolutions(Graph& graph, bool pads_windows) {
  const Uses uses = count_uses(graph);
  const int joined = rewrite(graph, [&](Node& node, Rewriter& rewriter) {
    if (!node.is("aten::cat")) return false;
    Branches branches;
    if (!branches.read(node, uses, pads_windows)) return false;
    Value* result = branches.emit(rewriter, node.outputs[0]->type);
    result->producer->name = node.name;
    rewriter.replace(node.outputs[0], result);
    return true;
  });
  if (joined != 0) erase_dead(graph);
  return joined;
}

}  // namespace taper::exir
