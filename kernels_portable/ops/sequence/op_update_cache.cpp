// llama::update_cache.out and update_cache_with_indices.out: new positions written into a cache.
//
// value [batch, positions, heads, elements] and cache [batch, all positions, heads, elements] share
// any dtype. The positions are written from start_pos on, or each to the position that `indices`
// ([batch, positions], int64) names. out represents the cache in the graph and is not written.

#include <cstring>

#include "kernels_portable/cores/attention.h"
#include "kernels_portable/engine/convert.h"

namespace taper::portable {
namespace {

Status check_fit(const Tensor& value, const Tensor& cache) {
  TAPER_REQUIRE(value.dim() == 4 && cache.dim() == 4 && value.size(0) == cache.size(0) &&
                    value.size(2) == cache.size(2) && value.size(3) == cache.size(3),
                Error::kInvalidArgument,
                "update_cache: value and cache must have four dimensions and the same sizes except "
                "the second");
  TAPER_REQUIRE(value.scalar_type() == cache.scalar_type(), Error::kInvalidType,
                "update_cache: value and cache must share one dtype");
  TAPER_REQUIRE(value.is_contiguous() && cache.is_contiguous(), Error::kNotSupported,
                "update_cache: tensors must be contiguous");
  return {};
}

// Copies `count` positions of one item of the batch.
void copy_positions(const Tensor& value, int64_t batch, int64_t from, int64_t count, Tensor& cache,
                    int64_t to) {
  const ScalarType type = cache.scalar_type();
  const int64_t elements = cache.size(2) * cache.size(3);
  const size_t bytes = static_cast<size_t>(count * elements) * element_size(type);
  if (bytes == 0) return;
  const int64_t source = (batch * value.size(1) + from) * elements;
  const int64_t target = (batch * cache.size(1) + to) * elements;
  std::memmove(element(cache.mutable_data(), target, type),
               element(value.const_data(), source, type), bytes);
}

Status update_cache_out(KernelContext&, const Tensor& value, Tensor& cache, int64_t start_pos,
                        Tensor&) {
  return update_cache(value, start_pos, cache);
}

Status update_cache_with_indices_out(KernelContext&, const Tensor& value, Tensor& cache, int64_t,
                                     const Tensor& indices, Tensor&) {
  return update_cache_at(value, indices, cache);
}

}  // namespace

Status update_cache(const Tensor& value, int64_t start, Tensor& cache) {
  TAPER_TRY(check_fit(value, cache));
  TAPER_REQUIRE(start >= 0 && start <= cache.size(1) - value.size(1), Error::kInvalidArgument,
                "update_cache: start_pos + positions of value exceeds the cache");
  for (int64_t batch = 0; batch < value.size(0); ++batch) {
    copy_positions(value, batch, 0, value.size(1), cache, start);
  }
  return {};
}

Status update_cache_at(const Tensor& value, const Tensor& indices, Tensor& cache) {
  TAPER_TRY(check_fit(value, cache));
  TAPER_REQUIRE(indices.scalar_type() == ScalarType::kLong && indices.is_contiguous() &&
                    indices.dim() == 2 && indices.size(0) == value.size(0) &&
                    indices.size(1) == value.size(1),
                Error::kInvalidArgument,
                "update_cache_with_indices: indices must be int64, [batch, positions of value]");
  const int64_t* index = indices.const_data_ptr<int64_t>();
  for (int64_t batch = 0; batch < value.size(0); ++batch) {
    for (int64_t i = 0; i < value.size(1); ++i, ++index) {
      TAPER_REQUIRE(*index >= 0 && *index < cache.size(1), Error::kInvalidArgument,
                    "update_cache_with_indices: an index lies outside of the cache");
      copy_positions(value, batch, i, 1, cache, *index);
    }
  }
  return {};
}

extern const Kernel kUpdateCacheOut;
const Kernel kUpdateCacheOut = make_kernel<update_cache_out>("llama::update_cache.out");
extern const Kernel kUpdateCacheWithIndicesOut;
const Kernel kUpdateCacheWithIndicesOut =
    make_kernel<update_cache_with_indices_out>("llama::update_cache_with_indices.out");

}  // namespace taper::portable
