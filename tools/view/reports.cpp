// Reads reports field by field, and compares their names of nodes with the model's.

#include "tools/view/reports.h"

#include <array>
#include <set>

#include "exir/frontend/json.h"
#include "exir/ir/failure.h"
#include "tools/atomic_file.h"
#include "tools/error.h"
#include "tools/text/json_writer.h"

namespace taper::tools {
namespace {

using exir::Json;

// A report as JSON. `read` receives its root; problems name the file.
template <typename Read>
void read_report(const std::string& path, const char* command, const Read& read) {
  try {
    const std::string text = read_file(path);
    const exir::Blob blob = {{reinterpret_cast<const uint8_t*>(text.data()), text.size()}, {}, 0};
    const exir::JsonDocument json(blob, path);
    read(json.root());
  } catch (const exir::Failure& failure) {
    throw InputError(path + ": is not what 'taper " + command +
                     " --json' prints: " + failure.what());
  }
}

// "conv2d, relu, ...", which tells models apart.
class FirstNames {
 public:
  void add(std::string_view name) {
    constexpr size_t kShown = 3;
    if (count_ < kShown) text_ += (count_ == 0 ? "" : ", ") + std::string(name);
    if (count_ == kShown) text_ += ", ...";
    ++count_;
  }
  const std::string& text() const { return text_; }

 private:
  size_t count_ = 0;
  std::string text_;
};

// "model.py:12 in forward: ..." -> "model.py"
std::string source_of(std::string_view line) { return std::string(line.substr(0, line.find(':'))); }

// "encoder.layers.0" -> "encoder"
std::string first_of(std::string_view module) {
  return std::string(module.substr(0, module.find('.')));
}

// Counts the nodes of a report that the model has, too. Names such as "linear" are in many models,
// so a node must be of the same module and line. Of a tensor that a result of the program only
// holds, the outermost module and the file must be the same. Delegates are named by the compiler:
// their line must be the model's.
class Names {
 public:
  explicit Names(const ViewDocument& document) : file_(document.file) {
    for (const ViewCall& call : document.calls()) {
      known_.insert({call.name, call.module, call.line});
      known_.insert({"", "", call.line});
      for (const size_t number : call.results) {
        const ViewValue& value = document.values()[number];
        known_.insert({value.name, call.module, call.line});
        for (const std::string& name : value.holds) {
          known_.insert({name, first_of(call.module), source_of(call.line)});
        }
      }
    }
    if (document.steps.empty()) return;
    for (const size_t call : document.steps.back().calls) own_.add(document.calls()[call].name);
  }

  void count(Json node) {
    const std::string name(exir::json_text(exir::json_need(node, "node"), "node"));
    const std::string op(exir::json_text_or(node, "op", "")),
        module(exir::json_text_or(node, "module", "")), line(exir::json_text_or(node, "line", ""));
    const bool is_delegate = op == exir::json_text_or(node, "runs_on", "?");
    ++total_;
    theirs_.add(name);
    if (is_delegate
            ? known_.count({"", "", line}) != 0
            : known_.count({name, module, line}) != 0 ||
                  (!line.empty() && known_.count({name, first_of(module), source_of(line)}) != 0)) {
      ++found_;
    }
  }

  // At least half of them must be the model's. `of` says what else the report is known by.
  void check(const std::string& path, const std::string& of) const {
    if (found_ * 2 >= total_) return;
    throw InputError(path + ": is of another model" + of + ": of its " + std::to_string(total_) +
                     " nodes (" + theirs_.text() + ") " + std::to_string(found_) + " are in " +
                     file_ + " (" + own_.text() + ")");
  }

 private:
  const std::string file_;
  std::set<std::array<std::string, 3>> known_;  // Names, modules and lines.
  size_t total_ = 0, found_ = 0;
  FirstNames own_, theirs_;
};

void copy_text(JsonWriter& out, Json from, const char* key) {
  out.key(key).text(exir::json_text_or(from, key, ""));
}

// A number, or a text such as "Infinity"; null if it is missing.
void copy_number(JsonWriter& out, Json from, const char* key) {
  const auto found = exir::json_find(from, key);
  out.key(key);
  found ? void(out.number(exir::json_double(*found, key))) : void(out.null());
}

void copy_flag(JsonWriter& out, Json from, const char* key) {
  const auto found = exir::json_find(from, key);
  out.key(key).boolean(found && exir::json_bool(*found, key));
}

void copy_node(JsonWriter& out, Json node) {
  out.open('{');
  for (const char* key : {"node", "op", "module", "line", "runs_on", "problem"}) {
    copy_text(out, node, key);
  }
  for (const char* key : {"snr_db", "max_abs", "max_rel", "bound", "made_rel"}) {
    copy_number(out, node, key);
  }
  copy_flag(out, node, "agrees");
  copy_flag(out, node, "from_inputs");
  out.key("with").open('[');
  if (const auto with = exir::json_find(node, "with")) {
    for (const Json name : exir::json_array(*with, "with")) {
      out.text(exir::json_text(name, "with"));
    }
  }
  out.close(']').close('}');
}

}  // namespace

void add_profile(const std::string& path, ViewDocument& document) {
  read_report(path, "profile", [&](Json root) {
    Names names(document);
    JsonWriter out;
    out.open('{');
    copy_number(out, root, "median_s");
    copy_number(out, root, "runs");
    out.key("rows").open('[');
    for (const Json row : exir::json_array(exir::json_need(root, "rows"), "rows")) {
      const bool is_step = exir::json_bool(exir::json_need(row, "is_step"), "is_step");
      names.count(row);
      out.open('{');
      for (const char* key : {"place", "node", "op", "runs_on", "module", "line", "result"}) {
        copy_text(out, row, key);
      }
      for (const char* key : {"calls", "median_s", "p90_s", "operations", "bytes"}) {
        copy_number(out, row, key);
      }
      out.key("is_step").boolean(is_step).close('}');
    }
    names.check(path, "");
    document.profile = out.close(']').close('}').str();
  });
}

void add_comparison(const std::string& path, ViewDocument& document) {
  read_report(path, "compare", [&](Json root) {
    Names names(document);
    JsonWriter out;
    out.open('{');
    for (const char* key : {"reference", "program", "method", "first", "worst"}) {
      copy_text(out, root, key);
    }
    copy_flag(out, root, "agrees");
    for (const char* list : {"nodes", "inside"}) {
      const auto found = exir::json_find(root, list);
      out.key(list).open('[');
      if (!found && std::string_view(list) == "nodes") exir::json_need(root, list);
      if (found) {
        for (const Json node : exir::json_array(*found, list)) {
          names.count(node);
          copy_node(out, node);
        }
      }
      out.close(']');
    }
    names.check(path, " (" + std::string(exir::json_text_or(root, "program", "?")) + " against " +
                          std::string(exir::json_text_or(root, "reference", "?")) + ")");
    document.comparison = out.close('}').str();
  });
}

}  // namespace taper::tools
