// Rotary embeddings on the processor.

#include <algorithm>

#include "backends/vulkan/runtime/cpu_kernels.h"

namespace taper::vulkan {
namespace {

#define TAPER_FITS(condition, text) TAPER_REQUIRE(condition, Error::kInvalidArgument, text)

// The numbers of a pair in a row of a table, or of each of its elements where pairs are of halves.
struct Row {
  const float *cos = nullptr, *sin = nullptr;
  int64_t cos_step = 1, sin_step = 1;
};

void rotate_row(const float* x, int64_t width, const Row& row, bool neighbours, float* out) {
  const int64_t half = width / 2;
  for (int64_t d = 0; d < width; ++d) {
    const bool is_first = neighbours ? d % 2 == 0 : d < half;
    const int64_t other = neighbours ? d ^ 1 : is_first ? d + half : d - half;
    const int64_t at = neighbours ? d / 2 : d;
    const float turned = is_first ? -x[other] : x[other];
    out[d] = x[d] * row.cos[at * row.cos_step] + turned * row.sin[at * row.sin_step];
  }
}

Status check(const Tensor& x, const Tensor& cos, const Tensor& sin, Tensor& out) {
  for (const Tensor* tensor : {&x, &cos, &sin, static_cast<const Tensor*>(&out)}) {
    TAPER_REQUIRE(tensor->scalar_type() == ScalarType::kFloat, Error::kInvalidType,
                  "its tensors are not float32");
  }
  TAPER_FITS(x.dim() >= 2 && x.size(x.dim() - 1) % 2 == 0, "its input has no pairs");
  return out.resize(x.sizes());
}

// x is [batch, length, heads, width], the tables are [longest, columns].
Status rotate_heads(const Tensor& x, const Tensor& cos, const Tensor& sin, int64_t start,
                    bool neighbours, Tensor& out) {
  TAPER_TRY(check(x, cos, sin, out));
  TAPER_FITS(x.dim() == 4, "its input has another rank");
  const int64_t length = x.size(1), heads = x.size(2), width = x.size(3);
  const int64_t columns = neighbours ? width / 2 : width;
  for (const Tensor* table : {&cos, &sin}) {
    TAPER_FITS(table->dim() == 2 && table->size(1) == columns && start >= 0 &&
                   start <= table->size(0) && length <= table->size(0) - start,
               "its tables do not fit its input");
  }
  for (int64_t i = 0; i * width < x.numel(); ++i) {
    const int64_t at = (start + i / heads % length) * columns;
    rotate_row(x.const_data_ptr<float>() + i * width, width,
               {cos.const_data_ptr<float>() + at, sin.const_data_ptr<float>() + at, 1, 1},
               neighbours, out.mutable_data_ptr<float>() + i * width);
  }
  return {};
}

Status apply_rotary_emb(KernelContext&, const Tensor& q, const Tensor& k, const Tensor& cos,
                        const Tensor& sin, Tensor& out_q, Tensor& out_k) {
  TAPER_TRY(rotate_heads(q, cos, sin, 0, true, out_q));
  return rotate_heads(k, cos, sin, 0, true, out_k);
}

Status apply_rotary_emb_hf(KernelContext&, const Tensor& q, const Tensor& k, const Tensor& cos,
                           const Tensor& sin, int64_t start, Tensor& out_q, Tensor& out_k) {
  TAPER_TRY(rotate_heads(q, cos, sin, start, false, out_q));
  return rotate_heads(k, cos, sin, start, false, out_k);
}

// x is [batch, length, width]; the table has a cosine and a sine for each pair.
Status apply_rotary_emb_interleaved(KernelContext&, const Tensor& x, const Tensor& table,
                                    Tensor& out) {
  TAPER_TRY(check(x, table, table, out));
  TAPER_FITS(x.dim() == 3 && table.numel() == x.size(1) * x.size(2),
             "its table does not fit its input");
  const int64_t length = x.size(1), width = x.size(2);
  for (int64_t i = 0; i * width < x.numel(); ++i) {
    const float* from = table.const_data_ptr<float>() + i % length * width;
    rotate_row(x.const_data_ptr<float>() + i * width, width, {from, from + 1, 2, 2}, true,
               out.mutable_data_ptr<float>() + i * width);
  }
  return {};
}

// Where a row of x finds its own in a table that broadcasts to x; -1 if it does not.
int64_t row_of(const Tensor& x, const Tensor& table, int64_t i) {
  const int64_t skipped = x.dim() - table.dim();
  int64_t at = 0, stride = table.dim() == 0 ? 1 : table.size(table.dim() - 1);
  for (int64_t d = x.dim() - 2; d >= std::max<int64_t>(skipped, 0); --d) {
    const int64_t size = table.size(d - skipped);
    if (size != 1 && size != x.size(d)) return -1;
    if (size != 1) at += i % x.size(d) * stride;
    i /= x.size(d);
    stride *= size;
  }
  return at;
}

Status rotate(KernelContext&, const Tensor& x, const Tensor& cos, const Tensor& sin, Tensor& out) {
  TAPER_TRY(check(x, cos, sin, out));
  const int64_t width = x.size(x.dim() - 1);
  int64_t steps[2];
  for (const bool is_sin : {false, true}) {
    const Tensor& table = is_sin ? sin : cos;
    const int64_t columns = table.dim() == 0 ? 1 : table.size(table.dim() - 1);
    TAPER_FITS(table.dim() <= x.dim() && (columns == 1 || columns == width),
               "its tables do not broadcast");
    steps[is_sin] = columns == 1 ? 0 : 1;
  }
  for (int64_t i = 0; i * width < x.numel(); ++i) {
    const int64_t c = row_of(x, cos, i), s = row_of(x, sin, i);
    TAPER_FITS(c >= 0 && s >= 0, "its tables do not broadcast");
    rotate_row(
        x.const_data_ptr<float>() + i * width, width,
        {cos.const_data_ptr<float>() + c, sin.const_data_ptr<float>() + s, steps[0], steps[1]},
        false, out.mutable_data_ptr<float>() + i * width);
  }
  return {};
}

constexpr Kernel kRotate = make_kernel<rotate>("vulkan::rotate");
constexpr Kernel kTwo = make_kernel<apply_rotary_emb>("vulkan::apply_rotary_emb");
constexpr Kernel kTwoOfHalves = make_kernel<apply_rotary_emb_hf>("vulkan::apply_rotary_emb_hf");
constexpr Kernel kInterleaved =
    make_kernel<apply_rotary_emb_interleaved>("vulkan::apply_rotary_emb_interleaved");

constexpr const Kernel* kTable[] = {&kTwo, &kTwoOfHalves, &kInterleaved, &kRotate};

}  // namespace

KernelTable cpu_rotary_kernels() { return kTable; }

}  // namespace taper::vulkan
