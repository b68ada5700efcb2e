#include "exir/memory/plan.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "exir/ir/failure.h"

namespace taper::exir {
namespace {

using Order = std::vector<size_t>;

bool alive_together(const PlanRow& a, const PlanRow& b) {
  return a.first <= b.last && b.first <= a.last;
}

// The lowest offset where `row` collides with nothing placed. `placed` is sorted by offset.
uint64_t lowest_gap(const std::vector<PlanRow>& rows, const std::vector<uint64_t>& offsets,
                    const Order& placed, const PlanRow& row) {
  uint64_t at = 0;
  for (size_t other : placed) {
    if (!alive_together(rows[other], row)) continue;
    if (offsets[other] >= at + row.bytes) break;
    at = std::max(at, offsets[other] + rows[other].bytes);
  }
  return at;
}

// The smallest gap that fits, rather than the lowest.
uint64_t tightest_gap(const std::vector<PlanRow>& rows, const std::vector<uint64_t>& offsets,
                      const Order& placed, const PlanRow& row) {
  uint64_t at = 0, best = UINT64_MAX, best_room = UINT64_MAX;
  for (size_t other : placed) {
    if (!alive_together(rows[other], row)) continue;
    if (offsets[other] > at && offsets[other] - at >= row.bytes &&
        offsets[other] - at < best_room) {
      best = at;
      best_room = offsets[other] - at;
    }
    at = std::max(at, offsets[other] + rows[other].bytes);
  }
  return best == UINT64_MAX ? at : best;
}

using Gap = decltype(&lowest_gap);

// Places rows one after another where `gap(offsets, placed, row index)` says.
template <typename GapOf>
std::vector<uint64_t> place(const std::vector<PlanRow>& rows, const Order& order, const GapOf& gap,
                            uint64_t* arena) {
  std::vector<uint64_t> offsets(rows.size(), 0);
  Order placed;
  *arena = 0;
  for (size_t i : order) {
    if (rows[i].bytes == 0) continue;
    offsets[i] = gap(offsets, placed, i);
    const auto spot = std::upper_bound(placed.begin(), placed.end(), i,
                                       [&](size_t a, size_t b) { return offsets[a] < offsets[b]; });
    placed.insert(spot, i);
    *arena = std::max(*arena, offsets[i] + rows[i].bytes);
  }
  return offsets;
}

struct Peak {
  size_t step = 0;
  uint64_t bytes = 0;
};

// The step at which most bytes are alive.
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

// Rows in the order of a key, largest first; ties by index, so that plans are reproducible.
Order sorted_by(const std::vector<PlanRow>& rows,
                const std::function<double(const PlanRow&)>& key) {
  Order order(rows.size());
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

// A small generator of its own, so that plans are the same everywhere.
class Random {
 public:
  size_t below(size_t n) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<size_t>(state_ >> 33) % n;
  }

 private:
  uint64_t state_ = 1;
};

// The highest place below `ceiling`, or the lowest gap if there is none.
uint64_t hanging_gap(const std::vector<PlanRow>& rows, const std::vector<uint64_t>& offsets,
                     const Order& placed, const PlanRow& row, uint64_t ceiling) {
  uint64_t end = ceiling;
  for (bool blocked = true; blocked && end >= row.bytes;) {
    blocked = false;
    for (size_t other : placed) {
      const bool apart =
          offsets[other] >= end || offsets[other] + rows[other].bytes <= end - row.bytes;
      if (apart || !alive_together(rows[other], row)) continue;
      end = offsets[other];
      blocked = true;
      break;
    }
  }
  return end >= row.bytes ? end - row.bytes : lowest_gap(rows, offsets, placed, row);
}

// An order of placement, and which rows hang from the lower bound instead of standing on the floor.
struct Candidate {
  Order order;
  std::vector<bool> hangs;
};

// Moves one row elsewhere in the order or to the other side, packs again, and keeps that unless the
// arena grew. Ends at the bound or when the work done would show.
void search(const std::vector<PlanRow>& rows, const Order& start, MemoryPlan& best) {
  constexpr size_t kWork = 40'000'000;  // Pairs of rows looked at; some tens of milliseconds.
  const size_t rounds = std::min<size_t>(4000, kWork / (rows.size() * rows.size() + 1));
  Random random;
  Candidate now{start, std::vector<bool>(rows.size(), false)};
  uint64_t current = UINT64_MAX;
  for (size_t round = 0; round < rounds && best.arena_bytes > best.lower_bound; ++round) {
    Candidate next = now;
    const size_t from = random.below(rows.size()), to = random.below(rows.size());
    const size_t row = next.order[from];
    if (random.below(2) == 0) {
      next.hangs[row] = !next.hangs[row];
    } else {
      next.order.erase(next.order.begin() + static_cast<std::ptrdiff_t>(from));
      next.order.insert(next.order.begin() + static_cast<std::ptrdiff_t>(to), row);
    }
    uint64_t arena = 0;
    const auto gap = [&](const std::vector<uint64_t>& offsets, const Order& placed, size_t i) {
      return next.hangs[i] ? hanging_gap(rows, offsets, placed, rows[i], best.lower_bound)
                           : lowest_gap(rows, offsets, placed, rows[i]);
    };
    std::vector<uint64_t> offsets = place(rows, next.order, gap, &arena);
    if (arena > current) continue;
    current = arena;
    now = std::move(next);
    if (arena >= best.arena_bytes) continue;
    best.arena_bytes = arena;
    best.offsets = std::move(offsets);
    best.heuristic = "search";
  }
}

}  // namespace

double MemoryPlan::gap_percent() const {
  if (lower_bound == 0) return 0;
  return 100.0 * static_cast<double>(arena_bytes - lower_bound) / static_cast<double>(lower_bound);
}

MemoryPlan plan_memory(const std::vector<PlanRow>& exact, uint64_t alignment) {
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
  Order best_order;
  std::vector<Heuristic> candidates = heuristics();
  candidates.push_back({"peak first", [step = peak.step](const PlanRow& r) {
                          return size(r) + (r.first <= step && step <= r.last ? 1e18 : 0);
                        }});
  for (const Heuristic& heuristic : candidates) {
    const Order order = sorted_by(rows, heuristic.key);
    for (Gap gap : {&lowest_gap, &tightest_gap}) {
      uint64_t arena = 0;
      const auto gap_of = [&](const std::vector<uint64_t>& at, const Order& placed, size_t i) {
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
  search(rows, best_order, best);
  return best;
}

void check_plan(const std::vector<PlanRow>& rows, const MemoryPlan& plan, uint64_t alignment) {
  const auto fail = [](size_t i, const std::string& what) {
    throw Failure("memory plan: storage " + std::to_string(i) + " " + what);
  };
  if (plan.offsets.size() != rows.size()) throw Failure("memory plan: a storage has no offset");
  for (size_t i = 0; i < rows.size(); ++i) {
    const uint64_t begin = plan.offsets[i], end = begin + rows[i].bytes;
    if (begin % alignment != 0) fail(i, "is not aligned");
    if (end > plan.arena_bytes) fail(i, "ends outside the arena");
    for (size_t j = i + 1; j < rows.size(); ++j) {
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
