#include "exir/memory/aliasing.h"

#include <string_view>
#include <unordered_set>

#include "exir/ops/infer.h"
#include "exir/passes/to_out_variants.h"

namespace taper::exir {
namespace {

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

const std::unordered_set<std::string_view>& in_place_kernels() {
  static const std::unordered_set<std::string_view> set = {"aten::abs.out",
                                                           "aten::neg.out",
                                                           "aten::relu.out",
                                                           "aten::sigmoid.out",
                                                           "aten::tanh.out",
                                                           "aten::exp.out",
                                                           "aten::log.out",
                                                           "aten::sqrt.out",
                                                           "aten::rsqrt.out",
                                                           "aten::sin.out",
                                                           "aten::cos.out",
                                                           "aten::erf.out",
                                                           "aten::floor.out",
                                                           "aten::ceil.out",
                                                           "aten::round.out",
                                                           "aten::trunc.out",
                                                           "aten::sign.out",
                                                           "aten::reciprocal.out",
                                                           "aten::expm1.out",
                                                           "aten::log1p.out",
                                                           "aten::log2.out",
                                                           "aten::log10.out",
                                                           "aten::logical_not.out",
                                                           "aten::bitwise_not.out",
                                                           "aten::hardtanh.out",
                                                           "aten::leaky_relu.out",
                                                           "aten::elu.out",
                                                           "aten::gelu.out",
                                                           "aten::clamp.out",
                                                           "aten::add.out",
                                                           "aten::add.Scalar_out",
                                                           "aten::sub.out",
                                                           "aten::sub.Scalar_out",
                                                           "aten::mul.out",
                                                           "aten::mul.Scalar_out",
                                                           "aten::div.out",
                                                           "aten::div.Scalar_out",
                                                           "aten::div.out_mode",
                                                           "aten::div.Scalar_mode_out",
                                                           "aten::rsub.Scalar_out",
                                                           "aten::maximum.out",
                                                           "aten::minimum.out",
                                                           "aten::pow.Tensor_Scalar_out",
                                                           "aten::remainder.Scalar_out",
                                                           "aten::where.self_out",
                                                           "aten::logical_and.out",
                                                           "aten::logical_or.out",
                                                           "aten::bitwise_and.Tensor_out",
                                                           "aten::bitwise_or.Tensor_out",
                                                           "aten::bitwise_xor.Tensor_out"};
  return set;
}

// Kernels that copy their first operand and then write parts of the copy: with the copy in place
// only the parts remain.
const std::unordered_set<std::string_view>& updates_first_operand() {
  static const std::unordered_set<std::string_view> set = {
      "aten::index_put.out",   "aten::slice_scatter.out", "aten::select_scatter.out",
      "aten::scatter.src_out", "aten::scatter.value_out", "aten::scatter_add.out"};
  return set;
}

size_t uses_of(const Node& node, const Value* operand) {
  size_t uses = 0;
  for_each_value(node, [&](Value* value) { uses += value == operand; });
  return uses;
}

}  // namespace

std::vector<ViewOf> views_of(const Node& node) {
  const std::string_view op = node.target();
  const bool candidate = !node.args.empty() && tensor(node.args[0]) != nullptr &&
                         !node.outputs.empty() && node.args[0].value()->type.is_static();
  if (!candidate) return {};
  if (op == "aten::view_copy.out" || op == "aten::unsqueeze_copy.out" ||
      op == "aten::squeeze_copy.dims_out" || op == "aten::squeeze_copy.dim_out" ||
      op == "aten::alias_copy.out" || op == "aten::detach_copy.out") {
    return whole(node);
  }
  if (op == "aten::permute_copy.out") return permute(node);
  if (op == "aten::transpose_copy.int_out") return transpose(node);
  if (op == "aten::expand_copy.out") return expand(node);
  if (op == "aten::slice_copy.Tensor_out") return slice(node);
  if (op == "aten::select_copy.int_out") return select(node);
  if (op == "aten::split_with_sizes_copy.out") return split(node);
  return {};
}

bool writes_in_place(const Node& node, const Value* operand, const Value* result) {
  for (const WrittenResult& written : written_results(node)) {
    if (node.outputs[written.output] != result) continue;
    return tensor(node.args[written.arg]) == operand && uses_of(node, operand) == 1;
  }
  if (in_place_kernels().count(node.target()) != 0) return true;
  if (updates_first_operand().count(node.target()) == 0) return false;
  if (tensor(node.args[0]) != operand) return false;
  return uses_of(node, operand) == 1;
}

}  // namespace taper::exir
