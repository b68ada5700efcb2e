// Matrix products over views: uses the blocked product (gemm.h) or, if there are few rows and the
// right operand is stored transposed, dot products that read it once.

#include "kernels_portable/cores/matmul.h"

#include <algorithm>
#include <cstring>

#include "kernels_portable/cores/gemm.h"
#include "kernels_portable/engine/compute.h"
#include "kernels_portable/engine/lanes.h"

namespace taper::portable {
namespace {

template <typename T>
struct Scaling {
  T alpha;
  T beta;
  bool identity;  // There is nothing to scale and nothing to add.
};

template <typename T>
T scalar_as(Scalar value) {
  if constexpr (std::is_integral_v<T>) return value.to_int();
  return static_cast<T>(value.to_double());
}

template <typename T>
Scaling<T> scaling_of(const Matmul& problem) {
  const T alpha = scalar_as<T>(problem.alpha);
  const T beta = problem.added ? scalar_as<T>(problem.beta) : T{0};
  return {alpha, beta, alpha == T{1} && beta == T{0}};
}

// True if the view's elements are of type T, so that no conversion is needed.
template <typename T>
bool holds(const MatrixView& view) {
  return view.type == native_type<T>();
}

// The address of element (i, j) of a view.
void* address(const MatrixView& view, int64_t i, int64_t j) {
  return element(view.data, view.first + i * view.row_stride + j * view.column_stride, view.type);
}
template <typename T>
T* at(const MatrixView& view, int64_t i, int64_t j) {
  return static_cast<T*>(address(view, i, j));
}

template <typename T>
class MatrixProduct final : public Product<T> {
 public:
  explicit MatrixProduct(const Matmul& problem)
      : Product<T>(problem.rows, problem.columns, problem.depth),
        problem_(problem),
        scaling_(scaling_of<T>(problem)),
        load_(loader<T>(problem.left.type)),
        store_(storer<T>(problem.out.type)) {}

  Block<const T> left(int64_t m, int64_t rows, int64_t k, int64_t depth, T* buffer) override {
    const MatrixView& view = problem_.left;
    if (holds<T>(view) && view.column_stride == 1) {
      return {at<T>(view, m, k), view.row_stride};
    }
    for (int64_t i = 0; i < rows; ++i) {
      load_(address(view, m + i, k), view.column_stride, depth, buffer + i * depth);
    }
    return {buffer, depth};
  }

  Block<const T> right(int64_t k, int64_t depth, int64_t n, int64_t columns, T* buffer) override {
    const MatrixView& view = problem_.right;
    const bool in_place = holds<T>(view) && view.column_stride == 1 && this->rows() <= kStripRows &&
                          columns % kTileColumns == 0;
    if (in_place) return {at<T>(view, k, n), view.row_stride};
    if (holds<T>(view) && view.row_stride == 1) {
      load_transposed(at<T>(view, k, n), depth, columns, buffer);
    } else {
      for (int64_t i = 0; i < depth; ++i) {
        load_(address(view, k + i, n), view.column_stride, columns, buffer + i * kBlockColumns<T>);
      }
    }
    return {buffer, kBlockColumns<T>};
  }

  Block<T> target(int64_t m, int64_t n) override {
    const MatrixView& view = problem_.out;
    if (!holds<T>(view) || view.column_stride != 1) return {nullptr, 0};
    return {at<T>(view, m, n), view.row_stride};
  }

  void finish(int64_t m, int64_t n, int64_t columns, T* sums) override {
    if (!scaling_.identity) scale(m, n, columns, sums);
    const MatrixView& view = problem_.out;
    if (!holds<T>(view) || view.column_stride != 1) {
      store_(sums, columns, address(view, m, n), view.column_stride);
    }
  }

 private:
  // Reads an operand stored transposed, whose columns are contiguous, four columns at a time, to
  // make use of whole cache lines when writing.
  void load_transposed(const T* from, int64_t depth, int64_t columns, T* to) const {
    const int64_t stride = problem_.right.column_stride;
    int64_t j = 0;
    for (; j + 4 <= columns; j += 4) {
      const T* column = from + j * stride;
      for (int64_t i = 0; i < depth; ++i) {
        T* row = to + i * kBlockColumns<T> + j;
        for (int64_t c = 0; c < 4; ++c) row[c] = column[c * stride + i];
      }
    }
    for (; j < columns; ++j) {
      for (int64_t i = 0; i < depth; ++i) to[i * kBlockColumns<T> + j] = from[j * stride + i];
    }
  }

  void scale(int64_t m, int64_t n, int64_t columns, T* sums) const {
    T row[kBlockColumns<T>] = {};
    if (scaling_.beta != T{0}) {
      const MatrixView& view = *problem_.added;
      load_(address(view, m, n), view.column_stride, columns, row);
      for (int64_t j = 0; j < columns; ++j) row[j] = multiply_add(scaling_.beta, row[j], T{0});
    }
    for (int64_t j = 0; j < columns; ++j) sums[j] = multiply_add(scaling_.alpha, sums[j], row[j]);
  }

  const Matmul& problem_;
  const Scaling<T> scaling_;
  const LoadFunction<T> load_;
  const StoreFunction<T> store_;
};

constexpr int64_t kDotLength = 256;

// `count` contiguous elements: in place if they are of type T, otherwise converted into `buffer`.
template <typename T>
const T* run_of(const void* from, ScalarType type, int64_t count, T* buffer) {
  if (type == native_type<T>()) return static_cast<const T*>(from);
  loader<T>(type)(from, 1, count, buffer);
  return buffer;
}

template <typename T>
void multiply_by_dots(const Matmul& problem, MatrixProduct<T>& product) {
  T left_buffer[kDotLength];
  T right_buffer[kDotLength];
  for (int64_t n = 0; n < problem.columns; ++n) {
    T sums[kStripRows] = {};
    for (int64_t k = 0; k < problem.depth; k += kDotLength) {
      const int64_t count = std::min(kDotLength, problem.depth - k);
      const T* right =
          run_of(address(problem.right, k, n), problem.right.type, count, right_buffer);
      for (int64_t m = 0; m < problem.rows; ++m) {
        const T* left = run_of(address(problem.left, m, k), problem.left.type, count, left_buffer);
        sums[m] = wrap_add(dot(left, right, count), sums[m]);
      }
    }
    for (int64_t m = 0; m < problem.rows; ++m) {
      const Block<T> target = product.target(m, n);
      if (target.data != nullptr) *target.data = sums[m];
      product.finish(m, n, 1, target.data != nullptr ? target.data : &sums[m]);
    }
  }
}

}  // namespace

MatrixView matrix_of(const Tensor& tensor, int64_t batch) {
  const size_t rank = static_cast<size_t>(tensor.dim());
  const int64_t first = rank == 3 ? batch * tensor.strides()[0] : 0;
  return {tensor.mutable_data(), tensor.scalar_type(), first, tensor.strides()[rank - 2],
          tensor.strides()[rank - 1]};
}

MatrixView broadcast_matrix(const Tensor& tensor, int64_t batch) {
  const size_t rank = static_cast<size_t>(tensor.dim());
  int64_t strides[3] = {0, 0, 0};
  for (size_t d = 0; d < rank; ++d) {
    if (tensor.sizes()[d] != 1) strides[3 - rank + d] = tensor.strides()[d];
  }
  return {tensor.mutable_data(), tensor.scalar_type(), batch * strides[0], strides[1], strides[2]};
}

bool broadcasts_to(const Tensor& tensor, Span<const int64_t> sizes) {
  const size_t rank = static_cast<size_t>(tensor.dim());
  if (rank > sizes.size()) return false;
  for (size_t d = 0; d < rank; ++d) {
    const int64_t size = tensor.sizes()[d];
    if (size != 1 && size != sizes[sizes.size() - rank + d]) return false;
  }
  return true;
}

MatrixView transposed(MatrixView view) {
  std::swap(view.row_stride, view.column_stride);
  return view;
}

namespace {

template <typename T>
void matmul_as(const Matmul& problem, const Multipliers* by) {
  MatrixProduct<T> product(problem);
  const bool dots = problem.rows < kStripRows && problem.right.row_stride == 1 &&
                    problem.right.column_stride != 1 &&
                    (problem.left.column_stride == 1 || problem.depth == 1);
  if (dots) {
    multiply_by_dots(problem, product);
  } else {
    multiply(product, by);
  }
}

// Computes the transposed problem, out^T = right^T x left^T.
void matmul_transposed(const Matmul& problem, const Multipliers* by) {
  Matmul other = problem;
  MatrixView added = {};
  std::swap(other.rows, other.columns);
  other.left = transposed(problem.right);
  other.right = transposed(problem.left);
  other.out = transposed(problem.out);
  if (problem.added != nullptr) {
    added = transposed(*problem.added);
    other.added = &added;
  }
  matmul(other, by);
}

}  // namespace

void matmul(const Matmul& problem, const Multipliers* by) {
  if (problem.rows == 0 || problem.columns == 0) return;
  if (problem.columns == 1 && problem.rows > 1) return matmul_transposed(problem, by);
  const ScalarType type = problem.out.type;
  if (in_double(type)) return matmul_as<double>(problem, by);
  if (in_float(type)) return matmul_as<float>(problem, by);
  matmul_as<int64_t>(problem, by);
}

Status check_product_types(const Tensor& left, const Tensor& right, const Tensor& out) {
  TAPER_REQUIRE(is_computable(left.scalar_type()), Error::kInvalidType,
                "matrix product: this dtype is not supported");
  TAPER_REQUIRE(
      right.scalar_type() == left.scalar_type() && out.scalar_type() == left.scalar_type(),
      Error::kInvalidType, "matrix product: operands and output must share one dtype");
  return {};
}

Status check_product_scalars(ScalarType type, Scalar alpha, Scalar beta) {
  TAPER_REQUIRE(is_floating(type) || (!alpha.is_double() && !beta.is_double()),
                Error::kInvalidArgument, "matrix product: integers cannot be scaled by a fraction");
  return {};
}

}  // namespace taper::portable
