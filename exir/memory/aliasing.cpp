#include "exir/memory/aliasing.h"

#include "exir/ops/infer.h"
#include "exir/ops/variants.h"
#include "kernels_portable/kernel_facts.h"

namespace taper::exir {
namespace {

using portable::Memory;

const Value* tensor(const Argument& arg) { return arg.is_value() ? arg.value() : nullptr; }

bool is_literal_or_none(const Argument& arg) { return arg.is_none() || arg.is_int(); }

int64_t numel(const std::vector<Sym>& sizes, size_t first, size_t last) {
  int64_t n = 1;
  for (size_t i = first; i < last; ++i) n *= sizes[i].as_int();
  return n;
}

// Same elements in the same order.
std::vector<ViewOf> whole(const Node& node) { return {{tensor(node.args[0]), 0}}; }

// A permutation that moves only dimensions of size 1.
std::vector<ViewOf> permute(const Node& node) {
  const Value* base = tensor(node.args[0]);
  const auto rank = static_cast<int64_t>(base->type.rank());
  int64_t last = -1;
  for (int64_t d : to_ints(node.args[1])) {
    const int64_t from = wrap_dim(d, rank);
    if (base->type.sizes[static_cast<size_t>(from)] == Sym(1)) continue;
    if (from < last) return {};
    last = from;
  }
  return {{base, 0}};
}

std::vector<ViewOf> transpose(const Node& node) {
  const Value* base = tensor(node.args[0]);
  const auto rank = static_cast<int64_t>(base->type.rank());
  if (rank == 0) return {{base, 0}};
  const auto a = static_cast<size_t>(wrap_dim(node.args[1].to_int(), rank));
  const auto b = static_cast<size_t>(wrap_dim(node.args[2].to_int(), rank));
  for (size_t d = std::min(a, b); d <= std::max(a, b); ++d) {
    const bool moved = d == a || d == b;
    if (!moved && base->type.sizes[d] != Sym(1)) return {};
  }
  const bool one = base->type.sizes[a] == Sym(1) || base->type.sizes[b] == Sym(1);
  return a == b || one ? std::vector<ViewOf>{{base, 0}} : std::vector<ViewOf>{};
}

std::vector<ViewOf> expand(const Node& node) {
  const Value* base = tensor(node.args[0]);
  const Value* out = node.outputs[0];
  if (!out->type.is_static()) return {};
  const bool same =
      numel(base->type.sizes, 0, base->type.rank()) == numel(out->type.sizes, 0, out->type.rank());
  return same ? std::vector<ViewOf>{{base, 0}} : std::vector<ViewOf>{};
}

// Elements [start, ...) along `dim` lie together if all dimensions before it are 1.
bool outermost(const Value* base, size_t dim) {
  for (size_t d = 0; d < dim; ++d) {
    if (base->type.sizes[d] != Sym(1)) return false;
  }
  return true;
}
uint64_t bytes_before(const Value* base, size_t dim, int64_t index) {
  return static_cast<uint64_t>(index * numel(base->type.sizes, dim + 1, base->type.rank())) *
         element_size(base->type.dtype);
}

std::vector<ViewOf> slice(const Node& node) {
  const Value* base = tensor(node.args[0]);
  const auto dim =
      static_cast<size_t>(wrap_dim(node.args[1].to_int(), static_cast<int64_t>(base->type.rank())));
  if (!outermost(base, dim) || !is_literal_or_none(node.args[2]) || !node.args[4].is_int() ||
      node.args[4].to_int() != 1) {
    return {};
  }
  const int64_t size = base->type.sizes[dim].as_int();
  int64_t start = node.args[2].is_none() ? 0 : node.args[2].to_int();
  if (start < 0) start += size;
  start = std::min(std::max<int64_t>(start, 0), size);
  return {{base, bytes_before(base, dim, start)}};
}

std::vector<ViewOf> select(const Node& node) {
  const Value* base = tensor(node.args[0]);
  const auto dim =
      static_cast<size_t>(wrap_dim(node.args[1].to_int(), static_cast<int64_t>(base->type.rank())));
  if (!outermost(base, dim) || !node.args[2].is_int()) return {};
  int64_t index = node.args[2].to_int();
  if (index < 0) index += base->type.sizes[dim].as_int();
  return {{base, bytes_before(base, dim, index)}};
}

std::vector<ViewOf> split(const Node& node) {
  const Value* base = tensor(node.args[0]);
  const auto dim =
      static_cast<size_t>(wrap_dim(node.args[2].to_int(), static_cast<int64_t>(base->type.rank())));
  if (!outermost(base, dim)) return {};
  std::vector<ViewOf> out;
  int64_t at = 0;
  for (const Value* part : node.outputs) {
    if (!part->type.is_static()) return {};
    out.push_back({base, bytes_before(base, dim, at)});
    at += part->type.sizes[dim].as_int();
  }
  return out;
}

size_t uses_of(const Node& node, const Value* operand) {
  size_t uses = 0;
  for_each_value(node, [&](Value* value) { uses += value == operand; });
  return uses;
}

Memory memory_of(const Node& node) {
  const portable::KernelFacts* facts = portable::find_kernel_facts(node.target());
  return facts == nullptr ? Memory::kOwn : facts->memory;
}

}  // namespace

std::vector<ViewOf> views_of(const Node& node) {
  const bool candidate = !node.args.empty() && tensor(node.args[0]) != nullptr &&
                         !node.outputs.empty() && node.args[0].value()->type.is_static();
  if (!candidate) return {};
  switch (memory_of(node)) {
    case Memory::kOwn:
    case Memory::kElementwise:
    case Memory::kUpdate:
      return {};
    case Memory::kSame:
      return whole(node);
    case Memory::kPermute:
      return permute(node);
    case Memory::kTranspose:
      return transpose(node);
    case Memory::kExpand:
      return expand(node);
    case Memory::kSlice:
      return slice(node);
    case Memory::kSelect:
      return select(node);
    case Memory::kSplit:
      return split(node);
  }
  return {};
}

bool writes_in_place(const Node& node, const Value* operand, const Value* result) {
  for (const WrittenResult& written : written_results(node)) {
    if (node.outputs[written.output] != result) continue;
    return tensor(node.args[written.arg]) == operand && uses_of(node, operand) == 1;
  }
  if (result != node.outputs[0]) return false;
  const Memory memory = memory_of(node);
  if (memory == Memory::kElementwise) return true;
  return memory == Memory::kUpdate && tensor(node.args[0]) == operand &&
         uses_of(node, operand) == 1;
}

}  // namespace taper::exir
