// Arithmetic on complex tensors, in double, a block of elements at a time.

#include "kernels_portable/engine/complex.h"

#include <algorithm>
#include <cmath>

#include "kernels_portable/engine/convert.h"
#include "kernels_portable/engine/dims.h"
#include "kernels_portable/engine/strided.h"

namespace taper::portable {
namespace {

constexpr int64_t kBlock = 64;

struct Pairs {
  double re[kBlock];
  double im[kBlock];
};

// One operand, from which read() takes a block of elements at a time.
struct Source {
  const Operand& operand;
  const char* data;
  int64_t stride;

  void read(int64_t offset, int64_t count, Pairs* to) const {
    if (operand.tensor == nullptr) {
      std::fill_n(to->re, count, operand.scalar.to_double());
      std::fill_n(to->im, count, 0.0);
      return;
    }
    const ScalarType type = operand.tensor->scalar_type();
    const void* from = element(data, offset, type);
    load_part(from, type, stride, count, false, to->re);
    load_part(from, type, stride, count, true, to->im);
  }
};

// (re + i im) /= (c + i d). Both parts of the divisor are first divided by the larger of them, so
// that their squares do not overflow.
void divide(double* re, double* im, double c, double d) {
  const double largest = std::max(std::fabs(c), std::fabs(d));
  const double x = largest == 0 || std::isinf(largest) ? c : c / largest;
  const double y = largest == 0 || std::isinf(largest) ? d : d / largest;
  const double scale = largest == 0 || std::isinf(largest) ? 1 : largest;
  const double norm = x * x + y * y;
  const double real = (*re * x + *im * y) / norm / scale;
  *im = (*im * x - *re * y) / norm / scale;
  *re = real;
}

void compute(ComplexOp op, int64_t count, double alpha, const Pairs& b, Pairs* a) {
  for (int64_t i = 0; i < count; ++i) {
    double& re = a->re[i];
    double& im = a->im[i];
    const double c = b.re[i], d = b.im[i];
    if (op == ComplexOp::kAdd || op == ComplexOp::kSubtract) {
      const double factor = op == ComplexOp::kAdd ? alpha : -alpha;
      re += factor * c;
      im += factor * d;
    } else if (op == ComplexOp::kMultiply) {
      const double real = re * c - im * d;
      im = re * d + im * c;
      re = real;
    } else {
      divide(&re, &im, c, d);
    }
  }
}

Status resize_to(const Operand& a, const Operand& b, Tensor& out) {
  Sizes sizes;
  for (const Operand* each : {&a, &b}) {
    if (each->tensor == nullptr) continue;
    const Sizes before = sizes;
    TAPER_TRY(broadcast_sizes(before, each->tensor->sizes(), &sizes));
  }
  return out.resize(sizes);
}

}  // namespace

Parts::Parts(const Tensor& tensor) {
  const size_t rank = static_cast<size_t>(tensor.dim());
  for (size_t d = 0; d < rank; ++d) {
    sizes_[d] = tensor.sizes()[d];
    order_[d] = tensor.dim_order()[d];
  }
  sizes_[rank] = 2;
  order_[rank] = static_cast<uint8_t>(rank);
  tensor_ = Tensor(part_type(tensor.scalar_type()), rank + 1, sizes_, order_, strides_,
                   tensor.mutable_data());
}

Status check_parts(const Tensor& tensor) {
  TAPER_REQUIRE(is_complex(tensor.scalar_type()), Error::kInvalidType, "a tensor must be complex");
  TAPER_REQUIRE(tensor.dim() < static_cast<int64_t>(kMaxRank) && tensor.numel() <= INT32_MAX / 2,
                Error::kNotSupported, "a complex tensor has too many dimensions or elements");
  return {};
}

bool any_complex(const Operand& a, const Operand& b) {
  return (a.tensor != nullptr && is_complex(a.tensor->scalar_type())) ||
         (b.tensor != nullptr && is_complex(b.tensor->scalar_type()));
}

void load_part(const void* from, ScalarType type, int64_t stride, int64_t count, bool imaginary,
               double* to) {
  if (is_complex(type)) {
    const ScalarType part = part_type(type);
    loader<double>(part)(element(from, imaginary, part), 2 * stride, count, to);
  } else if (imaginary) {
    std::fill_n(to, count, 0.0);
  } else {
    loader<double>(type)(from, stride, count, to);
  }
}

void store_part(const double* from, int64_t count, void* to, ScalarType type, int64_t stride,
                bool imaginary) {
  const ScalarType part = part_type(type);
  storer<double>(part)(from, count, element(to, imaginary, part), 2 * stride);
}

Status complex_binary(ComplexOp op, const Operand& a, const Operand& b, double alpha, Tensor& out) {
  const ScalarType type = out.scalar_type();
  TAPER_REQUIRE(is_complex(type), Error::kInvalidType,
                "the result of complex operands must be complex");
  TAPER_TRY(resize_to(a, b, out));
  LoopNest nest = LoopNest::over(out);
  Source sources[] = {{a, nullptr, 0}, {b, nullptr, 0}};
  int numbers[] = {-1, -1};
  for (int k = 0; k < 2; ++k) {
    const Tensor* tensor = sources[k].operand.tensor;
    if (tensor == nullptr) continue;
    sources[k].data = static_cast<const char*>(tensor->const_data());
    numbers[k] = nest.operands;
    nest.add_operand(out, *tensor);
  }
  nest.simplify();
  for (int k = 0; k < 2; ++k) {
    if (numbers[k] >= 0) sources[k].stride = nest.inner_stride(numbers[k]);
  }
  const int64_t stride = nest.inner_stride(0);
  nest.for_each_run([&](const int64_t* offsets, int64_t n) {
    for (int64_t first = 0; first < n; first += kBlock) {
      const int64_t count = std::min(kBlock, n - first);
      Pairs pairs[2];
      for (int k = 0; k < 2; ++k) {
        const int64_t at = numbers[k] < 0 ? 0 : offsets[numbers[k]] + first * sources[k].stride;
        sources[k].read(at, count, &pairs[k]);
      }
      compute(op, count, alpha, pairs[1], &pairs[0]);
      void* to = element(out.mutable_data(), offsets[0] + first * stride, type);
      store_part(pairs[0].re, count, to, type, stride, false);
      store_part(pairs[0].im, count, to, type, stride, true);
    }
  });
  return {};
}

}  // namespace taper::portable
