// A stage: a part of a graph that runs as a unit. The stages of a graph run one after another; they
// are given the addresses of arguments and of values that several stages use.

#pragma once

#include <cstdint>
#include <memory>
#include <new>

#include "backends/xnnpack/runtime/graph/subgraph.h"
#include "backends/xnnpack/runtime/stages/node_times.h"
#include "backends/xnnpack/runtime/stages/work_memory.h"

#include <xnnpack.h>

namespace taper::xnnpack {

// The resources of the backend that a delegate uses.
struct Shared {
  pthreadpool_t pool = nullptr;  // Null: the delegate runs on one thread.
  WorkMemory* memory = nullptr;  // Null: the delegate has its own memory.
  // Provides packed weights, and memory for those that are not packed yet.
  xnn_weights_cache_t weights = nullptr;
  Profiler* profiler = nullptr;  // Null: nobody asks how long stages take.
  double wake_seconds = 0;       // XnnpackOptions::wake_seconds.
  bool in_half = false;          // XNNPACK computes in float16 what it can (half_parts.h).
  bool in_bfloat = false;        // Products have factors of bfloat16 (bfloat_stage.h).

  // What packed weights depend on besides their graph.
  uint64_t packing() const { return (in_half ? 1 : 0) + (in_bfloat ? 2 : 0); }
};

class Stage {
 public:
  Stage() = default;
  virtual ~Stage() = default;
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  // Prepares the stage for the current shapes of the values.
  virtual Status reshape(Span<const XnnValue> values) = 0;
  // The bytes that it needs while it runs; valid after reshape().
  virtual uint64_t scratch_bytes() const { return 0; }
  // places[id] is the address of value `id`, if it is an argument or several stages use it.
  // `scratch` is aligned to 64 bytes.
  virtual Status bind(Span<void* const> places, void* scratch) = 0;
  virtual Status run() = 0;
  // Tells of the steps of the last run(). False if it does not know of any: then it is one step.
  virtual bool tell_steps(NodeTimes&) const { return false; }
};

// Memory for filters of a convolution that a stage packs by itself. A vector of them lies within a
// line of the cache: a product that reads two lines for each takes a tenth longer.
struct FreeOwnFilters {
  static constexpr std::align_val_t kAlignment{64};

  void operator()(float* filters) const { operator delete(filters, kAlignment); }
};
using OwnFilters = std::unique_ptr<float[], FreeOwnFilters>;

inline Status make_filters(int64_t floats, OwnFilters& filters) {
  const size_t bytes = static_cast<size_t>(floats) * sizeof(float);
  filters.reset(static_cast<float*>(operator new(bytes, FreeOwnFilters::kAlignment, std::nothrow)));
  TAPER_REQUIRE(filters != nullptr, Error::kDelegateMemoryAllocationFailed,
                "there is no memory for the filters of a convolution");
  return {};
}

// Finds `bytes` bytes in the cache of `shared`, under the constant `source` and a seed that says
// how they are packed, or lets pack(void* to) write them, which returns a Status. `filters` points
// to them; without a cache `own` holds them.
template <typename Pack>
Status find_filters(const Shared& shared, uint32_t seed, const void* source, size_t bytes,
                    const Pack& pack, OwnFilters& own, const void*& filters) {
  const xnn_weights_cache_t cache = shared.weights;
  if (cache == nullptr) {
    const auto floats = static_cast<int64_t>((bytes + sizeof(float) - 1) / sizeof(float));
    TAPER_TRY(make_filters(floats, own));
    filters = own.get();
    return pack(own.get());
  }
  const xnn_weights_cache_look_up_key key = {seed, source, nullptr, bytes};
  size_t place = cache->look_up(cache->context, &key);
  if (place == SIZE_MAX) {
    void* made = cache->reserve_space(cache->context, bytes);
    TAPER_REQUIRE(made != nullptr, Error::kDelegateMemoryAllocationFailed,
                  "there is no memory for the weights of a layer");
    TAPER_TRY(pack(made));
    place = cache->look_up_or_insert(cache->context, &key, made, bytes);
  }
  filters = cache->offset_to_addr(cache->context, place);
  return {};
}

// How many parts of `size` make a whole, of which the last may be smaller.
constexpr int64_t divide_up(int64_t whole, int64_t size) { return (whole + size - 1) / size; }

inline Status status_of(xnn_status status, const char* text) {
  if (status == xnn_status_success) return {};
  return Status(status == xnn_status_out_of_memory ? Error::kDelegateMemoryAllocationFailed
                                                   : Error::kDelegateInvalidCompatibility,
                text);
}

}  // namespace taper::xnnpack
