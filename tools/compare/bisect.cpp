// Halves the list of a delegate's nodes, in the order of the exported program: what comes before
// the first wrong node agrees, and most of what comes after does not.

#include "tools/compare/bisect.h"

#include <algorithm>

#include "backends/compilers.h"
#include "tools/compare.h"
#include "tools/error.h"

namespace taper::tools {
namespace {

// "first,second", as --backend takes it; empty if one of the delegates is of no backend here.
std::string backends_of(const ObservedProgram& program) {
  std::string text;
  for (const ObservedTensor& tensor : program.tensors()) {
    if (tensor.parts.empty()) continue;
    const exir::CompilerDescriptor* found = nullptr;
    for (const exir::CompilerDescriptor* each : backend_compilers()) {
      if (tensor.runs_on == each->identity.delegate_id) found = each;
    }
    if (found == nullptr) return {};
    const std::string name = found->identity.name;
    if (("," + text + ",").find("," + name + ",") == std::string::npos) {
      text += (text.empty() ? "" : ",") + name;
    }
  }
  return text;
}

// One delegate call.
class Bisection {
 public:
  Bisection(const BisectRequest& request, std::string backend, std::vector<size_t> outputs)
      : request_(request), backend_(std::move(backend)) {
    std::set<size_t> nodes(outputs.begin(), outputs.end()), border;
    for (const size_t output : outputs) {
      const Cone cone = request.reference.cone_of(output, request.seen);
      nodes.insert(cone.between.begin(), cone.between.end());
      border.insert(cone.from.begin(), cone.from.end());
    }
    for (const size_t output : outputs) border.erase(output);
    nodes_.assign(nodes.begin(), nodes.end());
    for (const NpyArray& input : request.program.inputs()) {
      input_scale_ = std::max(input_scale_, largest_of(input));
    }
    read_border(border);
  }

  // Whether the error is there when the program is compiled again.
  bool is_repeatable(size_t output) { return !look(output).agrees(); }

  // REQUIRES: is_repeatable(output).
  std::vector<ComparedTensor> find(size_t output) {
    size_t good = 0;  // All before it are taken to agree.
    size_t bad =
        static_cast<size_t>(std::find(nodes_.begin(), nodes_.end(), output) - nodes_.begin());
    while (good < bad) {
      const size_t middle = good + (bad - good) / 2;
      if (look(nodes_[middle]).agrees()) {
        good = middle + 1;
      } else {
        bad = middle;
      }
    }
    ComparedTensor found = look(nodes_[bad]);
    judge(nodes_[bad], found);
    rows_.push_back(std::move(found));
    return std::move(rows_);
  }

 private:
  void read_border(const std::set<size_t>& border) {
    std::set<size_t> places;
    for (const size_t i : border) places.insert(static_cast<size_t>(request_.seen[i]));
    const std::map<size_t, NpyArray> found = request_.program.read(places);
    for (const size_t i : border) {
      const auto at = found.find(static_cast<size_t>(request_.seen[i]));
      if (at != found.end()) border_[i] = at->second;
    }
    for (const auto& [i, array] : border_) {
      if (can_replace(array.dtype, request_.reference.tensors()[i].dtype)) given_[i] = &array;
    }
  }

  std::vector<NpyArray> run(const std::vector<size_t>& wanted, const std::string& backend,
                            const std::map<size_t, const NpyArray*>& given) const {
    return request_.reference.run({request_.program.inputs(), wanted, given, backend});
  }

  // Compiles with tensor `i` as the only output.
  const ComparedTensor& look(size_t i) {
    const auto known = std::find(looked_at_.begin(), looked_at_.end(), i);
    if (known != looked_at_.end()) return rows_[static_cast<size_t>(known - looked_at_.begin())];
    const ReferenceTensor& tensor = request_.reference.tensors()[i];
    const NpyArray got = run({i}, backend_, given_)[0];
    const NpyArray want = run({i}, "portable", given_)[0];
    ComparedTensor row = described(tensor.names, tensor.op, tensor.module, tensor.line);
    row.runs_on = backend_;
    row.bound = request_.bounds[i];
    measure(got, want, input_scale_, row);
    looked_at_.push_back(i);
    rows_.push_back(std::move(row));
    return rows_.back();
  }

  // Whether the node makes the error, on what the backend gave it.
  void judge(size_t i, ComparedTensor& row) const {
    std::vector<size_t> wanted = request_.reference.tensors()[i].reads;
    std::erase_if(wanted, [&](size_t read) { return given_.count(read) != 0; });
    wanted.push_back(i);
    const std::vector<NpyArray> got = run(wanted, backend_, given_);
    std::map<size_t, const NpyArray*> given = given_;
    for (size_t k = 0; k + 1 < wanted.size(); ++k) given[wanted[k]] = &got[k];
    const NpyArray alone = run({i}, "portable", given)[0];
    ComparedTensor local;
    measure(got.back(), alone, input_scale_, local);
    row.made = local.relative;
    row.from_inputs = row.made <= row.bound;
  }

  const BisectRequest& request_;
  const std::string backend_;
  std::vector<size_t> nodes_;  // Of the delegate, in order.
  double input_scale_ = 0;
  std::map<size_t, NpyArray> border_;
  std::map<size_t, const NpyArray*> given_;
  std::vector<size_t> looked_at_;
  std::vector<ComparedTensor> rows_;  // Of those looked at.
};

// The tensors of the reference that each delegate call gives, for those that make errors.
std::map<int64_t, std::vector<size_t>> wrong_calls(const BisectRequest& request,
                                                   const ComparisonReport& report) {
  std::set<int64_t> wrong;
  for (const ComparedTensor& row : report.tensors) {
    if (!row.agrees() && !row.from_inputs) wrong.insert(row.instruction);
  }
  std::map<int64_t, std::vector<size_t>> calls;
  for (size_t i = 0; i < request.seen.size(); ++i) {
    if (request.seen[i] < 0) continue;
    const ObservedTensor& tensor = request.program.tensors()[request.seen[i]];
    if (tensor.parts.empty() || wrong.count(tensor.instruction) == 0) continue;
    calls[tensor.instruction].push_back(i);
  }
  return calls;
}

}  // namespace

void bisect_delegates(const BisectRequest& request, ComparisonReport& report) {
  const auto calls = wrong_calls(request, report);
  if (calls.empty()) {
    report.notes.emplace_back("no delegate makes an error: there is nothing to look into");
    return;
  }
  const std::string backend =
      request.backend.empty() ? backends_of(request.program) : request.backend;
  if (backend.empty()) {
    report.notes.emplace_back(
        "a delegate of the program is of no backend here: it was compared "
        "at its border only");
    return;
  }
  for (const auto& [instruction, outputs] : calls) {
    Bisection bisection(request, backend, outputs);
    const auto wrong = std::find_if(outputs.begin(), outputs.end(),
                                    [&](size_t i) { return bisection.is_repeatable(i); });
    if (wrong == outputs.end()) {
      report.notes.push_back(
          "compiled again, the delegate of instruction " + std::to_string(instruction) +
          " agrees: the one in the program was made from other weights, with other options or "
          "by another compiler, and was compared at its border only");
      continue;
    }
    for (ComparedTensor& row : bisection.find(*wrong)) report.inside.push_back(std::move(row));
  }
}

}  // namespace taper::tools
