// A concatenation is the place where its branches are found; see join_convolutions.h.

#include "exir/passes/simplify/join_convolutions.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "exir/ir/rewrite.h"

namespace taper::exir {
namespace {

using Uses = std::unordered_map<const Value*, int>;
using Sizes = std::vector<int64_t>;

bool is_plain_constant(const Argument& arg) {
  if (!arg.is_value() || arg.value()->role != ValueRole::kConstant) return false;
  const Value& value = *arg.value();
  return value.type.is_static() && value.type.is_contiguous() && value.scales == nullptr &&
         value.data.data != nullptr;
}

// The argument as one number for each dimension of the image; empty if it is not that.
Sizes sizes_of(const Node& node, const char* name, size_t dims) {
  Sizes sizes = to_ints(node.arg(name));
  if (sizes.size() == 1) sizes.resize(dims, sizes[0]);
  return sizes.size() == dims ? sizes : Sizes();
}

// A convolution of one part of the channels.
struct Branch {
  const Node* node = nullptr;
  const Value* weight = nullptr;
  const Value* bias = nullptr;  // Null: none.
  int64_t groups = 0, outs = 0, group_ins = 0;
  Sizes window, stride, padding, dilation;

  bool read(const Node& convolution) {
    node = &convolution;
    if (!is_plain_constant(node->arg("weight")) || node->arg("transposed").to_bool()) return false;
    weight = node->arg("weight").value();
    const Argument& added = node->arg("bias");
    if (added.is_value()) {
      if (!is_plain_constant(added) || added.value()->type.dtype != weight->type.dtype) {
        return false;
      }
      bias = added.value();
    }
    if (weight->type.rank() < 3 || !node->arg("groups").is_int()) return false;
    if (weight->type.rank() != node->outputs[0]->type.rank()) return false;
    const size_t dims = weight->type.rank() - 2;
    groups = node->arg("groups").to_int();
    outs = weight->type.sizes[0].as_int();
    group_ins = weight->type.sizes[1].as_int();
    for (size_t d = 0; d < dims; ++d) window.push_back(weight->type.sizes[d + 2].as_int());
    stride = sizes_of(*node, "stride", dims);
    padding = sizes_of(*node, "padding", dims);
    dilation = sizes_of(*node, "dilation", dims);
    const bool has_sizes =
        stride.size() == dims && padding.size() == dims && dilation.size() == dims;
    return has_sizes && groups > 0 && outs > 0;
  }

  int64_t taps() const {
    int64_t taps = 1;
    for (const int64_t size : window) taps *= size;
    return taps;
  }

  // Whether both can be groups of one convolution, apart from their windows.
  bool agrees_with(const Branch& other) const {
    return weight->type.dtype == other.weight->type.dtype && group_ins == other.group_ins &&
           outs * other.groups == other.outs * groups && stride == other.stride &&
           dilation == other.dilation && window.size() == other.window.size();
  }

  // Whether the window is one of another, larger branch with taps left out on all sides.
  bool fits_into(const Branch& other) const {
    for (size_t d = 0; d < window.size(); ++d) {
      const int64_t more = other.window[d] - window[d];
      if (more < 0 || more % 2 != 0) return false;
      if (other.padding[d] - padding[d] != more / 2 * dilation[d]) return false;
    }
    return true;
  }

  // Copies the weights into windows of another branch, which are zero.
  void copy_into(const Branch& other, uint8_t* to) const {
    const size_t width = element_size(weight->type.dtype), dims = window.size();
    const uint8_t* from = weight->data.data;
    const int64_t row = window[dims - 1];  // Taps that follow one another in both.
    for (int64_t filter = 0; filter < outs * group_ins; ++filter) {
      for (int64_t tap = 0; tap < taps(); tap += row) {
        int64_t rest = tap / row, step = other.window[dims - 1];
        int64_t place = filter * other.taps() + (step - row) / 2;
        for (size_t d = dims - 1; d-- > 0;) {
          place += (rest % window[d] + (other.window[d] - window[d]) / 2) * step;
          rest /= window[d];
          step *= other.window[d];
        }
        std::memcpy(to + static_cast<size_t>(place) * width, from,
                    static_cast<size_t>(row) * width);
        from += static_cast<size_t>(row) * width;
      }
    }
  }
};

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
    for (const Branch& branch : all_) groups += branch.groups;
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
    largest_ = &*std::max_element(all_.begin(), all_.end(), [](const Branch& a, const Branch& b) {
      return a.taps() < b.taps();
    });
    for (const Branch& branch : all_) {
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
    for (const Branch& branch : all_) outs += branch.outs;
    type.sizes[0] = Sym(1);
    const size_t row = static_cast<size_t>(type.numel().as_int()) * element_size(type.dtype);
    type.sizes[0] = Sym(outs);
    std::vector<uint8_t> bytes(static_cast<size_t>(outs) * row);
    uint8_t* to = bytes.data();
    for (const Branch& branch : all_) {
      copy(branch, to);
      to += static_cast<size_t>(branch.outs) * row;
    }
    Value* made = graph.new_constant(first.name + "_joined", type, own_bytes(std::move(bytes)));
    if (!first.fqn.empty()) made->fqn = first.fqn + "." + made->name;
    return made;
  }

  Value* joined_weight(Graph& graph) const {
    return joined(graph, largest_->weight->type, *all_[0].weight,
                  [&](const Branch& branch, uint8_t* to) { branch.copy_into(*largest_, to); });
  }

  Argument joined_bias(Graph& graph) const {
    const auto any = std::find_if(all_.begin(), all_.end(),
                                  [](const Branch& branch) { return branch.bias != nullptr; });
    if (any == all_.end()) return {};
    return joined(graph, any->bias->type, *any->bias, [](const Branch& branch, uint8_t* to) {
      if (branch.bias != nullptr) std::memcpy(to, branch.bias->data.data, branch.bias->data.bytes);
    });
  }

  const Node* split_ = nullptr;
  std::vector<Branch> all_;
  const Branch* largest_ = nullptr;
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
