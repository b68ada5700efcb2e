// Matches the dimensions before and after the reshape from left to right; see moved_reshape.h.

#include "backends/xnnpack/aot/moved_reshape.h"

#include <algorithm>

namespace taper::xnnpack {
namespace {

using exir::Sym;
using Dims = std::vector<Sym>;

// Dimensions [from, from_end) that become [to, to_end); one of the two has at most one dimension.
struct Group {
  size_t from, from_end, to, to_end;
  int64_t place = -1;  // Where its first dimension is in the argument of the transpose.
};

// How many dimensions from `first` on multiply to `size`; 0 if none do.
size_t factors(const Dims& dims, size_t first, const Sym& size) {
  Sym product = 1;
  for (size_t d = first; d < dims.size(); ++d) {
    product = product * dims[d];
    if (product == size) return d + 1 - first;
  }
  return 0;
}

// The group that starts at dimension `a` of `from` and `b` of `to`; an empty one if there is none.
Group group_at(const Dims& from, size_t a, const Dims& to, size_t b) {
  const Sym one = 1;
  const bool left = a < from.size(), right = b < to.size();
  if (left && right && from[a] == to[b]) return {a, a + 1, b, b + 1};
  if (left && from[a] == one) return {a, a + 1, b, b};
  if (right && to[b] == one) return {a, a, b, b + 1};
  if (!left || !right) return {a, a, b, b};
  if (const size_t count = factors(to, b, from[a])) return {a, a + 1, b, b + count};
  return {a, a + factors(from, a, to[b]), b, b + 1};
}

std::optional<std::vector<Group>> matched(const Dims& from, const Dims& to) {
  std::vector<Group> groups;
  for (size_t a = 0, b = 0; a < from.size() || b < to.size();) {
    const Group group = group_at(from, a, to, b);
    const bool inserts = group.from == group.from_end && b < to.size() && to[b] == Sym(1);
    if (group.from == group.from_end && !inserts) return std::nullopt;
    groups.push_back(group);
    a = group.from_end;
    b = group.to_end;
  }
  return groups;
}

// Finds where each group is in the argument. False if one consists of dimensions that do not follow
// each other there.
bool place(std::vector<Group>& groups, const std::vector<uint32_t>& perm) {
  int64_t last = -1;
  for (Group& group : groups) {
    for (size_t d = group.from; d + 1 < group.from_end; ++d) {
      if (perm[d + 1] != perm[d] + 1) return false;
    }
    if (group.from != group.from_end) last = perm[group.from];
    group.place = last;  // Of a new dimension of size 1: beside its neighbour.
  }
  return true;
}

}  // namespace

std::optional<MovedReshape> reshape_before(const Dims& dims, const std::vector<uint32_t>& perm,
                                           const Dims& result) {
  Dims turned;
  for (const uint32_t d : perm) turned.push_back(dims[d]);
  auto groups = matched(turned, result);
  if (!groups || !place(*groups, perm)) return std::nullopt;
  std::stable_sort(groups->begin(), groups->end(),
                   [](const Group& a, const Group& b) { return a.place < b.place; });
  MovedReshape moved{{}, std::vector<uint32_t>(result.size())};
  for (const Group& group : *groups) {
    for (size_t d = group.to; d < group.to_end; ++d) {
      moved.perm[d] = static_cast<uint32_t>(moved.dims.size());
      moved.dims.push_back(result[d]);
    }
  }
  return moved;
}

std::vector<uint32_t> composed(const std::vector<uint32_t>& first,
                               const std::vector<uint32_t>& second) {
  std::vector<uint32_t> both;
  for (const uint32_t d : second) both.push_back(first[d]);
  return both;
}

}  // namespace taper::xnnpack
