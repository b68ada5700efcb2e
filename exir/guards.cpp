// A guard that is false for all sizes from some number on bounds them from above, one that is false
// up to a number from below. Both numbers are found by halving: each step asks the interval
// arithmetic of Sym, whose answers are never too narrow, so that no size is excluded wrongly. Then
// a guard on one symbol is asked at the upper end itself, so that memory is planned for a size that
// it allows.

#include "exir/guards.h"

#include <algorithm>

#include "exir/ir/checked_ranges.h"

namespace taper::exir {
namespace {

bool is_false(const Guard& guard, const SymRanges& ranges) {
  const SymRange range = guard.holds.range(ranges);
  return range.min == 0 && range.max == 0;
}

// Whether the guard is false whenever the symbol is within `part`.
bool excludes(const Guard& guard, SymRanges ranges, const std::string& symbol, SymRange part) {
  ranges[symbol] = part;
  return is_false(guard, ranges);
}

// The greatest size that the guard does not exclude together with all above it.
int64_t highest(const Guard& guard, const SymRanges& ranges, const std::string& symbol) {
  const SymRange range = ranges.at(symbol);
  int64_t allowed = range.min;  // Not to be excluded: then nothing would be left.
  int64_t excluded = allowed;
  do {  // Ever larger steps find a number that is.
    if (excluded >= range.max) return range.max;
    const int64_t step = std::max<int64_t>(1, excluded - allowed);
    excluded = range.max - excluded <= step ? range.max : excluded + step;
  } while (!excludes(guard, ranges, symbol, {excluded, range.max}));
  while (excluded - allowed > 1) {
    const int64_t middle = allowed + (excluded - allowed) / 2;
    (excludes(guard, ranges, symbol, {middle, range.max}) ? excluded : allowed) = middle;
  }
  return excluded - 1;
}

// The least size that the guard does not exclude together with all below it.
int64_t lowest(const Guard& guard, const SymRanges& ranges, const std::string& symbol) {
  const SymRange range = ranges.at(symbol);
  if (!excludes(guard, ranges, symbol, {range.min, range.min})) return range.min;
  int64_t excluded = range.min, allowed = excluded;
  do {
    excluded = allowed;
    if (excluded == range.max) return excluded;
    const int64_t step = std::max<int64_t>(1, excluded - range.min);
    allowed = range.max - excluded <= step ? range.max : excluded + step;
  } while (excludes(guard, ranges, symbol, {range.min, allowed}));
  while (allowed - excluded > 1) {
    const int64_t middle = excluded + (allowed - excluded) / 2;
    (excludes(guard, ranges, symbol, {range.min, middle}) ? excluded : allowed) = middle;
  }
  return allowed;
}

// The greatest size at which a guard on this symbol alone holds; that of the range if none is near.
int64_t greatest(const Guard& guard, const std::string& symbol, const SymRange& range) {
  constexpr int kMostSteps = 1024;
  if (range.max == SymRange::kUnbounded || guard.holds.symbols().size() != 1) return range.max;
  for (int64_t size = range.max; size >= range.min && size > range.max - kMostSteps; --size) {
    const std::optional<int64_t> holds = guard.holds.evaluate({{symbol, size}});
    if (!holds) break;
    if (*holds != 0) return size;
  }
  return range.max;
}

// The lower bound that the guard leaves whatever sizes nothing checks: a program must not refuse
// what PyTorch takes.
int64_t narrowed(const Guard& guard, const SymRanges& ranges, const std::string& symbol) {
  const int64_t least = lowest(guard, checked_ranges(ranges), symbol);
  return least > kNeverChecked ? least : ranges.at(symbol).min;
}

std::string range_text(const SymRange& range) {
  if (range.max == SymRange::kUnbounded) return "at least " + std::to_string(range.min);
  return std::to_string(range.min) + " to " + std::to_string(range.max);
}

void require_possible(const Guard& guard, const SymRanges& ranges) {
  if (!is_false(guard, ranges)) return;
  std::string sizes;
  for (const std::string& symbol : guard.holds.symbols()) {
    sizes += (sizes.empty() ? " " : ", ") + symbol + " is " + range_text(ranges.at(symbol));
  }
  throw Failure("the program was exported for inputs with " + guard.text +
                " only, which none has:" + sizes);
}

}  // namespace

void apply_guards(Graph& graph) {
  for (const Guard& guard : graph.guards) {
    for (const std::string& symbol : guard.holds.symbols()) graph.ranges.try_emplace(symbol);
  }
  constexpr int kRounds = 4;  // What one guard says may help another; ranges only become narrower.
  for (int round = 0; round < kRounds; ++round) {
    for (const Guard& guard : graph.guards) {
      require_possible(guard, graph.ranges);
      for (const std::string& symbol : guard.holds.symbols()) {
        SymRange& range = graph.ranges.at(symbol);
        if (range.min < 0) continue;  // No size.
        range.min = narrowed(guard, graph.ranges, symbol);
        range.max = highest(guard, graph.ranges, symbol);
        range.max = greatest(guard, symbol, range);
      }
    }
  }
  const SymRanges checked = checked_ranges(graph.ranges);
  std::erase_if(graph.guards,
                [&](const Guard& guard) { return always_holds(guard.holds, checked); });
}

}  // namespace taper::exir
