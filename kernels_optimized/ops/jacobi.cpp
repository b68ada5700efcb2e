// _linalg_eigh and _linalg_svd by the one-sided Jacobi method, as the portable kernels compute them
// (kernels_portable/cores/jacobi.h), but in double precision and with contiguous columns, in temp
// memory: pairs of columns are multiplied and rotated a vector at a time, and the length of a
// column follows from the rotation.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels_optimized/engine/overlay.h"
#include "kernels_portable/cores/linalg.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/ops/jacobi.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

// Shared by all compiled forms: this file is compiled once per instruction set.
#ifndef TAPER_JACOBI_COLUMNS
#define TAPER_JACOBI_COLUMNS
namespace taper::optimized {
namespace {

constexpr int64_t kStep = 8;  // Columns begin at multiples of so many numbers and end with zeros.

// Columns of a matrix in memory.
struct Columns {
  double* data;
  int64_t rows, count, stride;

  double* operator[](int64_t j) const { return data + j * stride; }
};

// Columns to rotate, what is rotated with them, which may have no columns, and squares of lengths.
struct Jacobi {
  Columns w, v;
  double* squares;
  double small;  // Cosines of angles up to this count as zero.
};

}  // namespace
}  // namespace taper::optimized
#endif

#if TAPER_VECTOR_TARGET && HWY_HAVE_FLOAT64
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Doubles = hn::ScalableTag<double>;
constexpr Doubles kDoubles = {};
constexpr int64_t kWidth = static_cast<int64_t>(HWY_LANES(double));
static_assert(kStep % kWidth == 0);

double dot(const double* x, const double* y, int64_t count) {
  auto sum = hn::Zero(kDoubles);
  for (int64_t i = 0; i < count; i += kWidth) {
    sum = hn::MulAdd(hn::Load(kDoubles, x + i), hn::Load(kDoubles, y + i), sum);
  }
  return hn::GetLane(hn::SumOfLanes(kDoubles, sum));
}

void rotate(double* x, double* y, int64_t count, double cosine, double sine) {
  const auto c = hn::Set(kDoubles, cosine), s = hn::Set(kDoubles, sine);
  for (int64_t i = 0; i < count; i += kWidth) {
    const auto a = hn::Load(kDoubles, x + i), b = hn::Load(kDoubles, y + i);
    hn::Store(hn::NegMulAdd(s, b, hn::Mul(c, a)), kDoubles, x + i);
    hn::Store(hn::MulAdd(s, a, hn::Mul(c, b)), kDoubles, y + i);
  }
}

// Rotates columns i and j until they are orthogonal. Returns whether they were not.
bool rotate_pair(const Jacobi& jacobi, int64_t i, int64_t j) {
  const Columns &w = jacobi.w, &v = jacobi.v;
  double &a = jacobi.squares[i], &b = jacobi.squares[j];
  const double c = dot(w[i], w[j], w.stride);
  if (std::abs(c) <= jacobi.small * std::sqrt(a * b)) return false;
  const double slope = (b - a) / (2 * c);
  const double side = slope < 0 ? -1 : 1;
  const double tangent = side / (std::abs(slope) + std::sqrt(1 + slope * slope));
  const double cosine = 1 / std::sqrt(1 + tangent * tangent);
  rotate(w[i], w[j], w.stride, cosine, cosine * tangent);
  if (v.count > 0) rotate(v[i], v[j], v.stride, cosine, cosine * tangent);
  a = std::max(0.0, a - tangent * c);
  b += tangent * c;
  return true;
}

}  // namespace

// False if the columns do not become orthogonal.
bool orthogonalise(const Jacobi& jacobi) {
  constexpr int kMostSweeps = 60;
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    const Columns& w = jacobi.w;
    for (int64_t j = 0; j < w.count; ++j) jacobi.squares[j] = dot(w[j], w[j], w.stride);
    bool rotated = false;
    for (int64_t i = 0; i + 1 < w.count; ++i) {
      for (int64_t j = i + 1; j < w.count; ++j) rotated |= rotate_pair(jacobi, i, j);
    }
    if (!rotated) return true;
  }
  return false;
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#elif TAPER_VECTOR_TARGET  // 32-bit ARM has no vectors of doubles.
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {

bool orthogonalise(const Jacobi&) { return false; }

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace taper::optimized {
namespace {

using portable::Matrix;
using Form = bool (*)(const Jacobi&);

constexpr int64_t kSmallest = 8;  // Smaller matrices fill no vectors.

int64_t padded(int64_t rows) { return (rows + kStep - 1) / kStep * kStep; }

// Memory for matrices of so many rows and columns, or no data.
Columns columns_in(KernelContext& context, int64_t rows, int64_t count) {
  const int64_t stride = padded(rows);
  const auto bytes = static_cast<size_t>(stride * count) * sizeof(double);
  return {static_cast<double*>(context.allocate_temp(bytes)), rows, count, stride};
}

// Memory for the method; `ready` says whether there is enough.
struct Workspace {
  Jacobi jacobi = {};
  int64_t* order = nullptr;
  Form form = nullptr;
  bool ready = false;

  Workspace(KernelContext& context, int64_t rows, int64_t count, bool both, bool single) {
    form = TAPER_CHOOSE(Form, orthogonalise);
    if (form == nullptr || rows > INT16_MAX || count > INT16_MAX) return;
    jacobi.small = single ? 1e-9 : 1e-15;
    jacobi.w = columns_in(context, rows, count);
    jacobi.v = both ? columns_in(context, count, count) : Columns{nullptr, 0, 0, 0};
    jacobi.squares = columns_in(context, count, 1).data;
    order = reinterpret_cast<int64_t*>(columns_in(context, count, 1).data);
    ready = jacobi.w.data != nullptr && jacobi.squares != nullptr && order != nullptr &&
            (!both || jacobi.v.data != nullptr);
  }

  // Replaces the squares by lengths of columns, or by what value(length) makes of them, and sorts
  // the order by them.
  template <typename Value>
  void sort(bool descending, Value value) {
    const int64_t count = jacobi.w.count;
    for (int64_t j = 0; j < count; ++j) {
      const double* column = jacobi.w[j];
      double sum = 0;
      for (int64_t r = 0; r < jacobi.w.rows; ++r) sum += column[r] * column[r];
      jacobi.squares[j] = value(std::sqrt(sum));
    }
    std::iota(order, order + count, int64_t{0});
    std::sort(order, order + count, [&](int64_t a, int64_t b) {
      const double x = jacobi.squares[descending ? b : a], y = jacobi.squares[descending ? a : b];
      return x < y || (x == y && a < b);
    });
  }
};

void clear(const Columns& columns) {
  std::fill_n(columns.data, columns.stride * columns.count, 0.0);
}

// ---- eigenvalues of a symmetric matrix ----

template <typename T>
bool eigh_of(Workspace& space, const Matrix<T>& a, bool upper, const Matrix<T>& v, T* values,
             int64_t stride) {
  const Columns& w = space.jacobi.w;
  clear(w);
  double most = 0;
  for (int64_t i = 0; i < a.rows; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < a.rows; ++j) {
      w[i][j] = static_cast<double>((i > j) == upper ? a(j, i) : a(i, j));
      sum += std::abs(w[i][j]);
    }
    if (!(sum <= most)) most = sum;
  }
  if (!std::isfinite(most)) return false;
  const double shift = most == 0 ? 1 : 2 * most;
  for (int64_t i = 0; i < a.rows; ++i) w[i][i] += shift;
  if (!space.form(space.jacobi)) return false;
  space.sort(false, [](double length) { return length; });
  for (int64_t c = 0; c < w.count; ++c) {
    const double length = space.jacobi.squares[space.order[c]];
    const double* column = w[space.order[c]];
    for (int64_t r = 0; r < w.rows; ++r) v(r, c) = static_cast<T>(column[r] / length);
    values[c * stride] = static_cast<T>(length - shift);
  }
  return true;
}

template <typename T>
bool eigh_all(Workspace& space, const Tensor& a, bool upper, Tensor& values, Tensor& vectors) {
  const int64_t stride = values.strides()[static_cast<size_t>(values.dim()) - 1];
  for (int64_t batch = 0; batch < portable::batches(a, 2); ++batch) {
    T* line = static_cast<T*>(values.mutable_data()) + portable::batch_offset(values, 1, batch);
    if (!eigh_of(space, portable::matrix_of<T>(a, batch), upper,
                 portable::matrix_of<T>(vectors, batch), line, stride)) {
      return false;
    }
  }
  return true;
}

bool fast_eigh(KernelContext& context, const Tensor& a, std::string_view uplo, bool compute_v,
               Tensor& values, Tensor& vectors) {
  if (!portable::check_square(a).ok() || !compute_v || uplo.size() != 1 || a.numel() == 0) {
    return false;
  }
  const ScalarType type = a.scalar_type();
  const int64_t n = a.size(a.dim() - 1);
  // The shift costs doubles some of the digits that their eigenvalues have.
  if (type != ScalarType::kFloat || n < kSmallest ||
      !portable::resize_leading(values, a, 1, type).ok() ||
      !portable::resize_leading(vectors, a, 0, type).ok()) {
    return false;
  }
  Workspace space(context, n, n, false, true);
  const bool upper = uplo[0] == 'U' || uplo[0] == 'u';
  return space.ready && eigh_all<float>(space, a, upper, values, vectors);
}

// ---- singular values ----

// u [m, n], v [n, n], m >= n. False if a singular value is so small that U has to be completed.
template <typename T>
bool svd_of(Workspace& space, const Matrix<T>& a, const Matrix<T>& u, const Matrix<T>& v, T* values,
            int64_t stride) {
  const Columns &w = space.jacobi.w, &right = space.jacobi.v;
  clear(w);
  clear(right);
  for (int64_t j = 0; j < w.count; ++j) {
    for (int64_t r = 0; r < w.rows; ++r) {
      w[j][r] = static_cast<double>(a(r, j));
      if (!std::isfinite(w[j][r])) return false;
    }
    right[j][j] = 1;
  }
  if (!space.form(space.jacobi)) return false;
  space.sort(true, [](double length) { return length; });
  const double most = space.jacobi.squares[space.order[0]];
  const double least = space.jacobi.squares[space.order[w.count - 1]];
  if (!(least > most * 1e-13)) return false;
  for (int64_t c = 0; c < w.count; ++c) {
    const int64_t from = space.order[c];
    const double length = space.jacobi.squares[from];
    for (int64_t r = 0; r < w.rows; ++r) u(r, c) = static_cast<T>(w[from][r] / length);
    for (int64_t r = 0; r < right.rows; ++r) v(r, c) = static_cast<T>(right[from][r]);
    values[c * stride] = static_cast<T>(length);
  }
  return true;
}

template <typename T>
bool svd_all(Workspace& space, const Tensor& a, Tensor& u, Tensor& s, Tensor& vh) {
  const int64_t stride = s.strides()[static_cast<size_t>(s.dim()) - 1];
  for (int64_t batch = 0; batch < portable::batches(a, 2); ++batch) {
    Matrix<T> in = portable::matrix_of<T>(a, batch);
    Matrix<T> left = portable::matrix_of<T>(u, batch);
    Matrix<T> right = portable::matrix_of<T>(vh, batch).transposed();
    if (in.rows < in.columns) {
      in = in.transposed();
      std::swap(left, right);
    }
    T* values = static_cast<T*>(s.mutable_data()) + portable::batch_offset(s, 1, batch);
    if (!svd_of(space, in, left, right, values, stride)) return false;
  }
  return true;
}

bool fast_svd(KernelContext& context, const Tensor& a, bool full_matrices, bool compute_uv,
              std::optional<std::string_view>, Tensor& u, Tensor& s, Tensor& vh) {
  if (!portable::check_matrices(a).ok() || !compute_uv || a.numel() == 0) return false;
  const int64_t rows = a.size(a.dim() - 2), columns = a.size(a.dim() - 1);
  const int64_t inner = std::min(rows, columns), most = std::max(rows, columns);
  if (inner < kSmallest || (full_matrices && rows != columns) ||
      !portable::resize_matrices(u, a, rows, inner).ok() ||
      !portable::resize_matrices(vh, a, inner, columns).ok() ||
      !portable::resize_vectors(s, a, inner).ok()) {
    return false;
  }
  const bool single = a.scalar_type() == ScalarType::kFloat;
  Workspace space(context, most, inner, true, single);
  if (!space.ready) return false;
  return single ? svd_all<float>(space, a, u, s, vh) : svd_all<double>(space, a, u, s, vh);
}

}  // namespace

extern const Kernel kLinalgEighEigenvalues, kLinalgSvdU;
const Kernel kLinalgEighEigenvalues =
    overlay<fast_eigh, portable::kLinalgEighEigenvalues>("aten::_linalg_eigh.eigenvalues");
const Kernel kLinalgSvdU = overlay<fast_svd, portable::kLinalgSvdU>("aten::_linalg_svd.U");

}  // namespace taper::optimized
#endif  // HWY_ONCE
