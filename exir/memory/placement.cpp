// Fills one memory after another, shortest lifetimes first, and packs what each got once more.

#include "exir/memory/placement.h"

#include <algorithm>
#include <numeric>

#include "exir/ir/failure.h"
#include "exir/memory/packing.h"

namespace taper::exir {
namespace {

uint64_t rounded(uint64_t bytes, uint64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

// Rows by increasing lifetime, then by size.
RowOrder shortest_first(const std::vector<PlanRow>& rows) {
  RowOrder order(rows.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const size_t first = rows[a].last - rows[a].first, second = rows[b].last - rows[b].first;
    return first != second ? first < second : rows[a].bytes < rows[b].bytes;
  });
  return order;
}

class Placer {
 public:
  Placer(const std::vector<PlanRow>& rows, uint64_t alignment) : alignment_(alignment) {
    // Checks that no sum overflows; its lower bound is kept as the certificate.
    plan_ = plan_memory(rows, alignment);
    plan_.arena_bytes = 0;
    plan_.buffer_bytes.clear();
    rows_ = rows;
    for (PlanRow& row : rows_) row.bytes = rounded(row.bytes, alignment);
    left_ = shortest_first(rows_);
  }

  MemoryPlan run(const std::vector<MemoryBuffer>& buffers) {
    for (const MemoryBuffer& buffer : buffers) fill(buffer);
    if (!left_.empty()) refuse();
    plan_.heuristic = "shortest lives into the first memory";
    return std::move(plan_);
  }

 private:
  // Takes the rows that fit within the buffer's size, then packs them again as tightly as possible.
  void fill(const MemoryBuffer& buffer) {
    RowOrder taken, rest, placed;
    std::vector<uint64_t> offsets(rows_.size(), 0);
    uint64_t end = 0;
    for (const size_t i : left_) {
      const uint64_t at = lowest_gap(rows_, offsets, placed, rows_[i]);
      if (at > buffer.bytes || rows_[i].bytes > buffer.bytes - at) {
        rest.push_back(i);
        continue;
      }
      offsets[i] = at;
      end = std::max(end, at + rows_[i].bytes);
      taken.push_back(i);
      if (rows_[i].bytes == 0) continue;
      const auto spot = std::upper_bound(placed.begin(), placed.end(), i, [&](size_t a, size_t b) {
        return offsets[a] < offsets[b];
      });
      placed.insert(spot, i);
    }
    repack(taken, offsets, end);
    left_ = rest;
  }

  void repack(const RowOrder& taken, const std::vector<uint64_t>& offsets, uint64_t end) {
    std::vector<PlanRow> rows;
    for (const size_t i : taken) rows.push_back(rows_[i]);
    const MemoryPlan better = plan_memory(rows, alignment_);
    const bool use = better.arena_bytes < end;
    for (size_t k = 0; k < taken.size(); ++k) {
      plan_.buffers[taken[k]] = plan_.buffer_bytes.size();
      plan_.offsets[taken[k]] = use ? better.offsets[k] : offsets[taken[k]];
    }
    plan_.buffer_bytes.push_back(use ? better.arena_bytes : end);
    plan_.arena_bytes += plan_.buffer_bytes.back();
  }

  [[noreturn]] void refuse() const {
    uint64_t bytes = 0, largest = 0;
    for (const size_t i : left_) {
      bytes += rows_[i].bytes;
      largest = std::max(largest, rows_[i].bytes);
    }
    throw Failure("--memory: " + std::to_string(left_.size()) + " tensors of " +
                  std::to_string(bytes) + " bytes, the largest of " + std::to_string(largest) +
                  ", fit into none of the memories; give one a larger size, or the last one none");
  }

  const uint64_t alignment_;
  std::vector<PlanRow> rows_;
  RowOrder left_;
  MemoryPlan plan_;
};

}  // namespace

MemoryPlan place_memory(const std::vector<PlanRow>& rows, uint64_t alignment,
                        const std::vector<MemoryBuffer>& buffers) {
  if (buffers.empty()) return plan_memory(rows, alignment);
  return Placer(rows, alignment).run(buffers);
}

}  // namespace taper::exir
