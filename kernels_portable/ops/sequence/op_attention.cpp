// taper::attention.out; attention_heads.h says what it computes.
//
//   Memory    needs no temp memory.

#include "kernels_portable/cores/attention_heads.h"

#include <algorithm>
#include <cmath>

#include "kernels_portable/cores/running_attention.h"
#include "kernels_portable/engine/dims.h"
#include "kernels_portable/engine/lanes.h"

namespace taper::portable {
namespace {

// The size of a dimension counted from the last; 1 if there are fewer.
int64_t size_from_last(const Tensor& tensor, int64_t d) {
  return d < tensor.dim() ? tensor.size(tensor.dim() - 1 - d) : 1;
}

Status check_mask(const Tensor& mask, const Tensor& query, const AttentionHeads& heads) {
  TAPER_REQUIRE(
      mask.scalar_type() == ScalarType::kFloat && mask.is_contiguous() && mask.dim() <= query.dim(),
      Error::kInvalidArgument, "attention: the mask must be float32 and contiguous");
  bool fits = true;
  for (int64_t d = 0; d < mask.dim(); ++d) {
    const int64_t size = size_from_last(mask, d);
    fits = fits && (size == 1 || size == (d == 0 ? heads.keys : size_from_last(query, d)));
  }
  TAPER_REQUIRE(fits, Error::kInvalidArgument,
                "attention: the mask does not broadcast to the scores");
  return {};
}

// The operands of one head.
struct Head {
  const float *query, *key, *value, *mask;
  float* out;
};

void attend_query(const AttentionHeads& h, const Head& head, float scale, int64_t position,
                  bool causal) {
  constexpr int64_t kKeys = RunningAttention<float>::kKeys;
  const float* query = head.query + position * h.elements;
  float* out = head.out + position * h.width;
  std::fill_n(out, h.width, 0.0f);
  RunningAttention<float> running(out, h.width);
  const int64_t seen = causal ? std::min(h.keys, position + 1) : h.keys;
  float scores[kKeys];
  for (int64_t first = 0; first < seen; first += kKeys) {
    const int64_t count = std::min(kKeys, seen - first);
    for (int64_t i = 0; i < count; ++i) {
      scores[i] = scale * dot(query, head.key + (first + i) * h.elements, h.elements);
      if (head.mask != nullptr) {
        scores[i] += head.mask[position * h.mask_row + (first + i) * h.mask_column];
      }
    }
    if (!running.begin(scores, count)) continue;
    for (int64_t i = 0; i < count; ++i) running.add(scores[i], head.value + (first + i) * h.width);
  }
  if (running.finish() || head.mask != nullptr) return;
  if (seen > 0) std::fill_n(out, h.width, NAN);
}

Status attention_out(KernelContext&, const Tensor& query, const Tensor& key, const Tensor& value,
                     const Tensor* mask, double scale, bool causal, Tensor& out) {
  AttentionHeads h;
  TAPER_TRY(check_heads(query, key, value, mask, causal, out, &h));
  for (int64_t m = 0; m < h.matrices; ++m) {
    Head head = {};
    head.query = query.const_data_ptr<float>() + m * h.queries * h.elements;
    head.key = key.const_data_ptr<float>() + m / h.sharing * h.keys * h.elements;
    head.value = value.const_data_ptr<float>() + m / h.sharing * h.keys * h.width;
    if (mask != nullptr) head.mask = mask->const_data_ptr<float>() + mask_offset(*mask, query, m);
    head.out = out.mutable_data_ptr<float>() + m * h.queries * h.width;
    for (int64_t i = 0; i < h.queries; ++i) {
      attend_query(h, head, static_cast<float>(scale), i, causal);
    }
  }
  return {};
}

}  // namespace

Status check_heads(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor* mask,
                   bool causal, Tensor& out, AttentionHeads* heads) {
  const int64_t rank = query.dim();
  TAPER_REQUIRE(rank >= 2, Error::kInvalidArgument, "attention: the query is no matrix");
  bool fits = true;
  for (const Tensor* each : {&query, &key, &value, static_cast<const Tensor*>(&out)}) {
    fits = fits && each->scalar_type() == ScalarType::kFloat && each->dim() == rank &&
           each->is_contiguous();
  }
  TAPER_REQUIRE(fits, Error::kInvalidArgument,
                "attention: tensors must be float32, of the query's rank, and contiguous");
  for (int64_t d = 0; d + 1 < rank; ++d) {
    fits = fits && key.size(d) == value.size(d) && (d + 3 >= rank || key.size(d) == query.size(d));
  }
  TAPER_REQUIRE(fits && key.size(rank - 1) == query.size(rank - 1), Error::kInvalidArgument,
                "attention: query, key and value differ in their dimensions");
  const int64_t all = size_from_last(query, 2), shared = size_from_last(key, 2);
  TAPER_REQUIRE(shared > 0 && all % shared == 0, Error::kInvalidArgument,
                "attention: heads of query must be a multiple of heads of key");
  AttentionHeads& h = *heads;
  h.matrices = product(query.sizes(), 0, rank - 2);
  h.sharing = all / shared;
  h.queries = query.size(rank - 2);
  h.elements = query.size(rank - 1);
  h.keys = key.size(rank - 2);
  h.width = value.size(rank - 1);
  TAPER_REQUIRE(mask == nullptr || !causal, Error::kInvalidArgument,
                "attention: causal and a mask exclude each other");
  if (mask != nullptr) {
    TAPER_TRY(check_mask(*mask, query, h));
    h.mask_column = size_from_last(*mask, 0) == 1 ? 0 : 1;
    h.mask_row = size_from_last(*mask, 1) == 1 ? 0 : size_from_last(*mask, 0);
  }
  Sizes sizes;
  for (int64_t d = 0; d + 1 < rank; ++d) sizes.push(query.size(d));
  sizes.push(h.width);
  return out.resize(sizes);
}

int64_t mask_offset(const Tensor& mask, const Tensor& query, int64_t matrix) {
  int64_t offset = 0, step = size_from_last(mask, 0) * size_from_last(mask, 1);
  for (int64_t d = 2; d < query.dim(); ++d) {
    const int64_t size = size_from_last(mask, d), index = matrix % size_from_last(query, d);
    if (size != 1) offset += index * step;
    step *= size;
    matrix /= size_from_last(query, d);
  }
  return offset;
}

extern const Kernel kAttentionOut;
const Kernel kAttentionOut = make_kernel<attention_out>("taper::attention.out");

}  // namespace taper::portable
