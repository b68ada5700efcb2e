// Attention in one pass over the keys: the softmax is kept as a running maximum and a running sum,
// and the weighted values are scaled down whenever the maximum grows. Nothing but one row is
// stored.

#include "kernels_portable/attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels_portable/compute.h"
#include "kernels_portable/lanes.h"

namespace taper::portable {
namespace {

constexpr int64_t kMaxElements = 512;  // Of one head; rows of that length lie on the stack.
constexpr int64_t kKeys = 32;          // Keys that are scored together.

int64_t row_offset(const Tensor& tensor, int64_t batch, int64_t position, int64_t head) {
  const int64_t row = (batch * tensor.size(1) + position) * tensor.size(2) + head;
  return row * tensor.size(3);
}

// A row in place, or widened into `buffer`.
template <typename T>
const T* row_of(const Tensor& tensor, int64_t batch, int64_t position, int64_t head, T* buffer) {
  const ScalarType type = tensor.scalar_type();
  const void* from = element(tensor.const_data(), row_offset(tensor, batch, position, head), type);
  if (type == native_type<T>()) return static_cast<const T*>(from);
  loader<T>(type)(from, 1, tensor.size(3), buffer);
  return buffer;
}

// The output of one query while its keys go by.
template <typename T>
struct Running {
  T maximum = -INFINITY;
  T total = T{0};
  T sums[kMaxElements] = {};

  // Takes in keys with these scores; values(i) is the row of value i.
  template <typename Values>
  void take(T* scores, int64_t count, int64_t length, Values values) {
    const T largest = std::max(maximum, *std::max_element(scores, scores + count));
    if (largest == -INFINITY) return;
    const T shrink = std::exp(maximum - largest);
    total *= shrink;
    for (int64_t d = 0; d < length; ++d) sums[d] *= shrink;
    maximum = largest;
    for (int64_t i = 0; i < count; ++i) {
      const T weight = std::exp(scores[i] - largest);
      const T* row = values(i);
      total += weight;
      for (int64_t d = 0; d < length; ++d) sums[d] += weight * row[d];
    }
  }
};

template <typename T>
void attend_query(const Attention& a, int64_t batch, int64_t position, int64_t head, T scale,
                  Tensor& out) {
  const ScalarType type = out.scalar_type();
  const int64_t length = a.query.size(3);
  const int64_t key_head = head / (a.query.size(2) / a.key.size(2));
  const int64_t keys = a.start + (a.causal ? position + 1 : a.query.size(1));
  T query_buffer[kMaxElements], buffer[kMaxElements], scores[kKeys], masks[kKeys];
  const T* query = row_of(a.query, batch, position, head, query_buffer);
  Running<T> running;
  for (int64_t first = 0; first < keys; first += kKeys) {
    const int64_t count = std::min(kKeys, keys - first);
    for (int64_t i = 0; i < count; ++i) {
      scores[i] = scale * dot(query, row_of(a.key, batch, first + i, key_head, buffer), length);
    }
    if (a.mask != nullptr) {
      const ScalarType mask_type = a.mask->scalar_type();
      const int64_t offset = position * a.mask->size(1) + first;
      loader<T>(mask_type)(element(a.mask->const_data(), offset, mask_type), 1, count, masks);
      for (int64_t i = 0; i < count; ++i) scores[i] += masks[i];
    }
    running.take(scores, count, length,
                 [&](int64_t i) { return row_of(a.value, batch, first + i, key_head, buffer); });
  }
  if (running.total > T{0}) {
    for (int64_t d = 0; d < length; ++d) running.sums[d] /= running.total;
  }
  storer<T>(type)(running.sums, length,
                  element(out.mutable_data(), row_offset(out, batch, position, head), type), 1);
}

Status check_attention(const Attention& a, const Tensor& out) {
  const ScalarType type = a.query.scalar_type();
  TAPER_REQUIRE(is_floating(type) && a.key.scalar_type() == type && a.value.scalar_type() == type &&
                    out.scalar_type() == type,
                Error::kInvalidType, "attention: tensors must share one floating dtype");
  TAPER_REQUIRE(a.query.dim() == 4 && a.key.dim() == 4 && a.value.dim() == 4,
                Error::kInvalidArgument, "attention: tensors must have four dimensions");
  TAPER_REQUIRE(a.query.is_contiguous() && a.key.is_contiguous() && a.value.is_contiguous() &&
                    out.is_contiguous() && (a.mask == nullptr || a.mask->is_contiguous()),
                Error::kNotSupported, "attention: tensors must be contiguous");
  for (int64_t d = 0; d < 4; ++d) {
    TAPER_REQUIRE(a.key.size(d) == a.value.size(d), Error::kInvalidArgument,
                  "attention: key and value differ in size");
  }
  TAPER_REQUIRE(a.key.size(0) == a.query.size(0) && a.key.size(3) == a.query.size(3) &&
                    a.key.size(2) > 0 && a.query.size(2) % a.key.size(2) == 0,
                Error::kInvalidArgument, "attention: query and key do not fit");
  TAPER_REQUIRE(a.query.size(3) > 0 && a.query.size(3) <= kMaxElements, Error::kNotSupported,
                "attention: heads may have up to 512 elements");
  TAPER_REQUIRE(a.start >= 0 && a.start <= a.key.size(1) - a.query.size(1), Error::kInvalidArgument,
                "attention: start_pos lies outside the cache");
  if (a.mask == nullptr) return {};
  TAPER_REQUIRE(!a.causal && is_floating(a.mask->scalar_type()) && a.mask->dim() == 2 &&
                    a.mask->size(0) == a.query.size(1) &&
                    a.mask->size(1) >= a.start + a.query.size(1),
                Error::kInvalidArgument,
                "attention: the mask must be floating point, [queries, keys], and not causal too");
  return {};
}

}  // namespace

Status attend(const Attention& a, Tensor& out) {
  TAPER_TRY(check_attention(a, out));
  TAPER_TRY(out.resize(a.query.sizes()));
  return with_float_type(out.scalar_type(), [&](auto zero) -> Status {
    using T = decltype(zero);
    const double scale = a.scale.value_or(1.0 / std::sqrt(static_cast<double>(a.query.size(3))));
    for (int64_t batch = 0; batch < a.query.size(0); ++batch) {
      for (int64_t head = 0; head < a.query.size(2); ++head) {
        for (int64_t position = 0; position < a.query.size(1); ++position) {
          attend_query(a, batch, position, head, static_cast<T>(scale), out);
        }
      }
    }
    return {};
  });
}

Status update_cache(const Tensor& value, int64_t start, Tensor& cache) {
  TAPER_REQUIRE(value.dim() == 4 && cache.dim() == 4 && value.size(0) == cache.size(0) &&
                    value.size(2) == cache.size(2) && value.size(3) == cache.size(3),
                Error::kInvalidArgument, "update_cache: value and cache do not fit");
  TAPER_REQUIRE(value.scalar_type() == cache.scalar_type(), Error::kInvalidType,
                "update_cache: value and cache must share one dtype");
  TAPER_REQUIRE(value.is_contiguous() && cache.is_contiguous(), Error::kNotSupported,
                "update_cache: tensors must be contiguous");
  TAPER_REQUIRE(start >= 0 && start <= cache.size(1) - value.size(1), Error::kInvalidArgument,
                "update_cache: start_pos lies outside the cache");
  if (value.numel() == 0) return {};
  const ScalarType type = cache.scalar_type();
  const size_t bytes = value.nbytes() / static_cast<size_t>(value.size(0));
  for (int64_t batch = 0; batch < value.size(0); ++batch) {
    std::memmove(element(cache.mutable_data(), row_offset(cache, batch, start, 0), type),
                 element(value.const_data(), row_offset(value, batch, 0, 0), type), bytes);
  }
  return {};
}

}  // namespace taper::portable
