// Dividing work among the application's threads. Each takes chunks of the work, one after another,
// until none is left: a thread that is late, since its core is slower or busy, leaves more to the
// others. Where chunks begin depends on sizes and on the number of threads, but the way in which an
// element of the result is computed does not.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "kernels_optimized/engine/scratch.h"
#include "taper/kernel.h"
#include "taper/thread_pool.h"

namespace taper::optimized {

// The unit of work is the cost of adding two numbers from the L2 cache, about a quarter of a
// nanosecond. A part of fewer than kPartWork units gains less than it costs to hand it over. In
// WebAssembly a unit takes several times as long, but to hand a part over does not.
#ifdef __wasm__
inline constexpr int64_t kPartWork = int64_t{8} << 10;
#else
inline constexpr int64_t kPartWork = int64_t{32} << 10;
#endif
inline constexpr int64_t kExponentialWork = 3;          // An exponential or a similar function.
inline constexpr int64_t kMultiplicationsPerUnit = 12;  // In a matrix product.

// Parts of plain memory begin at multiples of this many floats, one cache line.
inline constexpr int64_t kLineFloats = 16;

// Into how many parts it pays to divide `work` units: at least 1, at most `pieces`.
inline int64_t parts_of(const ThreadPool& pool, int64_t work, int64_t pieces) {
  if (pool.run == nullptr) return 1;
  const int64_t most = std::min<int64_t>(pool.threads, pieces);
  return std::max<int64_t>(1, std::min(most, work / kPartWork));
}

// How many chunks that many workers share: some more than there are workers, unless a chunk is so
// small that taking it costs more than it levels out.
inline int64_t chunks_of(int64_t workers, int64_t work, int64_t pieces) {
  constexpr int64_t kMostTurns = 4, kChunkWork = kPartWork / 4;
  const int64_t most = std::min(kMostTurns * workers, pieces);
  return std::max(workers, std::min(most, work / kChunkWork));
}

// Calls each(chunk, worker) for every chunk below `chunks`, one at a time for each worker.
template <typename Each>
void take_turns(const ThreadPool& pool, int64_t workers, int64_t chunks, const Each& each) {
  std::atomic<size_t> next{0};
  const auto work = [&](size_t worker) {
    for (;;) {
      const size_t chunk = next.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= static_cast<size_t>(chunks)) return;
      each(static_cast<int64_t>(chunk), static_cast<int64_t>(worker));
    }
  };
  parallel_for(pool, static_cast<size_t>(workers), work);
}

// Calls each(begin, end) for parts of [0, size) that begin at multiples of `step`; an element
// costs `work` units.
template <typename Each>
void for_parts(const ThreadPool& pool, int64_t size, int64_t work, int64_t step, Each&& each) {
  const int64_t steps = (size + step - 1) / step;
  const int64_t units = size > INT64_MAX / work ? INT64_MAX : size * work;
  const int64_t workers = parts_of(pool, units, steps);
  if (workers == 1) return each(int64_t{0}, size);
  const int64_t chunks = chunks_of(workers, units, steps);
  const auto begin_of = [&](int64_t i) { return std::min(size, i * steps / chunks * step); };
  take_turns(pool, workers, chunks,
             [&](int64_t i, int64_t) { each(begin_of(i), begin_of(i + 1)); });
}

// The same for `count` pieces, by workers that each need `floats` floats of scratch memory: calls
// each(first, last, scratch). There are no more workers than temp memory allows. If there is too
// little even for one, it runs with an empty scratch.
template <typename Each>
void for_parts_with_scratch(KernelContext& context, int64_t count, int64_t work, int64_t floats,
                            Each&& each) {
  const int64_t units = count > INT64_MAX / std::max<int64_t>(1, work) ? INT64_MAX : count * work;
  int64_t workers = parts_of(context.pool(), units, count);
  Span<float> scratch;
  while (workers > 1 && scratch.size() == 0) {
    scratch = scratch_floats(context, workers * floats);
    if (scratch.size() == 0) --workers;
  }
  if (workers <= 1) return each(int64_t{0}, count, scratch_floats(context, floats));
  const int64_t chunks = chunks_of(workers, units, count);
  take_turns(context.pool(), workers, chunks, [&](int64_t i, int64_t worker) {
    each(i * count / chunks, (i + 1) * count / chunks,
         Span<float>(scratch.data() + worker * floats, static_cast<size_t>(floats)));
  });
}

// Scratch memory of `floats` floats for each of as many threads as temp memory allows.
inline Span<float> shared_scratch(KernelContext& context, int64_t floats) {
  for (int64_t parts = context.pool().run != nullptr ? context.pool().threads : 1;; --parts) {
    const Span<float> scratch = scratch_floats(context, parts * floats);
    if (scratch.size() != 0 || parts <= 1) return scratch;
  }
}

}  // namespace taper::optimized
