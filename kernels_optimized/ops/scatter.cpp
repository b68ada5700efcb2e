// scatter_add.out and scatter_reduce.two_out of float32, float64, int32 and int64: one loop for
// each dtype and reduction, and rows at once where the index is expanded along them.

#include <cstdint>
#include <string_view>

#include "kernels_optimized/engine/overlay.h"
#include "kernels_portable/engine/arith.h"
#include "kernels_portable/engine/dims.h"
#include "kernels_portable/engine/elementwise.h"
#include "kernels_portable/engine/strided.h"
#include "kernels_portable/engine/view.h"

namespace taper::optimized {
namespace {

// Integers are computed in int64, which wraps around.
inline float wide(float x) { return x; }
inline double wide(double x) { return x; }
inline int64_t wide(int64_t x) { return x; }
inline int64_t wide(int32_t x) { return x; }

// How a term changes the element of the result at which its index points.
struct Sum {
  template <typename T>
  static T combine(T a, T b) {
    return static_cast<T>(portable::wrap_add(wide(a), wide(b)));
  }
};
struct Product {
  template <typename T>
  static T combine(T a, T b) {
    return static_cast<T>(portable::wrap_mul(wide(a), wide(b)));
  }
};
struct Largest {
  template <typename T>
  static T combine(T a, T b) {
    return (b > a || b != b) && !(a != a) ? b : a;
  }
};
struct Smallest {
  template <typename T>
  static T combine(T a, T b) {
    return (b < a || b != b) && !(a != a) ? b : a;
  }
};
// Begins anew: 0 for sums, 1 for products, any of the terms for the others.
template <int kStart>
struct Replace {
  template <typename T>
  static T combine(T, T b) {
    return kStart < 0 ? b : static_cast<T>(kStart);
  }
};

// A call: the loops over the index, with the strides of src, index and result as operands.
struct Scatter {
  enum { kSource = 0, kIndex = 1, kTable = 2 };
  portable::LoopNest nest;
  int64_t limit;   // The size of the result along the dimension of the index.
  int64_t stride;  // Its stride.
  const Tensor& index;
  const Tensor& src;
  Tensor& out;
};

template <typename Fold, typename T, typename I>
bool scatter_run(const Scatter& call, const int64_t* offsets, int64_t count) {
  const int64_t index_step = call.nest.inner_stride(Scatter::kIndex);
  const int64_t from_step = call.nest.inner_stride(Scatter::kSource);
  const int64_t to_step = call.nest.inner_stride(Scatter::kTable);
  const I* index = call.index.const_data_ptr<I>() + offsets[Scatter::kIndex];
  const T* from = static_cast<const T*>(call.src.const_data()) + offsets[Scatter::kSource];
  T* to = static_cast<T*>(call.out.mutable_data()) + offsets[Scatter::kTable];
  if (index_step == 0 && from_step == 1 && to_step == 1) {
    const auto at = static_cast<int64_t>(*index);
    if (at < 0 || at >= call.limit) return false;
    to += at * call.stride;
    TAPER_INDEPENDENT_LOOP
    for (int64_t i = 0; i < count; ++i) to[i] = Fold::template combine<T>(to[i], from[i]);
    return true;
  }
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<int64_t>(index[i * index_step]);
    if (at < 0 || at >= call.limit) return false;
    T& target = to[i * to_step + at * call.stride];
    target = Fold::template combine<T>(target, from[i * from_step]);
  }
  return true;
}

// False if an index is out of range; the portable kernel reports it.
template <typename Fold, typename T>
bool scatter_as(const Scatter& call) {
  const auto run = call.index.scalar_type() == ScalarType::kInt ? scatter_run<Fold, T, int32_t>
                                                                : scatter_run<Fold, T, int64_t>;
  bool done = true;
  call.nest.for_each_run([&](const int64_t* offsets, int64_t count) {
    if (done) done = run(call, offsets, count);
  });
  return done;
}

template <typename Fold>
bool scatter(const Scatter& call) {
  switch (call.out.scalar_type()) {
    case ScalarType::kFloat:
      return scatter_as<Fold, float>(call);
    case ScalarType::kDouble:
      return scatter_as<Fold, double>(call);
    case ScalarType::kInt:
      return scatter_as<Fold, int32_t>(call);
    case ScalarType::kLong:
      return scatter_as<Fold, int64_t>(call);
    default:
      return false;
  }
}

bool is_supported(ScalarType type) {
  return type == ScalarType::kFloat || type == ScalarType::kDouble || type == ScalarType::kInt ||
         type == ScalarType::kLong;
}

// Lays out the loops. False if the operands are not as the operator's description says, or empty.
bool describe(const Tensor& self, int64_t dim, Scatter* call) {
  const Tensor &out = call->out, &index = call->index, &src = call->src;
  const ScalarType type = out.scalar_type(), by = index.scalar_type();
  const int64_t rank = self.dim();
  if (!is_supported(type) || self.scalar_type() != type || src.scalar_type() != type ||
      (by != ScalarType::kInt && by != ScalarType::kLong) || rank == 0 || out.dim() != rank ||
      index.dim() != rank || src.dim() != rank || !portable::wrap_dim(dim, rank, &dim).ok()) {
    return false;
  }
  call->nest.operands = 3;
  call->limit = self.size(dim);
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t size = index.size(d);
    if (size == 0 || size > src.size(d) || (d != dim && size > self.size(d))) return false;
  }
  return true;
}

void add_loops(int64_t dim, Scatter* call) {
  for (int64_t d = 0; d < call->out.dim(); ++d) {
    const auto i = static_cast<size_t>(d);
    const int64_t strides[] = {call->src.strides()[i], call->index.strides()[i],
                               d == dim ? 0 : call->out.strides()[i]};
    call->nest.add_loop(call->index.size(d), strides);
    if (d == dim) call->stride = call->out.strides()[i];
  }
  call->nest.simplify();
}

// Copies self to the result, then combines it with the terms.
template <typename Begin, typename Fold>
bool fold(const Tensor& self, int64_t dim, bool include_self, Scatter call) {
  if (!describe(self, dim, &call) ||
      !portable::write_view(portable::view_of(self), call.out).ok()) {
    return false;
  }
  add_loops(dim < 0 ? dim + self.dim() : dim, &call);
  return (include_self || scatter<Begin>(call)) && scatter<Fold>(call);
}

bool fast_scatter_add(KernelContext&, const Tensor& self, int64_t dim, const Tensor& index,
                      const Tensor& src, Tensor& out) {
  return fold<Sum, Sum>(self, dim, true, {{}, 0, 0, index, src, out});
}

bool fast_scatter_reduce(KernelContext&, const Tensor& self, int64_t dim, const Tensor& index,
                         const Tensor& src, std::string_view reduction, bool include_self,
                         Tensor& out) {
  const Scatter call = {{}, 0, 0, index, src, out};
  if (reduction == "sum") return fold<Replace<0>, Sum>(self, dim, include_self, call);
  if (reduction == "prod") return fold<Replace<1>, Product>(self, dim, include_self, call);
  if (reduction == "amax") return fold<Replace<-1>, Largest>(self, dim, include_self, call);
  return reduction == "amin" && fold<Replace<-1>, Smallest>(self, dim, include_self, call);
}

}  // namespace

extern const Kernel kScatterAddOut, kScatterReduceTwoOut;
const Kernel kScatterAddOut =
    overlay<fast_scatter_add, portable::kScatterAddOut>("aten::scatter_add.out");
const Kernel kScatterReduceTwoOut =
    overlay<fast_scatter_reduce, portable::kScatterReduceTwoOut>("aten::scatter_reduce.two_out");

}  // namespace taper::optimized
