// Two compiled programs, or one and tensors from a file: whether a node makes an error or passes it
// on is judged by how the error grows.

#include <algorithm>
#include <functional>

#include "tools/compare.h"
#include "tools/compare/bounds.h"
#include "tools/compare/compare_programs.h"
#include "tools/compare/observed_program.h"
#include "tools/error.h"

namespace taper::tools {
namespace {

constexpr uint64_t kChunkBytes = uint64_t{256} << 20;  // Of tensors that are held at once.
constexpr double kGrowth = 10;  // An error that is so much larger than those before is made here.

// A tensor of the program, and its counterpart.
struct Match {
  size_t tensor = 0;
  const NpyArray* expected = nullptr;  // From a file.
  size_t other = 0;                    // Else of the other program.
};

// Both say the same name of an output that no instruction is known to make.
std::string output_name(size_t output) { return "output_" + std::to_string(output); }

void name_outputs(ObservedProgram& program) {
  for (size_t i = 0; i < program.runner().method().num_outputs(); ++i) {
    program.name_output(i, {output_name(i)});
  }
}

class CompiledComparison {
 public:
  explicit CompiledComparison(const CompareRequest& request)
      : request_(request), program_(request.program, request.inputs) {
    report_.program = request.program.path;
    report_.method = std::string(program_.runner().meta().name());
    name_outputs(program_);
  }

  ComparisonReport with_program() {
    RunnerOptions options = request_.program;
    options.path = request_.reference;
    report_.reference = request_.reference;
    ObservedProgram other(options, request_.inputs);
    name_outputs(other);
    for (const ObservedProgram* each : {&program_, &other}) {
      if (each->has_names()) continue;
      report_.notes.push_back("'" + (each == &other ? options.path : request_.program.path) +
                              "' does not say what its tensors are called: only outputs are "
                              "compared; export it with --debug-info");
    }
    std::vector<Match> matches;
    for (size_t i = 0; i < program_.tensors().size(); ++i) {
      const int64_t found = other.find(program_.tensors()[i].names);
      if (found >= 0) matches.push_back({i, nullptr, static_cast<size_t>(found)});
    }
    compare(matches, &other);
    return std::move(report_);
  }

  ComparisonReport with_tensors() {
    report_.reference = "the expected tensors";
    std::vector<Match> matches;
    for (size_t i = 0; i < program_.tensors().size(); ++i) {
      for (const std::string& name : program_.tensors()[i].names) {
        const auto found = request_.expected.find(name);
        if (found == request_.expected.end()) continue;
        matches.push_back({i, &found->second, 0});
        break;
      }
    }
    compare(matches, nullptr);
    return std::move(report_);
  }

 private:
  void compare(const std::vector<Match>& matches, ObservedProgram* other) {
    if (matches.empty()) {
      throw InputError("no tensor of '" + request_.program.path + "' has a name of " +
                       (other == nullptr ? report_.reference : "'" + report_.reference + "'"));
    }
    for (size_t first = 0; first < matches.size();) {
      size_t last = first;
      for (uint64_t bytes = 0; last < matches.size() && bytes < kChunkBytes; ++last) {
        bytes += program_.tensors()[matches[last].tensor].bytes;
      }
      compare_some({matches.begin() + static_cast<std::ptrdiff_t>(first),
                    matches.begin() + static_cast<std::ptrdiff_t>(last)},
                   other);
      first = last;
      if (request_.progress) request_.progress(last, matches.size());
    }
  }

  void compare_some(const std::vector<Match>& matches, ObservedProgram* other) {
    std::set<size_t> mine, theirs;
    for (const Match& match : matches) {
      mine.insert(match.tensor);
      if (match.expected == nullptr) theirs.insert(match.other);
    }
    const auto got = program_.read(mine);
    std::map<size_t, NpyArray> want;
    if (other != nullptr) want = other->read(theirs);
    for (const Match& match : matches) {
      const auto a = got.find(match.tensor);
      const auto b = want.find(match.other);
      if (a == got.end() || (match.expected == nullptr && b == want.end())) continue;
      add(match, a->second, match.expected != nullptr ? *match.expected : b->second);
    }
  }

  // As in bounds_of(), over what instructions read.
  double bound_of(const ObservedTensor& tensor, const NpyArray& got, const NpyArray& want) {
    double bound = std::max(tools::bound_of(got.dtype), tools::bound_of(want.dtype));
    bool quantised = is_quantising(tensor.origin.op);
    for (const exir::Origin& part : tensor.parts) quantised = quantised || is_quantising(part.op);
    const bool is_number = is_floating(part_type(got.dtype)) || element_size(got.dtype) == 1;
    if (quantised && is_number && got.dtype != ScalarType::kBool) bound = kQuantisedBound;
    for (const size_t read : tensor.reads) {
      if (bound > 0) bound = std::max(bound, bounds_[read]);
    }
    return bound;
  }

  void add(const Match& match, const NpyArray& got, const NpyArray& want) {
    const ObservedTensor& tensor = program_.tensors()[match.tensor];
    const exir::Origin& origin = tensor.origin;
    ComparedTensor row = described(tensor.names, origin.op, origin.module, origin.line);
    row.runs_on = tensor.runs_on;
    row.instruction = tensor.instruction;
    row.bound = bounds_[match.tensor] = bound_of(tensor, got, want);
    if (request_.bound >= 0 && row.bound > 0) row.bound = request_.bound;
    double before = 0, around = 0;
    for (const size_t read : tensor.reads) {
      before = std::max(before, errors_[read]);
      around = std::max(around, scales_[read]);
    }
    scales_[match.tensor] = measure(got, want, around, row);
    if (!row.agrees()) errors_[match.tensor] = row.relative;
    row.from_inputs =
        !row.agrees() && row.problem.empty() && before > 0 && row.relative <= kGrowth * before;
    report_.tensors.push_back(std::move(row));
  }

  const CompareRequest& request_;
  ObservedProgram program_;
  ComparisonReport report_;
  // By tensor of the program; 0 where it is not known.
  std::map<size_t, double> bounds_, scales_, errors_;
};

}  // namespace

ComparisonReport compare_with_compiled(const CompareRequest& request) {
  return CompiledComparison(request).with_program();
}

ComparisonReport compare_with_tensors(const CompareRequest& request) {
  return CompiledComparison(request).with_tensors();
}

}  // namespace taper::tools
