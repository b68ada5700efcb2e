// Three runs for every chunk of tensors: the program, whose tensors are copied; the reference; and
// the reference with the program's tensors given to each node.

#include "tools/compare/compare_programs.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "exir/frontend/import.h"
#include "tools/compare.h"
#include "tools/compare/bisect.h"
#include "tools/compare/bounds.h"
#include "tools/compare/observed_program.h"
#include "tools/compare/reference.h"
#include "tools/error.h"

namespace taper::tools {
namespace {

constexpr uint64_t kChunkBytes = uint64_t{256} << 20;  // Of tensors that are held at once.

constexpr size_t kSteps = 3;  // Runs for each chunk.

constexpr char kNoNames[] =
    "the program does not say what its tensors are called, so only its outputs are compared: "
    "export it with --debug-info";

std::vector<std::vector<int64_t>> largest_inputs(const ProgramRunner& runner) {
  std::vector<std::vector<int64_t>> sizes;
  for (size_t i = 0; i < runner.meta().num_inputs(); ++i) {
    if (runner.meta().input_tag(i).value() != Tag::kTensor) continue;
    sizes.push_back(shape_of(runner.meta().input_tensor_meta(i).value().sizes()));
  }
  return sizes;
}

class ExportedComparison {
 public:
  explicit ExportedComparison(const CompareRequest& request)
      : request_(request),
        program_(request.program, request.inputs),
        reference_({request.reference,
                    model_of(request, std::string(program_.runner().meta().name())),
                    request.operators, request.exact, largest_inputs(program_.runner()),
                    request.size_bounds}) {}

  ComparisonReport run() {
    report_.reference = request_.reference;
    report_.program = request_.program.path;
    report_.method = std::string(program_.runner().meta().name());
    line_up();
    const std::vector<std::vector<size_t>> chunks = cut();
    for (size_t i = 0; i < chunks.size(); ++i) {
      compare_chunk(chunks[i], [&](size_t step) {
        if (request_.progress) request_.progress(kSteps * i + step, kSteps * chunks.size());
      });
    }
    if (request_.bisect) look_inside();
    return std::move(report_);
  }

 private:
  const std::vector<ReferenceTensor>& tensors() const { return reference_.tensors(); }
  bool is_seen(size_t i) const { return seen_[i] >= 0; }

  void line_up() {
    if (!program_.has_names()) report_.notes.emplace_back(kNoNames);
    const std::vector<int64_t>& outputs = reference_.outputs();
    if (outputs.size() != program_.runner().method().num_outputs()) {
      throw InputError("'" + request_.program.path + "' was not compiled from '" +
                       request_.reference + "': it has another number of outputs");
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i] >= 0) program_.name_output(i, tensors()[outputs[i]].names);
    }
    std::vector<ScalarType> dtypes;
    size_t count = 0;
    for (const ReferenceTensor& tensor : tensors()) {
      const int64_t at = program_.find(tensor.names);
      seen_.push_back(at);
      count += at >= 0;
      dtypes.push_back(at < 0 ? tensor.dtype : program_.tensors()[at].dtype);
    }
    if (count == 0 && !tensors().empty()) {
      throw InputError("'" + request_.program.path + "' was not compiled from '" +
                       request_.reference + "': no tensor of one has a name of the other");
    }
    bounds_ = bounds_of(tensors(), dtypes);
    if (computes_in_less()) {
      for (double& bound : bounds_) bound = bound == 0 ? 0 : std::max(bound, kQuantisedBound);
    }
    scales_.resize(tensors().size(), 0);
    for (const NpyArray& input : program_.inputs()) {
      input_scale_ = std::max(input_scale_, largest_of(input));
    }
  }

  // Whether the program is quantised and the reference is not.
  bool computes_in_less() const {
    for (const ReferenceTensor& tensor : tensors()) {
      if (is_quantising(tensor.op)) return false;
    }
    for (const auto& [instruction, origin] : program_.origins()) {
      if (is_quantising(origin.node.op)) return true;
      for (const exir::Origin& part : origin.parts) {
        if (is_quantising(part.op)) return true;
      }
    }
    return false;
  }

  bool is_wanted(size_t i) const {
    if (!is_seen(i)) return false;
    if (request_.expected.empty()) return true;
    return expected(i) != nullptr;
  }

  const NpyArray* expected(size_t i) const {
    for (const std::string& name : tensors()[i].names) {
      const auto found = request_.expected.find(name);
      if (found != request_.expected.end()) return &found->second;
    }
    return nullptr;
  }

  std::vector<std::vector<size_t>> cut() const {
    std::vector<std::vector<size_t>> chunks;
    uint64_t bytes = kChunkBytes;
    for (size_t i = 0; i < tensors().size(); ++i) {
      if (!is_wanted(i)) continue;
      if (bytes >= kChunkBytes) {
        chunks.emplace_back();
        bytes = 0;
      }
      chunks.back().push_back(i);
      bytes += program_.tensors()[seen_[i]].bytes;
    }
    return chunks;
  }

  using Arrays = std::map<size_t, NpyArray>;  // By the reference's tensors.

  // The program's tensors of the chunk, and those that it is computed from.
  Arrays observe(const std::vector<size_t>& chunk) {
    std::set<size_t> needed;
    for (const size_t i : chunk) {
      needed.insert(i);
      const Cone cone = reference_.cone_of(i, seen_);
      needed.insert(cone.from.begin(), cone.from.end());
    }
    for (size_t i = 0; i < tensors().size(); ++i) {
      if (tensors()[i].is_random && is_seen(i)) needed.insert(i);
    }
    std::set<size_t> places;
    for (const size_t i : needed) places.insert(static_cast<size_t>(seen_[i]));
    const Arrays found = program_.read(places);
    Arrays arrays;
    for (const size_t i : needed) {
      const auto at = found.find(static_cast<size_t>(seen_[i]));
      if (at != found.end()) arrays[i] = at->second;
    }
    return arrays;
  }

  // What can take the place of the reference's tensors.
  std::map<size_t, const NpyArray*> givable(const Arrays& arrays, bool only_random) const {
    std::map<size_t, const NpyArray*> given;
    for (const auto& [i, array] : arrays) {
      if (only_random && !tensors()[i].is_random) continue;
      if (can_replace(array.dtype, tensors()[i].dtype)) given[i] = &array;
    }
    return given;
  }

  void compare_chunk(const std::vector<size_t>& chunk, const std::function<void(size_t)>& done) {
    const Arrays got = observe(chunk);
    done(1);
    const std::vector<NpyArray> want =
        reference_.run({program_.inputs(), chunk, givable(got, true)});
    done(2);
    std::vector<NpyArray> made;
    try {
      made = reference_.run({program_.inputs(), chunk, givable(got, false)});
    } catch (const std::exception& error) {
      report_.notes.push_back("nodes do not run by themselves: " + std::string(error.what()));
    }
    for (size_t k = 0; k < chunk.size(); ++k) {
      const size_t i = chunk[k];
      const auto found = got.find(i);
      if (found == got.end()) continue;
      const NpyArray* given = expected(i);
      add(i, found->second, given == nullptr ? want[k] : *given, made.empty() ? nullptr : &made[k]);
    }
  }

  ComparedTensor row_of(size_t i, const Cone& cone) const {
    const ReferenceTensor& tensor = tensors()[i];
    const ObservedTensor& seen = program_.tensors()[seen_[i]];
    ComparedTensor row = described(tensor.names, tensor.op, tensor.module, tensor.line);
    for (const size_t each : cone.between) row.with.push_back(tensors()[each].names[0]);
    row.runs_on = seen.runs_on;
    row.instruction = seen.instruction;
    row.bound = bounds_[i];
    if (request_.bound >= 0 && row.bound > 0) row.bound = request_.bound;
    return row;
  }

  void add(size_t i, const NpyArray& got, const NpyArray& want, const NpyArray* alone) {
    const Cone cone = reference_.cone_of(i, seen_);
    ComparedTensor row = row_of(i, cone);
    double around = cone.reads_inputs ? input_scale_ : 0;
    for (const size_t read : cone.from) around = std::max(around, scales_[read]);
    scales_[i] = measure(got, want, around, row);
    if (alone != nullptr && row.problem.empty()) {
      ComparedTensor local;
      measure(got, *alone, around, local);
      if (local.problem.empty()) row.made = local.relative;
    }
    row.from_inputs = !row.agrees() && row.problem.empty() &&
                      (row.made >= 0 ? row.made <= row.bound : any_disagrees(cone.from));
    if (!row.agrees()) differing_.insert(i);
    report_.tensors.push_back(std::move(row));
  }

  bool any_disagrees(const std::set<size_t>& rows) const {
    return std::any_of(rows.begin(), rows.end(),
                       [&](size_t i) { return differing_.count(i) != 0; });
  }

  void look_inside() {
    std::vector<double> bounds = bounds_;
    for (double& bound : bounds) {
      if (request_.bound >= 0 && bound > 0) bound = request_.bound;
    }
    bisect_delegates({reference_, program_, seen_, bounds, request_.backend}, report_);
  }

  const CompareRequest& request_;
  ObservedProgram program_;
  const Reference reference_;
  ComparisonReport report_;
  std::vector<int64_t> seen_;  // The program's tensor, for each of the reference's.
  std::vector<double> bounds_, scales_;
  double input_scale_ = 0;
  std::set<size_t> differing_;
};

}  // namespace

std::string model_of(const CompareRequest& request, const std::string& method) {
  if (!request.model.empty()) return request.model;
  const std::vector<std::string> names = exir::model_names(request.reference);
  const bool named =
      names.size() > 1 && std::find(names.begin(), names.end(), method) != names.end();
  return named ? method : "";
}

ComparisonReport compare_with_exported(const CompareRequest& request) {
  return ExportedComparison(request).run();
}

}  // namespace taper::tools
