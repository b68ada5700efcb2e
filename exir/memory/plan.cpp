// Places rows greedily in several orders, keeps the smallest arena, and starts the local search
// from it if it is above the lower bound.

#include "exir/memory/plan.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "exir/ir/failure.h"
#include "exir/memory/packing.h"
#include "exir/memory/search.h"

namespace taper::exir {
namespace {

using Gap = decltype(&lowest_gap);

struct Peak {
  size_t step = 0;
  uint64_t bytes = 0;
};

// The step at which the most bytes are alive, which is the lower bound.
Peak find_peak(const std::vector<PlanRow>& rows) {
  std::map<size_t, std::pair<uint64_t, uint64_t>> events;  // Step -> bytes born, bytes freed.
  for (const PlanRow& row : rows) {
    events[row.first].first += row.bytes;
    events[row.last + 1].second += row.bytes;
  }
  Peak peak;
  uint64_t alive = 0;
  for (const auto& [step, change] : events) {
    alive = alive - change.second + change.first;
    if (alive > peak.bytes) peak = {step, alive};
  }
  return peak;
}

// Rows by decreasing key; ties are broken by index, so that plans are reproducible.
RowOrder sorted_by(const std::vector<PlanRow>& rows,
                   const std::function<double(const PlanRow&)>& key) {
  RowOrder order(rows.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return key(rows[a]) > key(rows[b]); });
  return order;
}

double span(const PlanRow& row) { return static_cast<double>(row.last - row.first + 1); }
double size(const PlanRow& row) { return static_cast<double>(row.bytes); }

struct Heuristic {
  const char* name;
  std::function<double(const PlanRow&)> key;
};

const std::vector<Heuristic>& heuristics() {
  static const std::vector<Heuristic> list = {
      {"largest first", size},
      {"largest area first", [](const PlanRow& r) { return size(r) * span(r); }},
      {"longest first", span},
      {"earliest first", [](const PlanRow& r) { return -static_cast<double>(r.first); }},
      {"latest first", [](const PlanRow& r) { return static_cast<double>(r.last); }},
  };
  return list;
}

}  // namespace

double MemoryPlan::gap_percent() const {
  if (lower_bound == 0) return 0;
  return 100.0 * static_cast<double>(arena_bytes - lower_bound) / static_cast<double>(lower_bound);
}

namespace {

MemoryPlan best_plan(const std::vector<PlanRow>& exact, uint64_t alignment) {
  std::vector<PlanRow> rows = exact;
  MemoryPlan best;
  for (PlanRow& row : rows) {
    row.bytes = (row.bytes + alignment - 1) / alignment * alignment;
    best.naive_bytes += row.bytes;
    if (row.bytes > (uint64_t{1} << 46) || best.naive_bytes > (uint64_t{1} << 48)) {
      throw Failure("the tensors of this method need more than 256 TiB");
    }
  }
  const Peak peak = find_peak(rows);
  best.lower_bound = peak.bytes;
  best.arena_bytes = UINT64_MAX;
  RowOrder best_order;
  std::vector<Heuristic> candidates = heuristics();
  candidates.push_back({"peak first", [step = peak.step](const PlanRow& r) {
                          return size(r) + (r.first <= step && step <= r.last ? 1e18 : 0);
                        }});
  for (const Heuristic& heuristic : candidates) {
    const RowOrder order = sorted_by(rows, heuristic.key);
    for (Gap gap : {&lowest_gap, &tightest_gap}) {
      uint64_t arena = 0;
      const auto gap_of = [&](const std::vector<uint64_t>& at, const RowOrder& placed, size_t i) {
        return gap(rows, at, placed, rows[i]);
      };
      std::vector<uint64_t> offsets = place(rows, order, gap_of, &arena);
      if (arena >= best.arena_bytes) continue;
      best.arena_bytes = arena;
      best.offsets = std::move(offsets);
      best.heuristic = heuristic.name;
      best_order = order;
    }
    if (best.arena_bytes == best.lower_bound) return best;
  }
  search_plan(rows, best_order, best);
  return best;
}

}  // namespace

MemoryPlan plan_memory(const std::vector<PlanRow>& rows, uint64_t alignment) {
  MemoryPlan plan = best_plan(rows, alignment);
  plan.buffers.assign(rows.size(), 0);
  plan.buffer_bytes = {plan.arena_bytes};
  return plan;
}

void check_plan(const std::vector<PlanRow>& rows, const MemoryPlan& plan, uint64_t alignment) {
  const auto fail = [](size_t i, const std::string& what) {
    throw Failure("memory plan: storage " + std::to_string(i) + " " + what);
  };
  if (plan.offsets.size() != rows.size() || plan.buffers.size() != rows.size()) {
    throw Failure("memory plan: a storage has no place");
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    if (plan.buffers[i] >= plan.buffer_bytes.size()) fail(i, "is in a buffer that is not there");
    const uint64_t begin = plan.offsets[i], end = begin + rows[i].bytes;
    if (begin % alignment != 0) fail(i, "is not aligned");
    if (end > plan.buffer_bytes[plan.buffers[i]]) fail(i, "ends outside its buffer");
    for (size_t j = i + 1; j < rows.size(); ++j) {
      if (plan.buffers[i] != plan.buffers[j]) continue;
      const bool apart_in_time = rows[i].last < rows[j].first || rows[j].last < rows[i].first;
      const bool apart_in_bytes =
          end <= plan.offsets[j] || plan.offsets[j] + rows[j].bytes <= begin;
      if (!apart_in_time && !apart_in_bytes) {
        fail(i, "overlaps storage " + std::to_string(j) + " while both are alive");
      }
    }
  }
}

}  // namespace taper::exir
