// Adds up the times of what ran, by a key and run by run.

#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

#include "tools/profile/profile.h"

namespace taper::tools {

// The value below which `fraction` of the values lie; 0 if there are none.
inline double value_at(std::vector<double> values, double fraction) {
  if (values.empty()) return 0;
  const auto place = static_cast<size_t>(fraction * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(place),
                   values.end());
  return values[place];
}

template <typename Key>
class RowTimes {
 public:
  struct Row {
    Key key;
    size_t first = 0;  // What the caller passed with the first of its times.
    std::vector<double> seconds;
    size_t calls = 0;
  };

  // Runs are counted from 0, and come in order.
  void add(size_t run, const Key& key, double seconds, size_t what = 0) {
    const auto [found, is_new] = places_.try_emplace(key, rows_.size());
    if (is_new) rows_.push_back({key, what, {}, 0});
    Row& row = rows_[found->second];
    row.seconds.resize(run + 1);  // 0 in runs that did not come here.
    row.seconds.back() += seconds;
    ++row.calls;
  }

  // In the order in which keys came first.
  const std::vector<Row>& rows() const { return rows_; }
  bool has(const Key& key) const { return places_.count(key) != 0; }

  static void fill(Row row, size_t runs, ProfileRow* to) {
    row.seconds.resize(runs);
    to->calls = static_cast<double>(row.calls) / static_cast<double>(runs);
    to->seconds = value_at(row.seconds, 0.5);
    to->slow_seconds = value_at(row.seconds, 0.9);
  }

 private:
  std::map<Key, size_t> places_;
  std::vector<Row> rows_;
};

}  // namespace taper::tools
