// The rows of facts.def as a sorted table.

#include "exir/ops/facts.h"

#include <algorithm>
#include <iterator>

#include "exir/ops/type_rules.h"

namespace taper::exir {
namespace rules {
namespace {
constexpr TypeRuleFunction kNoRule = nullptr;
}
}  // namespace rules

namespace {

struct Row {
  std::string_view name;
  OperatorFacts facts;
};

constexpr Row kRows[] = {
#define TAPER_FACTS(name, type_rule, ...) \
  {name, {.rule = rules::type_rule __VA_OPT__(, ) __VA_ARGS__}},
#include "exir/ops/facts.def"
#undef TAPER_FACTS
};

constexpr bool comes_before(const Row& row, std::string_view name) { return row.name < name; }

constexpr bool is_sorted() {
  for (size_t i = 1; i < std::size(kRows); ++i) {
    if (!comes_before(kRows[i - 1], kRows[i].name)) return false;
  }
  return true;
}
static_assert(is_sorted(), "facts.def must be sorted by name, each name once");

}  // namespace

const OperatorFacts& facts_of(std::string_view target) {
  static constexpr OperatorFacts kNone;
  const Row* row = std::lower_bound(std::begin(kRows), std::end(kRows), target, comes_before);
  return row != std::end(kRows) && row->name == target ? row->facts : kNone;
}

std::vector<std::string_view> operators_with_facts() {
  std::vector<std::string_view> names;
  for (const Row& row : kRows) names.push_back(row.name);
  return names;
}

}  // namespace taper::exir
