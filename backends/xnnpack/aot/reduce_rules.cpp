// The rules for sums, means, variance, maxima and softmax.

#include <algorithm>

#include "backends/xnnpack/aot/op_table.h"

namespace taper::xnnpack {
namespace {

using exir::Node;
using exir::Value;
using wire::NodeContent;

// The places of dimensions in the layout of the tensor, sorted.
std::vector<size_t> places_of(const std::vector<size_t>& dims, size_t rank, bool image) {
  std::vector<size_t> places = dims;
  for (size_t& d : places) d = image ? to_plain(rank)[d] : d;
  std::sort(places.begin(), places.end());
  return places;
}

// True if the dimensions that remain have the same order in both layouts.
bool lies_plain(const Value* y, const std::vector<size_t>& dims, size_t rank) {
  uint32_t last = 0;
  for (uint32_t d = 0; d < rank; ++d) {
    if (std::find(dims.begin(), dims.end(), d) != dims.end()) continue;
    if (to_plain(rank)[d] < last) return false;
    last = to_plain(rank)[d];
  }
  return y->type.rank() < rank;
}

// Reduces the dimensions of a call to size 1, or removes them.
template <typename Fold>
void reduce(Lowering& l, const Node& node, const Fold& fold) {
  const Value *x = tensor(node), *y = node.outputs[0];
  const size_t rank = x->type.rank();
  const std::vector<size_t> dims = dims_of(node.arg("dim"), rank);
  const bool keep = node.arg("keepdim").to_bool();
  const bool image = l.is_image(x) && (keep || lies_plain(y, dims, rank));
  const Id folded = fold(image ? l.image(x) : l.plain(x), places_of(dims, rank, image));
  if (image && keep) return l.set_image(y, folded);
  l.set_plain(y, l.reshape(folded, y->type.sizes));
}

std::string reduce_refusal(const Node& node) {
  return tensor(node)->type.rank() == 0 ? "the input has rank 0" : "";
}
std::string known_count_refusal(const Node& node) {
  for (const size_t d : dims_of(node.arg("dim"), tensor(node)->type.rank())) {
    if (!tensor(node)->type.sizes[d].is_int()) return "the number of elements to add is dynamic";
  }
  return "";
}

void mean_of_all(Lowering& l, const Node& node) {
  const Value* x = tensor(node);
  const bool image = l.is_image(x);
  const std::vector<size_t> dims = dims_of(exir::Argument(), x->type.rank());
  l.set_plain(node.outputs[0], l.reshape(l.mean(image ? l.image(x) : l.plain(x), dims), {}));
}
void mean(Lowering& l, const Node& node) {
  reduce(l, node, [&](Id x, const std::vector<size_t>& dims) { return l.mean(x, dims); });
}
void sum(Lowering& l, const Node& node) {
  reduce(l, node, [&](Id x, const std::vector<size_t>& dims) { return l.sum(x, dims); });
}

// The largest elements of images, which convolutions made, are those of a pool whose window is
// everything that is reduced. Of other tensors, the kernels find them faster.
constexpr int64_t kLargestWindow = 1 << 14;
constexpr int kMostBetween = 4;  // Nodes between the convolution and the maximum.

bool is_from_convolution(const Value* x) {
  for (int i = 0; i <= kMostBetween && x->producer != nullptr; ++i) {
    const Node& node = *x->producer;
    if (node.is("aten::convolution")) return true;
    if (node.args.empty() || !node.arg(0).is_value()) return false;
    if (node.arg(0).value()->type.rank() != x->type.rank()) return false;  // It is reshaped.
    x = node.arg(0).value();
  }
  return false;
}

void maximum(Lowering& l, const Node& node) {
  const Value *x = tensor(node), *y = node.outputs[0];
  const size_t rank = x->type.rank();
  const bool image = l.is_image(x);
  const Id all = image ? l.image(x) : l.plain(x);
  const Id folded = l.largest(all, places_of(dims_of(node.arg("dim"), rank), rank, image));
  if (!image || y->type.rank() < 3) return l.set_plain(y, l.reshape(folded, y->type.sizes));
  Dims sizes = y->type.sizes;  // The channels last.
  std::rotate(sizes.begin() + 1, sizes.begin() + 2, sizes.end());
  l.set_image(y, l.reshape(folded, sizes));
}
std::string maximum_refusal(const Node& node) {
  const Value* x = tensor(node);
  const size_t rank = x->type.rank();
  if (rank < 3 || rank > 4 || !is_from_convolution(x)) return "the input is not made as an image";
  int64_t count = 1;
  size_t last = 0;
  for (const size_t d : dims_of(node.arg("dim"), rank)) {
    const exir::Sym& size = x->type.sizes[d];
    if (d < 2) return "it reduces the channels or the batch";
    if (last != 0 && d != last + 1) return "its dimensions are apart";
    const bool is_large = !size.is_int() || size.as_int() > kLargestWindow / count;
    if (is_large) return "a size is dynamic or large";
    count *= size.as_int();
    last = d;
  }
  return x->type.sizes[1].is_int() ? "" : "the number of channels is dynamic";
}

double correction_of(const Node& node) {
  return node.arg("correction").is_none() ? 1 : node.arg("correction").to_double();
}
double count_of(const Node& node) {
  double count = 1;
  for (const size_t d : dims_of(node.arg("dim"), tensor(node)->type.rank())) {
    count *= static_cast<double>(tensor(node)->type.sizes[d].as_int());
  }
  return count;
}
void variance(Lowering& l, const Node& node) {
  reduce(l, node, [&](Id x, const std::vector<size_t>& dims) {
    const Id centered = l.binary(NodeContent::Subtract, x, l.mean(x, dims));
    const Id mean = l.mean(l.unary(NodeContent::Square, centered), dims);
    const double correction = correction_of(node);
    if (correction == 0) return mean;
    const double count = count_of(node);
    return l.binary(NodeContent::Multiply, mean,
                    l.number(static_cast<float>(count / (count - correction))));
  });
}
std::string variance_refusal(const Node& node) {
  std::string why = reduce_refusal(node);
  if (!why.empty()) return why;
  if (!node.arg("correction").is_none() && !is_known(node.arg("correction"))) {
    return "the correction is not constant";
  }
  if (correction_of(node) == 0) return "";
  why = known_count_refusal(node);
  if (!why.empty()) return why;
  return correction_of(node) < count_of(node) ? "" : "there are too few elements";
}

void softmax(Lowering& l, const Node& node) {
  const Value *x = tensor(node), *y = node.outputs[0];
  const size_t rank = x->type.rank();
  const size_t dim = dim_of(node.arg(1), rank);
  if (l.is_image(x) && dim == 1) {  // The last dimension of an image.
    return l.set_image(y, l.unary(NodeContent::Softmax, l.image(x)));
  }
  if (dim + 1 == rank) return l.set_plain(y, l.unary(NodeContent::Softmax, l.plain(x)));
  if (!l.for_executorch()) {
    const auto place = static_cast<uint32_t>(dim);
    return l.set_plain(y, l.taper_node(NodeContent::DimSoftmax, {l.plain(x)}, {place}));
  }
  std::vector<uint32_t> swap;
  for (uint32_t d = 0; d < rank; ++d) swap.push_back(d);
  std::swap(swap[dim], swap[rank - 1]);
  const Id last = l.unary(NodeContent::Softmax, l.transpose(l.plain(x), swap));
  l.set_plain(y, l.transpose(last, swap));
}
std::string softmax_refusal(const Node& node) {
  if (tensor(node)->type.rank() == 0) return "the input has rank 0";
  return node.arg(2).to_bool() ? "it changes the dtype" : "";
}

constexpr OpRule kTable[] = {
    {"aten::mean", reduce_refusal, mean_of_all, 1},
    {"aten::mean.dim", reduce_refusal, mean, 1},
    {"aten::sum.dim_IntList", reduce_refusal, sum, 1},
    {"aten::var.correction", variance_refusal, variance, 1},
    {"aten::amax", maximum_refusal, maximum, 1},
    {"aten::max.dim", maximum_refusal, maximum, 1, true},
    {"aten::_softmax", softmax_refusal, softmax, 2},
};

}  // namespace

const std::span<const OpRule> kReduceRules{kTable};

}  // namespace taper::xnnpack
