// taper::attention.out; attention_heads.h says what it computes.
//
//   Memory    needs no temp memory.

#include "kernels_portable/cores/attention_heads.h"
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
  TAPER_REQUIRE(mask.scalar_type() == query.scalar_type() && mask.is_contiguous() &&
                    mask.dim() <= query.dim(),
                Error::kInvalidArgument,
                "attention: the mask must have the query's dtype and be contiguous");
  for (int64_t d = 0; d < mask.dim(); ++d) {
    const int64_t size = size_from_last(mask, d);
    const int64_t whole = d == 0 ? heads.keys : size_from_last(query, d);
    TAPER_REQUIRE(size == 1 || size == whole, Error::kInvalidArgument,
                  "attention: the mask does not broadcast to the scores");
  }
  return {};
}

// The operands of one head.
template <typename T>
struct Head {
  const T *query, *key, *value, *mask;
  T* out;
};

template <typename T>
void attend_query(const AttentionHeads& h, const Head<T>& head, T scale, int64_t position,
                  bool causal) {
  constexpr int64_t kKeys = RunningAttention<T>::kKeys;
  const T* query = head.query + position * h.elements;
  T* out = head.out + position * h.width;
  for (int64_t d = 0; d < h.width; ++d) out[d] = T{0};
  RunningAttention<T> running{out, h.width};
  const int64_t seen = causal ? std::min(h.keys, position + 1) : h.keys;
  T scores[kKeys];
  for (int64_t first = 0; first < seen; first += kKeys) {
    const int64_t count = std::min(kKeys, seen - first);
    for (int64_t i = 0; i < count; ++i) {
      scores[i] = scale * dot(query, head.key + (first + i) * h.elements, h.elements);
      if (head.mask != nullptr) {
        scores[i] += head.mask[position * h.mask_row + (first + i) * h.mask_column];
      }
    }
    running.take(scores, count, [&](int64_t i) { return head.value + (first + i) * h.width; });
  }
  const bool is_blind = running.total == T{0} && seen > 0 && head.mask == nullptr;
  if (is_blind) running.total = NAN;
  running.finish();
}

Status attention_out(KernelContext&, const Tensor& query, const Tensor& key, const Tensor& value,
                     const Tensor* mask, double scale, bool causal, Tensor& out) {
  AttentionHeads h;
  TAPER_TRY(check_heads(query, key, value, mask, causal, out, &h));
  const auto run = [&](auto zero) {
    using T = decltype(zero);
    for (int64_t m = 0; m < h.matrices; ++m) {
      Head<T> head = {};
      head.query = query.const_data_ptr<T>() + m * h.queries * h.elements;
      head.key = key.const_data_ptr<T>() + m / h.sharing * h.keys * h.elements;
      head.value = value.const_data_ptr<T>() + m / h.sharing * h.keys * h.width;
      if (mask != nullptr) head.mask = mask->const_data_ptr<T>() + mask_offset(*mask, query, m);
      head.out = out.mutable_data_ptr<T>() + m * h.queries * h.width;
      for (int64_t i = 0; i < h.queries; ++i) {
        attend_query(h, head, static_cast<T>(scale), i, causal);
      }
    }
  };
  out.scalar_type() == ScalarType::kDouble ? run(0.0) : run(0.0f);
  return {};
}

}  // namespace

Status check_heads(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor* mask,
                   bool causal, Tensor& out, AttentionHeads* heads) {
  const ScalarType type = query.scalar_type();
  TAPER_REQUIRE(type == ScalarType::kFloat || type == ScalarType::kDouble, Error::kInvalidType,
                "attention: the query must be float32 or float64");
  const int64_t rank = query.dim();
  TAPER_REQUIRE(rank >= 2, Error::kInvalidArgument, "attention: the query is no matrix");
  for (const Tensor* each : {&query, &key, &value, static_cast<const Tensor*>(&out)}) {
    TAPER_REQUIRE(each->scalar_type() == type && each->dim() == rank && each->is_contiguous(),
                  Error::kInvalidArgument,
                  "attention: tensors must have the query's dtype and rank and be contiguous");
  }
  for (int64_t d = 0; d + 1 < rank; ++d) {
    const bool fits =
        key.size(d) == value.size(d) && (d + 3 >= rank || key.size(d) == query.size(d));
    TAPER_REQUIRE(fits, Error::kInvalidArgument,
                  "attention: query, key and value differ in their leading dimensions");
  }
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
  TAPER_REQUIRE(key.size(rank - 1) == h.elements, Error::kInvalidArgument,
                "attention: query and key differ in their elements");
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
