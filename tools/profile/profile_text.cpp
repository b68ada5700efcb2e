#include "tools/profile/profile_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>

#include "tools/error.h"
#include "tools/text/json_writer.h"
#include "tools/text/terminal.h"

namespace taper::tools {
namespace {

double share(double seconds, double of) { return of > 0 ? 100 * seconds / of : 0; }

// "12.3", or nothing for 0.
std::string rate(double amount, double seconds) {
  if (amount <= 0 || seconds <= 0) return "";
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f", amount / seconds * 1e-9);
  return text;
}

std::string calls_text(double calls) {
  char text[32];
  std::snprintf(text, sizeof(text), std::floor(calls) == calls ? "%.0f" : "%.1f", calls);
  return text;
}

std::vector<const ProfileRow*> picked(const ProfileResult& result, size_t top) {
  std::vector<const ProfileRow*> rows;
  for (const ProfileRow& row : result.rows) {
    if (top == 0 || !row.has_steps) rows.push_back(&row);
  }
  if (top == 0) return rows;
  std::stable_sort(rows.begin(), rows.end(), [](const ProfileRow* a, const ProfileRow* b) {
    return a->seconds > b->seconds;
  });
  if (rows.size() > top) rows.resize(top);
  return rows;
}

void print_nodes(const ProfileResult& result, size_t top) {
  std::printf("\n%10s %6s %5s %8s %6s  %-7s %-24s %-30s %-16s %-26s %s\n", "median", "share",
              "calls", "GFLOP/s", "GB/s", "place", "node", "operator", "runs on", "result",
              "source line");
  const std::vector<const ProfileRow*> rows = picked(result, top);
  for (const ProfileRow* row : rows) {
    std::printf("%10s %5.1f%% %5s %8s %6s  %-7s %-24s %-30s %-16s %-26s %s\n",
                time_text(row->seconds).c_str(), share(row->seconds, result.seconds),
                calls_text(row->calls).c_str(),
                rate(row->work.operations * row->calls, row->seconds).c_str(),
                rate(row->work.bytes * row->calls, row->seconds).c_str(), row->place.c_str(),
                row->name.c_str(), row->op.c_str(), row->runs_on.c_str(), row->sizes.c_str(),
                row->line.c_str());
  }
  size_t all = 0;
  for (const ProfileRow& row : result.rows) all += top == 0 || !row.has_steps;
  if (rows.size() < all) std::printf("%zu more; --top 0 prints all\n", all - rows.size());
}

std::string count_text(const std::optional<double>& count) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.0f", count.value_or(0));
  return count ? text : "-";
}

// Of instructions: what happens within a delegate is not told apart.
void print_counters(const ProfileResult& result, size_t top) {
  std::vector<const ProfileRow*> rows;
  for (const ProfileRow& row : result.rows) {
    if (!row.is_step) rows.push_back(&row);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const ProfileRow* a, const ProfileRow* b) {
    return a->seconds > b->seconds;
  });
  std::printf("\n%10s %12s %12s %9s %12s %11s  %-7s %s\n", "median", "cycles", "instructions",
              "per cycle", "cache misses", "page faults", "place", "node");
  for (size_t i = 0; i < rows.size() && (top == 0 || i < top); ++i) {
    const CounterValues& counts = rows[i]->counters;
    char per_cycle[16] = "-";
    if (counts[0] && counts[1] && *counts[0] > 0) {
      std::snprintf(per_cycle, sizeof(per_cycle), "%.2f", *counts[1] / *counts[0]);
    }
    std::printf("%10s %12s %12s %9s %12s %11s  %-7s %s\n", time_text(rows[i]->seconds).c_str(),
                count_text(counts[0]).c_str(), count_text(counts[1]).c_str(), per_cycle,
                count_text(counts[2]).c_str(), count_text(counts[3]).c_str(),
                rows[i]->place.c_str(), rows[i]->name.c_str());
  }
}

bool has_counters(const ProfileResult& result) {
  for (const ProfileRow& row : result.rows) {
    for (const std::optional<double>& count : row.counters) {
      if (count) return true;
    }
  }
  return false;
}

void print_groups(const ProfileResult& result, GroupBy by, const char* title, size_t top) {
  std::printf("\n%10s %6s %5s %6s  %s\n", "median", "share", "rows", "calls", title);
  const std::vector<ProfileGroup> groups = group(result.rows, by);
  for (size_t i = 0; i < groups.size() && (top == 0 || i < top); ++i) {
    const ProfileGroup& each = groups[i];
    std::printf("%10s %5.1f%% %5zu %6s  %s\n", time_text(each.seconds).c_str(),
                share(each.seconds, result.seconds), each.rows, calls_text(each.calls).c_str(),
                each.key.c_str());
  }
}

// By what rows of two programs are matched: the most that is the same in both.
enum class MatchedBy { kNameAndLine, kName, kOperator };

std::string match_key(const ProfileRow& row, MatchedBy by) {
  if (by == MatchedBy::kNameAndLine) return row.name + "  " + row.line;
  if (by == MatchedBy::kName) return row.name;
  const size_t colon = row.op.rfind(':');  // ExecuTorch's traces leave the namespace out.
  return colon == row.op.npos ? row.op : row.op.substr(colon + 1);
}

using TwoTimes = std::map<std::string, std::pair<double, double>>;

// The sums of the times in both, by key. None unless at least half of the keys of one are in the
// other.
TwoTimes matched(const ProfileResult& before, const ProfileResult& after, MatchedBy by) {
  TwoTimes both;
  std::set<std::string> first, second;
  for (const ProfileRow& row : before.rows) {
    if (row.has_steps) continue;
    both[match_key(row, by)].first += row.seconds;
    first.insert(match_key(row, by));
  }
  size_t common = 0;
  for (const ProfileRow& row : after.rows) {
    if (row.has_steps) continue;
    both[match_key(row, by)].second += row.seconds;
    if (second.insert(match_key(row, by)).second) common += first.count(match_key(row, by));
  }
  return common > 0 && 2 * common >= std::min(first.size(), second.size()) ? both : TwoTimes();
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string signed_time(double seconds) {
  return (seconds < 0 ? "-" : "+") + time_text(std::fabs(seconds));
}

}  // namespace

std::vector<ProfileView> profile_views(const std::vector<std::string>& names) {
  const std::map<std::string, ProfileView> known = {{"node", ProfileView::kNode},
                                                    {"op", ProfileView::kOperator},
                                                    {"module", ProfileView::kModule},
                                                    {"line", ProfileView::kLine}};
  std::vector<ProfileView> views;
  for (const std::string& name : names) {
    const auto found = known.find(name);
    if (found == known.end())
      throw UsageError("--by takes node, op, module and line, not '" + name + "'");
    views.push_back(found->second);
  }
  return views;
}

std::vector<std::string> notes_on(const ProfileResult& result) {
  std::vector<std::string> notes;
  if (!result.has_origins) {
    notes.push_back(
        "the program does not say where its instructions come from; 'taper export --debug-info' "
        "makes it");
  }
  if (result.is_cut) notes.push_back("only the first 1,000,000 events were kept; use fewer --runs");
  return notes;
}

void print_profile(const ProfileResult& result, const Peaks& peaks,
                   const std::vector<ProfileView>& views, size_t top) {
  double known = 0;
  for (const ProfileRow& row : result.rows) known += row.is_step ? 0 : row.seconds;
  std::printf(
      "run         median %s of %zu, %.1f %% in %zu instructions\n",
      time_text(result.seconds).c_str(), result.runs, share(known, result.seconds),
      static_cast<size_t>(std::count_if(result.rows.begin(), result.rows.end(),
                                        [](const ProfileRow& row) { return !row.is_step; })));
  if (peaks.bytes_per_second > 0) {
    std::printf(
        "machine     %.1f GFLOP/s in a product of 512 x 512, %.1f GB/s in a copy of 64 MiB\n",
        peaks.operations_per_second * 1e-9, peaks.bytes_per_second * 1e-9);
  }
  if (has_counters(result)) print_counters(result, top);
  for (const ProfileView view : views) {
    switch (view) {
      case ProfileView::kNode:
        print_nodes(result, top);
        break;
      case ProfileView::kOperator:
        print_groups(result, GroupBy::kOperator, "operator", top);
        break;
      case ProfileView::kModule:
        print_groups(result, GroupBy::kModule, "module", top);
        break;
      case ProfileView::kLine:
        print_groups(result, GroupBy::kLine, "source line", top);
        break;
    }
  }
}

bool print_difference(const ProfileResult& before, const ProfileResult& after, size_t top) {
  const bool by_name = before.has_origins && after.has_origins;
  TwoTimes both;
  if (by_name) both = matched(before, after, MatchedBy::kNameAndLine);
  if (by_name && both.empty()) both = matched(before, after, MatchedBy::kName);
  const bool by_node = !both.empty();
  if (!by_node) both = matched(before, after, MatchedBy::kOperator);
  if (both.empty()) return false;
  std::vector<std::pair<std::string, std::pair<double, double>>> rows(both.begin(), both.end());
  const auto change = [](const auto& row) { return row.second.second - row.second.first; };
  std::stable_sort(rows.begin(), rows.end(), [&](const auto& a, const auto& b) {
    return std::fabs(change(a)) > std::fabs(change(b));
  });
  std::printf("%10s %10s %10s  %s\n", "change", "other", "this", by_node ? "node" : "operator");
  std::printf("%10s %10s %10s  a run\n", signed_time(after.seconds - before.seconds).c_str(),
              time_text(before.seconds).c_str(), time_text(after.seconds).c_str());
  for (size_t i = 0; i < rows.size() && (top == 0 || i < top); ++i) {
    std::printf("%10s %10s %10s  %s\n", signed_time(change(rows[i])).c_str(),
                time_text(rows[i].second.first).c_str(), time_text(rows[i].second.second).c_str(),
                rows[i].first.c_str());
  }
  return true;
}

std::string profile_json(const ProfileResult& result) {
  JsonWriter json;
  json.open('{').key("median_s").number(result.seconds);
  json.key("runs").number(static_cast<int64_t>(result.runs)).key("rows").open('[');
  for (const ProfileRow& row : result.rows) {
    json.open('{').key("place").text(row.place).key("node").text(row.name).key("op").text(row.op);
    json.key("runs_on").text(row.runs_on).key("module").text(row.module);
    json.key("line").text(row.line).key("result").text(row.sizes);
    json.key("is_step").boolean(row.is_step).key("has_steps").boolean(row.has_steps);
    json.key("calls").number(row.calls);
    json.key("median_s").number(row.seconds).key("p90_s").number(row.slow_seconds);
    json.key("operations").number(row.work.operations).key("bytes").number(row.work.bytes);
    for (size_t i = 0; i < kCounters; ++i) {
      if (row.counters[i]) json.key(to_text(static_cast<EventCounter>(i))).number(*row.counters[i]);
    }
    json.close('}');
  }
  return json.close(']').close('}').str();
}

std::string profile_csv(const ProfileResult& result) {
  std::string out =
      "place,node,op,runs_on,module,line,result,is_step,calls,median_s,p90_s,operations,bytes,"
      "cycles,instructions,cache_misses,page_faults\n";
  for (const ProfileRow& row : result.rows) {
    for (const std::string* text :
         {&row.place, &row.name, &row.op, &row.runs_on, &row.module, &row.line, &row.sizes}) {
      out += quoted(*text) + ",";
    }
    char numbers[160];
    std::snprintf(numbers, sizeof(numbers), "%d,%.17g,%.9g,%.9g,%.17g,%.17g", row.is_step ? 1 : 0,
                  row.calls, row.seconds, row.slow_seconds, row.work.operations, row.work.bytes);
    out += numbers;
    for (const std::optional<double>& each : row.counters) {
      out += "," + (each ? count_text(each) : "");
    }
    out += "\n";
  }
  return out;
}

}  // namespace taper::tools
