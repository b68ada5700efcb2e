// The report as text and as JSON.

#include "tools/compare/comparison_report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tools/compare.h"
#include "tools/text/json_writer.h"
#include "tools/text/terminal.h"

namespace taper::tools {
namespace {

std::string number_text(double value, const char* format = "%.2g") {
  char text[40];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

std::string decibels_text(double value) {
  return std::isinf(value) && value > 0 ? "exact" : number_text(value, "%.1f dB");
}

void print_row(const ComparedTensor& tensor) {
  std::printf("  %-28s %-30s %-14s %10s %10s %10s  %s\n", tensor.node.c_str(), tensor.op.c_str(),
              tensor.runs_on.c_str(), decibels_text(tensor.decibels).c_str(),
              number_text(tensor.relative).c_str(), number_text(tensor.bound).c_str(),
              !tensor.problem.empty() ? tensor.problem.c_str()
              : tensor.agrees()       ? ""
              : tensor.from_inputs    ? "from its inputs"
                                      : "made here");
}

void print_rows(const std::vector<const ComparedTensor*>& rows) {
  if (rows.empty()) return;
  std::printf("\n  %-28s %-30s %-14s %10s %10s %10s\n", "node", "operator", "runs on", "SNR",
              "error", "allowed");
  for (const ComparedTensor* row : rows) print_row(*row);
}

void print_place(const char* what, const ComparedTensor& tensor) {
  std::printf("%-7s %s\n", what, text_of(tensor).c_str());
  if (!tensor.with.empty()) {
    constexpr size_t kNamed = 4;  // A delegate may compute a whole model.
    const size_t unnamed = tensor.with.size() > kNamed + 1 ? tensor.with.size() - kNamed : 0;
    std::string with;
    for (size_t i = unnamed; i < tensor.with.size(); ++i) {
      with += (with.empty() ? "" : ", ") + tensor.with[i];
    }
    if (unnamed > 0) with += " and " + std::to_string(unnamed) + " more before them";
    std::printf("        computed together with %s\n", with.c_str());
  }
  if (!tensor.module.empty()) std::printf("        module %s\n", tensor.module.c_str());
  if (!tensor.line.empty()) std::printf("        %s\n", tensor.line.c_str());
}

void add_tensor(JsonWriter& json, const ComparedTensor& tensor) {
  json.open('{').key("node").text(tensor.node).key("op").text(tensor.op);
  json.key("module").text(tensor.module).key("line").text(tensor.line).key("with").open('[');
  for (const std::string& name : tensor.with) json.text(name);
  json.close(']').key("runs_on").text(tensor.runs_on);
  json.key("instruction").number(tensor.instruction);
  json.key("dtype").text(to_string(tensor.dtype)).key("shape").open('[');
  for (const int64_t size : tensor.shape) json.number(size);
  json.close(']').key("snr_db").number(tensor.decibels).key("max_abs").number(tensor.largest);
  json.key("max_rel").number(tensor.relative).key("bound").number(tensor.bound);
  json.key("agrees").boolean(tensor.agrees()).key("from_inputs").boolean(tensor.from_inputs);
  json.key("made_rel");
  if (tensor.made < 0) {
    json.null();
  } else {
    json.number(tensor.made);
  }
  json.key("problem").text(tensor.problem).close('}');
}

// Complex elements are two parts.
size_t parts_of(const NpyArray& array) {
  return array.data.size() / element_size(part_type(array.dtype));
}

}  // namespace

ComparedTensor described(const std::vector<std::string>& names, std::string op, std::string module,
                         std::string line) {
  ComparedTensor row;
  row.node = names[0];
  row.with.assign(names.begin() + 1, names.end());
  row.op = std::move(op);
  row.module = std::move(module);
  row.line = std::move(line);
  return row;
}

double measure(const NpyArray& got, const NpyArray& want, double around, ComparedTensor& row) {
  row.dtype = got.dtype;
  row.shape = got.shape;
  if (parts_of(got) != parts_of(want)) {
    row.problem = "shape " + shape_text(got.shape) + ", expected " + shape_text(want.shape);
    return 0;
  }
  const ArrayDifference difference = difference_of(got, want);
  const double scale = std::max(difference.scale, std::min(around, 1.0));
  row.decibels = difference.decibels;
  row.largest = difference.largest;
  row.relative = difference.largest == 0 ? 0 : difference.largest / scale;
  return difference.scale;
}

bool ComparisonReport::agrees() const {
  return first() == nullptr &&
         std::all_of(inside.begin(), inside.end(), [](const auto& each) { return each.agrees(); });
}

const ComparedTensor* ComparisonReport::first() const {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [](const ComparedTensor& each) { return !each.agrees(); });
  return found == tensors.end() ? nullptr : &*found;
}

// Of those that do not agree, if there are any: noise on zeros is not the worst otherwise.
const ComparedTensor* ComparisonReport::worst() const {
  const bool all_agree = first() == nullptr;
  const ComparedTensor* worst = nullptr;
  for (const ComparedTensor& each : tensors) {
    if (!each.problem.empty() || each.agrees() != all_agree) continue;
    if (all_agree && std::isinf(each.decibels) && each.decibels < 0) continue;
    if (worst == nullptr || each.decibels < worst->decibels) worst = &each;
  }
  return worst;
}

std::string text_of(const ComparedTensor& tensor) {
  std::string where = tensor.op;
  if (!tensor.runs_on.empty()) where += " on " + tensor.runs_on;
  std::string text = tensor.node + (where.empty() ? "" : " (" + where + ")");
  if (!tensor.problem.empty()) return text + ": " + tensor.problem;
  text += ": SNR " + decibels_text(tensor.decibels) + ", largest error " +
          number_text(tensor.relative) + ", allowed " + number_text(tensor.bound);
  if (tensor.agrees()) return text;
  if (tensor.from_inputs) return text + "; the error comes from its inputs";
  text += "; the error is made here";
  return tensor.made < 0 ? text : text + " (" + number_text(tensor.made) + " on its own inputs)";
}

void print_comparison(const ComparisonReport& report, size_t top) {
  const ComparedTensor* first = report.first();
  std::printf("method %s: %zu tensors compared, %s\n", report.method.c_str(), report.tensors.size(),
              first == nullptr ? "all agree" : "they differ");
  if (first != nullptr) print_place("first", *first);
  if (const ComparedTensor* worst = report.worst(); worst != nullptr && worst != first) {
    print_place("worst", *worst);
  }
  std::vector<const ComparedTensor*> rows;
  for (const ComparedTensor& tensor : report.tensors) {
    if (top == 0 || (!tensor.agrees() && rows.size() < top)) rows.push_back(&tensor);
  }
  print_rows(rows);
  rows.clear();
  for (const ComparedTensor& tensor : report.inside) rows.push_back(&tensor);
  if (!rows.empty()) std::printf("\ninside delegates, in the order in which they were looked at\n");
  print_rows(rows);
}

std::string comparison_json(const ComparisonReport& report) {
  JsonWriter json;
  const auto name = [&](const char* key, const ComparedTensor* tensor) {
    json.key(key);
    if (tensor == nullptr) {
      json.null();
    } else {
      json.text(tensor->node);
    }
  };
  json.open('{').key("kind").text("compare").key("reference").text(report.reference);
  json.key("program").text(report.program).key("method").text(report.method);
  json.key("agrees").boolean(report.agrees());
  name("first", report.first());
  name("worst", report.worst());
  json.key("nodes").open('[');
  for (const ComparedTensor& tensor : report.tensors) add_tensor(json, tensor);
  json.close(']').key("inside").open('[');
  for (const ComparedTensor& tensor : report.inside) add_tensor(json, tensor);
  json.close(']').key("notes").open('[');
  for (const std::string& note : report.notes) json.text(note);
  return json.close(']').close('}').str();
}

}  // namespace taper::tools
