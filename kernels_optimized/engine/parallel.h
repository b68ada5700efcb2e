// Dividing work into parts for the application's threads. Where the parts begin depends on sizes
// and on the number of threads, but the way in which an element of the result is computed does not.

#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels_optimized/engine/scratch.h"
#include "taper/kernel.h"
#include "taper/thread_pool.h"

namespace taper::optimized {

// The unit of work is the cost of adding two numbers from the L2 cache, about a quarter of a
// nanosecond. A part of fewer than kPartWork units gains less than it costs to hand it over.
inline constexpr int64_t kPartWork = int64_t{32} << 10;
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

// Calls each(begin, end) for parts of [0, size) that begin at multiples of `step`; an element
// costs `work` units.
template <typename Each>
void for_parts(const ThreadPool& pool, int64_t size, int64_t work, int64_t step, Each&& each) {
  const int64_t steps = (size + step - 1) / step;
  const int64_t units = size > INT64_MAX / work ? INT64_MAX : size * work;
  const int64_t parts = parts_of(pool, units, steps);
  if (parts == 1) return each(int64_t{0}, size);
  const auto begin_of = [&](int64_t part) { return std::min(size, part * steps / parts * step); };
  const auto run = [&](size_t i) {
    const auto part = static_cast<int64_t>(i);
    each(begin_of(part), begin_of(part + 1));
  };
  parallel_for(pool, static_cast<size_t>(parts), run);
}

// The same for `count` pieces, in parts that each need `floats` floats of scratch memory: calls
// each(first, last, scratch). There are no more parts than temp memory allows. If there is too
// little even for one, a single part runs with an empty scratch.
template <typename Each>
void for_parts_with_scratch(KernelContext& context, int64_t count, int64_t work, int64_t floats,
                            Each&& each) {
  const int64_t units = count > INT64_MAX / std::max<int64_t>(1, work) ? INT64_MAX : count * work;
  int64_t parts = parts_of(context.pool(), units, count);
  Span<float> scratch;
  while (parts > 1 && scratch.size() == 0) {
    scratch = scratch_floats(context, parts * floats);
    if (scratch.size() == 0) --parts;
  }
  if (parts <= 1) return each(int64_t{0}, count, scratch_floats(context, floats));
  const auto run = [&](size_t i) {
    const auto part = static_cast<int64_t>(i);
    each(part * count / parts, (part + 1) * count / parts,
         Span<float>(scratch.data() + part * floats, static_cast<size_t>(floats)));
  };
  parallel_for(context.pool(), static_cast<size_t>(parts), run);
}

// Scratch memory of `floats` floats for each of as many threads as temp memory allows.
inline Span<float> shared_scratch(KernelContext& context, int64_t floats) {
  for (int64_t parts = context.pool().run != nullptr ? context.pool().threads : 1;; --parts) {
    const Span<float> scratch = scratch_floats(context, parts * floats);
    if (scratch.size() != 0 || parts <= 1) return scratch;
  }
}

}  // namespace taper::optimized
