#include "backends/vulkan/planner/patterns.h"

#include <algorithm>
#include <optional>

#include "backends/vulkan/planner/operators.h"

namespace taper::vulkan {
namespace {

constexpr size_t kNone = SIZE_MAX;

class Patterns {
 public:
  explicit Patterns(PayloadGraph& graph) : graph_(graph) {
    makers_.assign(graph.values.size(), kNone);
    readers_.assign(graph.values.size(), 0);
    for (size_t i = 0; i < graph.calls.size(); ++i) {
      const PayloadCall& call = graph.calls[i];
      const auto read = [&](size_t id) { ++readers_[id]; };
      for (size_t k = 0; k + 1 < call.args.size() && !call.is_fused; ++k) {
        for_each_tensor(call.args[k], read);
      }
      for (const int32_t id : {call.epilogue.added, call.norm.weight}) {
        if (id >= 0 && !call.is_fused) for_each_tensor(id, read);
      }
      if (!call.is_fused) for_each_tensor(call.result(), [&](size_t id) { makers_[id] = i; });
      last_write_.push_back(writes_state(graph.calls[i]) ? i : i > 0 ? last_write_[i - 1] : kNone);
    }
    for (const ValueId id : graph.outputs) ++readers_[id];
  }

  void run() {
    for (size_t i = 0; i < graph_.calls.size(); ++i) {
      taken_.clear();
      if (is(i, "aten.add.Tensor") && take_rotation(i)) continue;
      taken_.clear();
      if (is(i, "aten.mul.Tensor") && take_norm(i)) continue;
      if (is(i, "aten.scaled_dot_product_attention.default")) take_heads(i);
    }
  }

 private:
  template <typename Visit>
  void for_each_tensor(int32_t id, const Visit& visit) const {
    visit(static_cast<size_t>(id));
    for (const int32_t item : graph_.values[static_cast<size_t>(id)].values) {
      visit(static_cast<size_t>(item));
    }
  }

  bool writes_state(const PayloadCall& call) const {
    bool writes = false;
    for_each_tensor(call.result(),
                    [&](size_t id) { writes = writes || graph_.values[id].is_state; });
    return writes;
  }

  const PayloadValue& value(int32_t id) const { return graph_.values[static_cast<size_t>(id)]; }
  int32_t arg(size_t call, size_t i) const { return graph_.calls[call].args[i]; }
  bool is(size_t call, std::string_view name) const {
    return call != kNone && !graph_.calls[call].is_fused && graph_.calls[call].op->name == name;
  }
  bool is_float(int32_t id) const {
    return value(id).kind == Kind::kTensor && value(id).dtype == ScalarType::kFloat;
  }
  bool is_number(int32_t id, double number) const {
    const PayloadValue& v = value(id);
    return (v.kind == Kind::kInt && static_cast<double>(v.integer) == number) ||
           (v.kind == Kind::kDouble && v.real == number);
  }
  bool is_none_or(int32_t id, double number) const {
    return value(id).kind == Kind::kNone || is_number(id, number);
  }
  // The last dimension of a tensor of that rank, counted from either end.
  bool is_last(int32_t id, size_t rank) const {
    return is_number(id, -1) || (rank > 0 && is_number(id, static_cast<double>(rank) - 1));
  }

  // The call of that name which makes the value and which one call alone reads; kNone if there is
  // none. It is noted to go if the pattern is taken.
  size_t maker(int32_t id, std::string_view name) {
    const auto i = static_cast<size_t>(id);
    const size_t found = makers_[i];
    if (!is(found, name) || readers_[i] != 1 || value(id).is_state) return kNone;
    taken_.push_back(found);
    return found;
  }

  // Argument 0 or 1 of a product, whichever such a call makes; `other` is the other one.
  size_t factor(size_t mul, std::string_view name, int32_t& other) {
    for (const size_t k : {0, 1}) {
      const size_t found = maker(arg(mul, k), name);
      other = arg(mul, 1 - k);
      if (found != kNone) return found;
    }
    return kNone;
  }

  // The call at `at` becomes one of `op`, and the calls that were noted go.
  bool replace(size_t at, const char* op, std::vector<int32_t> args) {
    const Operator* found = find_operator(op);
    const size_t first = *std::min_element(taken_.begin(), taken_.end());
    const size_t written = at > 0 ? last_write_[at - 1] : kNone;
    if (found == nullptr || (written != kNone && written >= first)) return false;
    args.push_back(graph_.calls[at].result());
    for (const size_t i : taken_) graph_.calls[i].is_fused = true;
    const std::vector<int32_t>& kept = graph_.made_args.emplace_back(std::move(args));
    PayloadCall& call = graph_.calls[at];
    call.op = found;
    call.args = {kept.data(), kept.size()};
    return true;
  }

  // Whether `low` and `high` are the halves of a tensor along its last dimension; which one.
  std::optional<int32_t> halves(int32_t low, int32_t high) {
    const size_t split = makers_[static_cast<size_t>(low)];
    if (is(split, "aten.split_with_sizes_copy.default")) {
      const PayloadValue& results = value(graph_.calls[split].result());
      const int32_t x = arg(split, 0);
      const bool are_both = results.values.size() == 2 && results.values[0] == low &&
                            results.values[1] == high && readers_[static_cast<size_t>(low)] == 1 &&
                            readers_[static_cast<size_t>(high)] == 1;
      if (!are_both || !is_last(arg(split, 2), value(x).limits.rank)) return std::nullopt;
      taken_.push_back(split);
      return x;
    }
    const size_t first = maker(low, "aten.slice_copy.Tensor");
    const size_t second = maker(high, "aten.slice_copy.Tensor");
    if (first == kNone || second == kNone || arg(first, 0) != arg(second, 0)) return std::nullopt;
    const int32_t x = arg(first, 0);
    const size_t rank = value(x).limits.rank;
    if (rank == 0 || !is_float(low) || value(low).limits.rank != rank) return std::nullopt;
    const auto half = static_cast<double>(value(low).limits[rank - 1]);
    const bool are_halves = is_last(arg(first, 1), rank) && is_last(arg(second, 1), rank) &&
                            is_none_or(arg(first, 2), 0) && is_number(arg(second, 2), half) &&
                            is_none_or(arg(first, 4), 1) && is_none_or(arg(second, 4), 1);
    return are_halves ? std::optional(x) : std::nullopt;
  }

  // x * cos + cat([-high, low], -1) * sin
  bool take_rotation(size_t add) {
    if (!is_none_or(arg(add, 2), 1)) return false;
    for (const size_t k : {0, 1}) {
      taken_.clear();
      const size_t plain = maker(arg(add, k), "aten.mul.Tensor");
      const size_t turned = maker(arg(add, 1 - k), "aten.mul.Tensor");
      if (plain == kNone || turned == kNone) return false;
      int32_t sin = 0;
      const size_t cat = factor(turned, "aten.cat.default", sin);
      if (cat == kNone || value(arg(cat, 0)).values.size() != 2) continue;
      const size_t neg = maker(value(arg(cat, 0)).values[0], "aten.neg.default");
      const int32_t low = value(arg(cat, 0)).values[1];
      if (neg == kNone) continue;
      const std::optional<int32_t> x = halves(low, arg(neg, 0));
      if (!x || !is_float(*x) || !is_float(low)) continue;
      const Dims &all = value(*x).limits, &half = value(low).limits;
      const size_t rank = all.rank;
      if (rank == 0 || half.rank != rank || half[rank - 1] * 2 != all[rank - 1] ||
          !is_last(arg(cat, 1), rank)) {
        continue;
      }
      const int32_t cos = arg(plain, arg(plain, 0) == *x ? 1 : 0);
      const bool multiplies = arg(plain, 0) == *x || arg(plain, 1) == *x;
      const bool fits = multiplies && is_float(cos) && is_float(sin) &&
                        value(graph_.calls[add].result()).limits == all;
      if (fits && replace(add, "taper.rotate.default", {*x, cos, sin})) return true;
    }
    return false;
  }

  // mul(mul(x, rsqrt(add(mean(pow(x, 2), -1), eps))), weight)
  bool take_norm(size_t outer) {
    int32_t weight = 0, x = 0;
    const size_t inner = factor(outer, "aten.mul.Tensor", weight);
    if (inner == kNone) return false;
    const size_t rsqrt = factor(inner, "aten.rsqrt.default", x);
    if (rsqrt == kNone) return false;
    const size_t add = maker(arg(rsqrt, 0), "aten.add.Scalar");
    if (add == kNone || !is_none_or(arg(add, 2), 1)) return false;
    const size_t mean = maker(arg(add, 0), "aten.mean.dim");
    if (mean == kNone) return false;
    const Dims& all = value(x).limits;
    const size_t pow = maker(arg(mean, 0), "aten.pow.Tensor_Scalar");
    if (pow == kNone || arg(pow, 0) != x || !is_number(arg(pow, 1), 2)) return false;
    const Span<const int64_t> dims = value(arg(mean, 1)).ints;
    const bool fits = is_float(x) && is_float(weight) && all.rank > 0 && dims.size() == 1 &&
                      (dims[0] == -1 || dims[0] == static_cast<int64_t>(all.rank) - 1) &&
                      value(arg(mean, 2)).kind == Kind::kBool && value(arg(mean, 2)).integer != 0 &&
                      value(weight).limits.rank == 1 &&
                      value(weight).limits[0] == all[all.rank - 1] &&
                      value(graph_.calls[outer].result()).limits == all;
    return fits && replace(outer, "et_vk.rms_norm.default", {x, weight, arg(add, 1)});
  }

  // What repeats each head of a tensor [batch, heads, rows, columns]: view(expand(unsqueeze(x))).
  std::optional<int32_t> repeated(int32_t id) {
    const size_t view = maker(id, "aten.view_copy.default");
    if (view == kNone) return std::nullopt;
    const size_t expand = maker(arg(view, 0), "aten.expand_copy.default");
    if (expand == kNone) return std::nullopt;
    const size_t unsqueeze = maker(arg(expand, 0), "aten.unsqueeze_copy.default");
    if (unsqueeze == kNone || !is_number(arg(unsqueeze, 1), 2)) return std::nullopt;
    const int32_t x = arg(unsqueeze, 0);
    const Dims &from = value(x).limits, &wide = value(arg(view, 0)).limits, &to = value(id).limits;
    const bool fits = from.rank == 4 && wide.rank == 5 && to.rank == 4 && wide[0] == from[0] &&
                      wide[1] == from[1] && wide[3] == from[2] && wide[4] == from[3] &&
                      to[0] == from[0] && to[1] == wide[1] * wide[2] && to[2] == from[2] &&
                      to[3] == from[3];
    return fits ? std::optional(x) : std::nullopt;
  }

  // Attention shares keys and values of a group of heads itself.
  void take_heads(size_t at) {
    taken_.clear();
    const std::optional<int32_t> k = repeated(arg(at, 1)), v = repeated(arg(at, 2));
    if (!k || !v || value(*k).limits[1] != value(*v).limits[1]) return;
    PayloadValue shares;
    shares.kind = Kind::kBool;
    shares.integer = 1;
    const Span<const int32_t> old = graph_.calls[at].args;
    std::vector<int32_t> args(old.begin(), old.begin() + 7);
    args[1] = *k;
    args[2] = *v;
    args.push_back(static_cast<int32_t>(graph_.values.size()));
    graph_.values.push_back(shares);
    makers_.push_back(kNone);
    readers_.push_back(1);
    replace(at, "aten.scaled_dot_product_attention.default", std::move(args));
  }

  PayloadGraph& graph_;
  std::vector<size_t> makers_;      // The call that makes a value.
  std::vector<size_t> readers_;     // How many arguments it is.
  std::vector<size_t> last_write_;  // Of a state, up to each call.
  std::vector<size_t> taken_;
};

}  // namespace

void find_patterns(PayloadGraph& graph) { Patterns(graph).run(); }

}  // namespace taper::vulkan
