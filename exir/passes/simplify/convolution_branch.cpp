// Reads and compares the branches; see convolution_branch.h.

#include "exir/passes/simplify/convolution_branch.h"

namespace taper::exir {
namespace {

using Sizes = ConvolutionBranch::Sizes;

// The argument as one number for each dimension of the image; empty if it is not that.
Sizes sizes_of(const Node& node, const char* name, size_t dims) {
  Sizes sizes = to_ints(node.arg(name));
  if (sizes.size() == 1) sizes.resize(dims, sizes[0]);
  return sizes.size() == dims ? sizes : Sizes();
}

}  // namespace

bool is_plain_constant(const Argument& arg) {
  if (!arg.is_value() || arg.value()->role != ValueRole::kConstant) return false;
  const Value& value = *arg.value();
  return value.type.is_static() && value.type.is_contiguous() && value.scales == nullptr &&
         value.data.data != nullptr;
}

bool ConvolutionBranch::read(const Node& convolution) {
  node = &convolution;
  if (!is_plain_constant(node->arg("weight")) || node->arg("transposed").to_bool()) return false;
  weight = node->arg("weight").value();
  const Argument& added = node->arg("bias");
  if (added.is_value()) {
    if (!is_plain_constant(added) || added.value()->type.dtype != weight->type.dtype) return false;
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
  const bool has_sizes = stride.size() == dims && padding.size() == dims && dilation.size() == dims;
  return has_sizes && groups > 0 && outs > 0;
}

int64_t ConvolutionBranch::taps() const {
  int64_t taps = 1;
  for (const int64_t size : window) taps *= size;
  return taps;
}

bool ConvolutionBranch::agrees_with(const ConvolutionBranch& other) const {
  return weight->type.dtype == other.weight->type.dtype && group_ins == other.group_ins &&
         outs * other.groups == other.outs * groups && stride == other.stride &&
         dilation == other.dilation && window.size() == other.window.size();
}

bool ConvolutionBranch::fits_into(const ConvolutionBranch& other) const {
  for (size_t d = 0; d < window.size(); ++d) {
    const int64_t more = other.window[d] - window[d];
    if (more < 0 || more % 2 != 0) return false;
    if (other.padding[d] - padding[d] != more / 2 * dilation[d]) return false;
  }
  return true;
}

}  // namespace taper::exir
