// Local search that accepts a few uphill moves. It does not search over offsets but over the order
// in which rows are placed, and for each row whether it is placed as low as possible or as high as
// possible below the lower bound; packing derives the offsets. The cost is the number of bytes that
// lie above the lower bound. Most moves are directed: a row that reaches above the bound is placed
// before one whose lifetime overlaps its own.

#include "exir/memory/search.h"

namespace taper::exir {
namespace {

constexpr size_t kMaxRounds = 4000;
constexpr size_t kWork = 40'000'000;         // Limit of compared pairs of rows,
constexpr size_t kMostWork = 1'000'000'000;  // and as long as the plan is not fair.
constexpr uint64_t kFair = 20;               // A fair plan is at most 1 / kFair above the bound.
constexpr size_t kAimed = 4;     // One in kAimed moves is random, the others are directed.
constexpr size_t kUphill = 100;  // One in kUphill worse candidates is accepted.

// A linear congruential generator, so that plans are the same everywhere.
class Random {
 public:
  size_t below(size_t n) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<size_t>(state_ >> 33) % n;
  }
  bool one_in(size_t n) { return below(n) == 0; }

 private:
  uint64_t state_ = 1;
};

struct Candidate {
  RowOrder order;
  std::vector<bool> hangs;
};

class Search {
 public:
  Search(const std::vector<PlanRow>& rows, const RowOrder& start, MemoryPlan& best)
      : rows_(rows), best_(best), now_{start, std::vector<bool>(rows.size(), false)} {}

  void run() {
    const size_t pairs = rows_.size() * rows_.size() + 1;
    const size_t rounds = std::min(kMaxRounds, kWork / pairs);
    const size_t most = std::min(kMaxRounds, kMostWork / pairs);
    keep(Candidate(now_));
    for (size_t round = 1; round < (is_fair() ? rounds : most); ++round) {
      if (best_.arena_bytes == best_.lower_bound) return;
      keep(neighbour());
    }
  }

 private:
  bool is_fair() const {
    return best_.arena_bytes - best_.lower_bound <= best_.lower_bound / kFair;
  }

  // The current candidate with one row moved forward in the order, or placed at the other end.
  Candidate neighbour() {
    Candidate next = now_;
    const bool aimed = !random_.one_in(kAimed);
    const size_t from = aimed ? high_[random_.below(high_.size())] : random_.below(rows_.size());
    const size_t row = next.order[from];
    RowOrder before;  // Positions in the order.
    for (size_t at = 0; at < from; ++at) {
      if (!aimed || alive_together(rows_[next.order[at]], rows_[row])) before.push_back(at);
    }
    const size_t choice = random_.below(4);
    if (choice == 0 || before.empty()) {
      next.hangs[row] = !next.hangs[row];
      return next;
    }
    const size_t to = before[random_.below(before.size())];
    if (choice == 1) {
      const size_t other = next.order[to];
      next.hangs[other] = !next.hangs[other];
      return next;
    }
    const auto place = next.order.begin();
    std::rotate(place + static_cast<std::ptrdiff_t>(to), place + static_cast<std::ptrdiff_t>(from),
                place + static_cast<std::ptrdiff_t>(from) + 1);
    return next;
  }

  // Packs `next`, and makes it the current candidate unless it is worse.
  void keep(Candidate next) {
    const auto gap = [&](const std::vector<uint64_t>& offsets, const RowOrder& placed, size_t i) {
      return next.hangs[i] ? hanging_gap(rows_, offsets, placed, rows_[i], best_.lower_bound)
                           : lowest_gap(rows_, offsets, placed, rows_[i]);
    };
    uint64_t arena = 0;
    std::vector<uint64_t> offsets = place(rows_, next.order, gap, &arena);
    uint64_t excess = 0;
    RowOrder high;
    for (size_t at = 0; at < rows_.size(); ++at) {
      const size_t i = next.order[at];
      const uint64_t end = offsets[i] + rows_[i].bytes;
      if (rows_[i].bytes == 0 || end <= best_.lower_bound) continue;
      excess += end - best_.lower_bound;
      high.push_back(at);
    }
    if (excess > excess_ && !random_.one_in(kUphill)) return;
    excess_ = excess;
    high_ = std::move(high);
    now_ = std::move(next);
    if (arena >= best_.arena_bytes) return;
    best_.arena_bytes = arena;
    best_.offsets = std::move(offsets);
    best_.heuristic = "search";
  }

  const std::vector<PlanRow>& rows_;
  MemoryPlan& best_;
  Candidate now_;
  Random random_;
  uint64_t excess_ = UINT64_MAX;  // The current candidate's bytes above the lower bound.
  RowOrder high_;                 // Positions in its order of the rows that reach above the bound.
};

}  // namespace

void search_plan(const std::vector<PlanRow>& rows, const RowOrder& start, MemoryPlan& best) {
  Search(rows, start, best).run();
}

}  // namespace taper::exir
