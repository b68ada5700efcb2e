// The rules for operators that only move elements.

#include <algorithm>

#include "backends/xnnpack/aot/op_table.h"

namespace taper::xnnpack {
namespace {

using exir::Node;
using exir::Value;
using wire::NodeContent;

std::string static_refusal(const Node& node) {
  const bool known = tensor(node)->type.is_static() && node.outputs[0]->type.is_static();
  return known ? "" : "a size is dynamic";
}

void same(Lowering& l, const Node& node) {
  const Value* x = tensor(node);
  const bool image = l.is_image(x);
  l.set_like(node.outputs[0], image, image ? l.image(x) : l.plain(x));
}

constexpr int64_t kMostRepeated = 1 << 18;  // Elements, in case a reader needs all of them.

void expand(Lowering& l, const Node& node) {
  const Value *x = tensor(node), *y = node.outputs[0];
  const Dims given = l.out().dims(l.loose(x));  // XNNPACK has no scalars: one dimension of size 1.
  const size_t rank = std::max(y->type.rank(), given.size());
  Dims dims(rank - given.size(), exir::Sym(1));
  dims.insert(dims.end(), given.begin(), given.end());
  l.set_loose(y, l.reshape(l.loose(x), std::move(dims)));
}
std::string expand_refusal(const Node& node) {
  const exir::Sym count = node.outputs[0]->type.numel();
  return !count.is_int() || count.as_int() <= kMostRepeated ? "" : "the result is large";
}

// Reshapes the plain layout; [n, c, 1, 1] to [n, c] is the same in both layouts.
void reshape(Lowering& l, const Node& node) {
  const Value *x = tensor(node), *y = node.outputs[0];
  l.set_plain(y, l.reshape(l.plain(x), y->type.sizes));
}

// The permutation of an image is translated to its layout. One that restores the plain layout, or
// makes an image of a plain tensor, is a no-op.
void permute(Lowering& l, const Node& node) {
  const Value *x = tensor(node), *y = node.outputs[0];
  const size_t rank = x->type.rank();
  std::vector<uint32_t> perm;
  for (const exir::Argument& dim : node.arg(1).list()) {
    perm.push_back(static_cast<uint32_t>(dim_of(dim, rank)));
  }
  if (l.is_image(x)) {
    const std::vector<uint32_t> back = to_plain(rank);  // The places of dimensions in the image.
    for (uint32_t& d : perm) d = back[d];
    return l.set_plain(
        y, std::is_sorted(perm.begin(), perm.end()) ? l.image(x) : l.transpose(l.image(x), perm));
  }
  if (rank == 4 && perm == to_plain(rank)) return l.set_image(y, l.plain(x));
  l.set_plain(y, l.transpose(l.plain(x), perm));
}

// The place of a dimension in the layout of the tensor.
size_t place_of(size_t dim, size_t rank, bool image) { return image ? to_plain(rank)[dim] : dim; }

int64_t clipped(int64_t index, int64_t size) {
  return std::clamp<int64_t>(index < 0 ? index + size : index, 0, size);
}

// The parameters of a slice that takes every `step`-th element from `start` on.
struct Strides {
  int64_t start, step;
};
Strides strides_of(const Node& node) {
  const Value* x = tensor(node);
  const exir::Sym& size = x->type.sizes[dim_of(node.arg(1), x->type.rank())];
  const int64_t start = node.arg(2).is_none() ? 0 : node.arg(2).to_int();
  return {size.is_int() ? clipped(start, size.as_int()) : start, node.arg(4).to_int()};
}

// Whether the size of the dimension is a multiple of the step.
bool is_of_whole_groups(const Strides& s, int64_t size, int64_t result) {
  return size % s.step == 0 && s.start < s.step && result == size / s.step;
}

// Takes as many groups of `step` elements as the result has elements, padded with zeros, and keeps
// the first element of each.
Id first_of_groups(Lowering& l, Id x, size_t dim, Strides s, int64_t groups) {
  const int64_t rest = l.out().dims(x)[dim].as_int() - s.start;
  x = l.slice(x, dim, s.start, std::min(rest, groups * s.step));
  Dims dims = l.out().dims(x);
  if (rest < groups * s.step) {
    NodeSpec pad;
    pad.kind = NodeContent::ConstantPad;
    pad.inputs = {x};
    pad.list.resize(dims.size());
    pad.list2.resize(dims.size());
    pad.list2[dim] = static_cast<uint32_t>(groups * s.step - rest);
    dims[dim] = groups * s.step;
    x = l.out().add(std::move(pad), dims);
  }
  exir::Sym before = groups;
  int64_t after = 1;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (d < dim) before = before * dims[d];
    if (d > dim) after *= dims[d].as_int();
  }
  return l.slice(l.reshape(x, {before, s.step * after}), 1, 0, after);
}

// Views the tensor as groups of `step` elements: the result is a row of the transpose, which is
// computed once for all slices of the tensor.
Id every(Lowering& l, const Value* x, size_t dim, Strides s, int64_t groups) {
  const Dims& sizes = x->type.sizes;
  if (!is_of_whole_groups(s, sizes[dim].as_int(), groups)) {
    return first_of_groups(l, l.plain(x), dim, s, groups);
  }
  exir::Sym before = 1;
  int64_t after = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (d < dim) before = before * sizes[d];
    if (d > dim) after *= sizes[d].as_int();
  }
  const Id rows = l.once(x, "every " + std::to_string(dim) + " " + std::to_string(s.step), [&] {
    return l.transpose(l.reshape(l.plain(x), {before * groups, s.step, after}), {1, 0, 2});
  });
  return l.slice(rows, 0, s.start, 1);
}

void slice(Lowering& l, const Node& node) {
  const Value *x = tensor(node), *y = node.outputs[0];
  const size_t rank = x->type.rank(), dim = dim_of(node.arg(1), rank);
  const Strides strides = strides_of(node);
  if (strides.step != 1) {
    const int64_t count = y->type.sizes[dim].as_int();
    return l.set_plain(y, l.reshape(every(l, x, dim, strides, count), y->type.sizes));
  }
  const bool image = l.is_image(x);
  l.set_like(y, image,
             l.slice(image ? l.image(x) : l.plain(x), place_of(dim, rank, image), strides.start,
                     y->type.sizes[dim].as_int()));
}
std::string slice_refusal(const Node& node) {
  for (size_t i = 2; i < 5; ++i) {
    if (!node.arg(i).is_none() && !is_known(node.arg(i))) return "a bound is not constant";
  }
  const Value *x = tensor(node), *y = node.outputs[0];
  const size_t dim = dim_of(node.arg(1), x->type.rank());
  const Strides s = strides_of(node);
  if (!y->type.sizes[dim].is_int() || s.start < 0) return "a size is dynamic";
  if (s.step == 1) return "";
  for (size_t d = dim; d < x->type.rank(); ++d) {
    if (!x->type.sizes[d].is_int()) return "the step is not 1 and a size is dynamic";
  }
  return "";
}

void select(Lowering& l, const Node& node) {
  const Value *x = tensor(node), *y = node.outputs[0];
  const size_t dim = dim_of(node.arg(1), x->type.rank());
  const exir::Sym& size = x->type.sizes[dim];
  const int64_t index = node.arg(2).to_int();
  const int64_t from = size.is_int() ? clipped(index, size.as_int()) : index;
  l.set_plain(y, l.reshape(l.slice(l.plain(x), dim, from, 1), y->type.sizes));
}
std::string select_refusal(const Node& node) {
  if (!is_known(node.arg(2))) return "the index is not constant";
  const Value* x = tensor(node);
  const bool known = x->type.sizes[dim_of(node.arg(1), x->type.rank())].is_int();
  if (!known && node.arg(2).to_int() < 0) return "the index is negative and the size is dynamic";
  return "";
}

void split(Lowering& l, const Node& node) {
  const Value* x = tensor(node);
  const size_t rank = x->type.rank(), dim = dim_of(node.arg(2), rank);
  const bool image = l.is_image(x);
  int64_t start = 0;
  for (const Value* y : node.outputs) {
    const int64_t size = y->type.sizes[dim].as_int();
    const Id id = image ? l.image(x) : l.plain(x);
    l.set_like(y, image, l.slice(id, place_of(dim, rank, image), start, size));
    start += size;
  }
}
std::string split_refusal(const Node& node) {
  const size_t dim = dim_of(node.arg(2), tensor(node)->type.rank());
  for (const Value* y : node.outputs) {
    const exir::Sym& size = y->type.sizes[dim];
    if (!size.is_int() || size.as_int() == 0) return "a piece is empty or of dynamic size";
  }
  return tensor(node)->type.sizes[dim].is_int() ? "" : "a size is dynamic";
}

void cat(Lowering& l, const Node& node) {
  const Value* y = node.outputs[0];
  const size_t rank = y->type.rank(), dim = dim_of(node.arg(1), rank);
  const exir::Argument::List& items = node.arg(0).list();
  const bool image = std::any_of(items.begin(), items.end(),
                                 [&](const exir::Argument& x) { return l.is_image(x.value()); });
  const size_t axis = place_of(dim, rank, image);
  std::vector<Id> ids;
  for (const exir::Argument& item : items) {
    ids.push_back(image ? l.image(item.value()) : l.plain(item.value()));
  }
  l.set_like(y, image, l.concatenated(ids, axis));
}
// XNNPACK lays out a graph for the upper bounds of sizes. Those of n and 12 - n add up to more than
// 12, and nothing of size 12 would fit beside the result.
std::string cat_refusal(const Node& node) {
  const exir::Argument::List& items = node.arg(0).list();
  const Value* y = node.outputs[0];
  const size_t rank = y->type.rank(), dim = dim_of(node.arg(1), rank);
  for (const exir::Argument& item : items) {
    const Dims& sizes = item.value()->type.sizes;
    if (sizes.size() != rank) return "its tensors have different ranks";
    if (y->type.sizes[dim].is_int() && !sizes[dim].is_int()) {
      return "the upper bounds of its parts do not add up to its size";
    }
  }
  return items.size() >= 2 ? "" : "it has only one tensor";
}

// Paddings are pairs (before, after), starting with the last dimension.
void pad(Lowering& l, const Node& node) {
  const Value *x = tensor(node), *y = node.outputs[0];
  const size_t rank = x->type.rank();
  const bool image = l.is_image(x);
  const std::vector<int64_t> pairs = exir::to_ints(node.arg(1));
  NodeSpec spec;
  spec.kind = NodeContent::ConstantPad;
  spec.inputs = {image ? l.image(x) : l.plain(x)};
  spec.number = static_cast<float>(node.arg(2).to_double());
  spec.list.resize(rank);
  spec.list2.resize(rank);
  Dims dims(rank);
  for (size_t d = 0; d < rank; ++d) {
    const size_t place = place_of(d, rank, image), pair = 2 * (rank - 1 - d);
    if (pair < pairs.size()) {
      spec.list[place] = static_cast<uint32_t>(pairs[pair]);
      spec.list2[place] = static_cast<uint32_t>(pairs[pair + 1]);
    }
    dims[place] = y->type.sizes[d];
  }
  l.set_like(y, image, l.out().add(std::move(spec), std::move(dims)));
}
std::string pad_refusal(const Node& node) {
  for (const exir::Argument& item : node.arg(1).list()) {
    if (!is_known(item)) return "a padding is not constant";
    if (item.to_int() < 0) return "a padding is negative";
  }
  if (tensor(node)->type.rank() == 0) return "the input has rank 0";
  return is_known(node.arg(2)) ? "" : "the value is not constant";
}

// Pads that repeat elements of the input, as slices of it beside it. Paddings are pairs as those of
// pad().
constexpr int64_t kMostEdgeSlices = 16;  // Of a dimension.

// Slices of one element of a dimension, those at the given indices, side by side.
Id elements_at(Lowering& l, Id x, size_t dim, const std::vector<int64_t>& indices) {
  std::vector<Id> slices;
  for (const int64_t index : indices) slices.push_back(l.slice(x, dim, index, 1));
  return l.concatenated(slices, dim);
}

// The i-th element beyond an edge is that which lies i * `step` before it.
void edge_pad(Lowering& l, const Node& node, int64_t step) {
  const Value* x = tensor(node);
  const size_t rank = x->type.rank();
  const bool image = l.is_image(x);
  const std::vector<int64_t> pairs = exir::to_ints(node.arg(1));
  Id id = image ? l.image(x) : l.plain(x);
  for (size_t pair = 0; 2 * pair < pairs.size(); ++pair) {
    const size_t dim = rank - 1 - pair, place = place_of(dim, rank, image);
    const int64_t size = x->type.sizes[dim].as_int();
    std::vector<int64_t> before, after;
    for (int64_t i = pairs[2 * pair]; i > 0; --i) before.push_back(i * step);
    for (int64_t i = 1; i <= pairs[2 * pair + 1]; ++i) after.push_back(size - 1 - i * step);
    std::vector<Id> parts = {id};
    if (!before.empty()) parts.insert(parts.begin(), elements_at(l, id, place, before));
    if (!after.empty()) parts.push_back(elements_at(l, id, place, after));
    id = l.concatenated(parts, place);
  }
  l.set_like(node.outputs[0], image, id);
}
void reflect(Lowering& l, const Node& node) { edge_pad(l, node, 1); }
void replicate(Lowering& l, const Node& node) { edge_pad(l, node, 0); }
std::string edge_pad_refusal(const Node& node) {
  const exir::Argument::List& pairs = node.arg(1).list();
  const Value* x = tensor(node);
  for (size_t i = 0; i < pairs.size(); i += 2) {
    if (!is_known(pairs[i]) || !is_known(pairs[i + 1])) return "a padding is not constant";
    const int64_t before = pairs[i].to_int(), after = pairs[i + 1].to_int();
    if (before < 0 || after < 0) return "a padding is negative";
    if (before > kMostEdgeSlices || after > kMostEdgeSlices - before) return "a padding is wide";
    if (!x->type.sizes[x->type.rank() - 1 - i / 2].is_int()) return "a size is dynamic";
  }
  return "";
}

// ---- roll, pixel shuffles, repeat ----

void roll(Lowering& l, const Node& node) {
  const Value* x = tensor(node);
  const size_t rank = x->type.rank();
  const bool image = l.is_image(x);
  Id id = image ? l.image(x) : l.plain(x);
  const std::vector<int64_t> shifts = exir::to_ints(node.arg(1));
  for (size_t i = 0; i < shifts.size(); ++i) {
    const size_t dim = dim_of(node.arg(2).list()[i], rank);
    const int64_t size = x->type.sizes[dim].as_int();
    const int64_t shift = (shifts[i] % size + size) % size;
    if (shift == 0) continue;
    const size_t place = place_of(dim, rank, image);
    const Id end = l.slice(id, place, size - shift, shift);
    id = l.concatenated({end, l.slice(id, place, 0, size - shift)}, place);
  }
  l.set_like(node.outputs[0], image, id);
}
std::string roll_refusal(const Node& node) {
  if (!node.arg(2).is_list() || node.arg(2).list().empty()) return "it rolls the flattened tensor";
  for (const exir::Argument& shift : node.arg(1).list()) {
    if (!is_known(shift)) return "a shift is not constant";
  }
  return static_refusal(node);
}

// Turns blocks of pixels into channels, or the reverse. The tensor of pixels is [nc, h, r, w, r],
// or channels last [nh, r, w, r, c].
void shuffle(Lowering& l, const Node& node, bool to_pixels) {
  const Value *x = tensor(node), *y = node.outputs[0];
  const Dims& large = (to_pixels ? y : x)->type.sizes;
  const Dims& small = (to_pixels ? x : y)->type.sizes;
  const exir::Sym r = node.arg(1).to_int();
  const bool image = l.is_image(x);
  const exir::Sym &n = small[0], &c = large[1], &h = small[2], &w = small[3];
  const Dims channels = image ? Dims{n * h, w, c, r, r} : Dims{n * c, r, r, h, w};
  const Dims pixels = image ? Dims{n * h, r, w, r, c} : Dims{n * c, h, r, w, r};
  std::vector<uint32_t> perm = {0, 3, 1, 4, 2};
  if (!to_pixels) perm = {0, 2, 4, 1, 3};
  const Id moved =
      l.transpose(l.reshape(image ? l.image(x) : l.plain(x), to_pixels ? channels : pixels), perm);
  const Dims& out = y->type.sizes;
  l.set_like(y, image, l.reshape(moved, image ? Dims{out[0], out[2], out[3], out[1]} : out));
}
void pixel_shuffle(Lowering& l, const Node& node) { shuffle(l, node, true); }
void pixel_unshuffle(Lowering& l, const Node& node) { shuffle(l, node, false); }
std::string shuffle_refusal(const Node& node) {
  if (tensor(node)->type.rank() != 4) return "the input is not an image of rank 4";
  return is_known(node.arg(1)) ? "" : "the factor is not constant";
}

// Repeats the last dimension first, so that less is copied.
void repeat(Lowering& l, const Node& node) {
  const Value *x = tensor(node), *y = node.outputs[0];
  const std::vector<int64_t> times = exir::to_ints(node.arg(1));
  Dims dims(times.size() - x->type.rank(), exir::Sym(1));
  dims.insert(dims.end(), x->type.sizes.begin(), x->type.sizes.end());
  Id id = l.reshape(l.plain(x), dims);
  for (size_t d = times.size(); d-- > 0;) {
    if (times[d] == 1) continue;
    dims[d] = dims[d] * times[d];
    id = l.reshape(l.copies(id, d, times[d]), dims);
  }
  l.set_plain(y, id);
}
std::string repeat_refusal(const Node& node) {
  for (const exir::Argument& times : node.arg(1).list()) {
    if (!is_known(times)) return "a number of repeats is not constant";
  }
  return static_refusal(node);
}

constexpr OpRule kTable[] = {
    {"aten::clone", nullptr, same, 0},
    {"dim_order_ops::_to_dim_order_copy", nullptr, same, 0},
    {"aten::view_copy", nullptr, reshape, 0},
    {"aten::unsqueeze_copy", nullptr, reshape, 0},
    {"aten::squeeze_copy.dims", nullptr, reshape, 0},
    {"aten::expand_copy", expand_refusal, expand, 0},
    {"aten::permute_copy", nullptr, permute, 0},
    {"aten::slice_copy.Tensor", slice_refusal, slice, 0},
    {"aten::select_copy.int", select_refusal, select, 0},
    {"aten::split_with_sizes_copy", split_refusal, split, 0},
    {"aten::split_copy.Tensor", split_refusal, split, 0},
    {"aten::cat", cat_refusal, cat, 0},
    {"aten::constant_pad_nd", pad_refusal, pad, 0},
    {"aten::reflection_pad1d", edge_pad_refusal, reflect, 0},
    {"aten::reflection_pad2d", edge_pad_refusal, reflect, 0},
    {"aten::reflection_pad3d", edge_pad_refusal, reflect, 0},
    {"aten::replication_pad1d", edge_pad_refusal, replicate, 0},
    {"aten::replication_pad2d", edge_pad_refusal, replicate, 0},
    {"aten::replication_pad3d", edge_pad_refusal, replicate, 0},
    {"aten::pixel_shuffle", shuffle_refusal, pixel_shuffle, 0},
    {"aten::pixel_unshuffle", shuffle_refusal, pixel_unshuffle, 0},
    {"aten::roll", roll_refusal, roll, 0},
    {"aten::repeat", repeat_refusal, repeat, 0},
};

}  // namespace

const std::span<const OpRule> kMovementRules{kTable};

}  // namespace taper::xnnpack
