// taper::attention.out; attention_heads.h says what it computes.
//
//   Memory    needs no temp memory.

#include "kernels_portable/cores/attention_heads.h"

#include <algorithm>
#include <cmath>

#include "kernels_portable/cores/matmul.h"
#include "kernels_portable/cores/running_attention.h"
#include "kernels_portable/engine/dims.h"

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

// Rows of floats in memory, `stride` apart.
MatrixView rows_of(const Tensor& tensor, int64_t first, int64_t stride) {
  return {tensor.mutable_data(), ScalarType::kFloat, first, stride, 1};
}

// Computes at most kQueries queries of head `matrix`, from `first` on.
struct QueryBlock {
  static constexpr int64_t kQueries = 16, kKeys = RunningAttention<float>::kKeys;

  const AttentionHeads& h;
  const Tensor& query;
  const Tensor& key;
  const Tensor* mask;
  Scalar scale;
  int64_t matrix, first, count;
  float scores[kQueries * kKeys] = {};

  // Computes the scores of `keys` keys from `from` on.
  void score(int64_t from, int64_t keys) {
    Matmul product;
    product.rows = count;
    product.columns = keys;
    product.depth = h.elements;
    product.left = rows_of(query, (matrix * h.queries + first) * h.elements, h.elements);
    product.right =
        transposed(rows_of(key, (matrix / h.sharing * h.keys + from) * h.elements, h.elements));
    product.out = {scores, ScalarType::kFloat, 0, kKeys, 1};
    product.alpha = scale;
    MatrixView added = {};
    if (mask != nullptr) {
      const int64_t at = mask_offset(*mask, query, matrix);
      added = rows_of(*mask, at + first * h.mask_row + from * h.mask_column, h.mask_row);
      added.column_stride = h.mask_column;
      product.added = &added;
    }
    matmul(product);
  }
};

void attend(QueryBlock& block, const float* values, bool causal, float* out) {
  const AttentionHeads& h = block.h;
  RunningAttention<float> running[QueryBlock::kQueries];
  std::fill_n(out, block.count * h.width, 0.0f);
  for (int64_t i = 0; i < block.count; ++i) running[i] = {out + i * h.width, h.width};
  const auto seen = [&](int64_t i) {
    return causal ? std::min(h.keys, block.first + i + 1) : h.keys;
  };
  const int64_t keys = seen(block.count - 1);
  for (int64_t from = 0; from < keys; from += QueryBlock::kKeys) {
    block.score(from, std::min(QueryBlock::kKeys, keys - from));
    for (int64_t i = 0; i < block.count; ++i) {
      float* scores = block.scores + i * QueryBlock::kKeys;
      const int64_t count = std::min(QueryBlock::kKeys, seen(i) - from);
      if (count <= 0 || !running[i].weigh(scores, count)) continue;
      running[i].add(scores, count, values + from * h.width, h.width);
    }
  }
  for (int64_t i = 0; i < block.count; ++i) {
    const bool is_blind = !running[i].finish() && block.mask == nullptr && keys > 0;
    if (is_blind) std::fill_n(out + i * h.width, h.width, NAN);
  }
}

Status attention_out(KernelContext&, const Tensor& query, const Tensor& key, const Tensor& value,
                     const Tensor* mask, double scale, bool causal, Tensor& out) {
  AttentionHeads h;
  TAPER_TRY(check_heads(query, key, value, mask, causal, out, &h));
  for (int64_t m = 0; m < h.matrices; ++m) {
    const float* values = value.const_data_ptr<float>() + m / h.sharing * h.keys * h.width;
    for (int64_t first = 0; first < h.queries; first += QueryBlock::kQueries) {
      const int64_t count = std::min(QueryBlock::kQueries, h.queries - first);
      QueryBlock block = {h, query, key, mask, Scalar(scale), m, first, count};
      attend(block, values, causal,
             out.mutable_data_ptr<float>() + (m * h.queries + first) * h.width);
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
