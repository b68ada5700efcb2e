// Compiles and runs one case with a backend, and compares the results.

#include "test/backends/case_run.h"

#include "test/backends/delegated_program.h"
#include "test/support/case_values.h"
#include "test/support/heap_counter.h"
#include "test/support/test_tensor.h"

namespace taper::test {
namespace {

// The tensor with every dynamic size (those of at least 2) increased by `step`, but not below 2.
// Its values are repeated as needed.
CaseTensor resized(CaseTensor tensor, int step) {
  for (int32_t& size : tensor.sizes) {
    if (size + step >= 2 && size >= 2) size += step;
  }
  const std::vector<std::string> values = std::move(tensor.values);
  tensor.values.clear();
  for (size_t i = 0; i < value_count(tensor); ++i)
    tensor.values.push_back(values[i % values.size()]);
  return tensor;
}

class CaseRun {
 public:
  CaseRun(const OpCase& c, Known known, Returned returned, const Subject& subject, Device& device)
      : case_(c), known_(known), returned_(returned), subject_(subject), device_(device) {}

  CaseResult run() {
    CaseGraph made = graph();
    if (made.graph == nullptr) return {};
    Lowered lowered;
    try {
      lowered = lower(subject_.name, made);
    } catch (const exir::Failure& failure) {
      return {false,
              compiles_without() ? "it does not compile: " + std::string(failure.what()) : ""};
    }
    for (const std::string& why : lowered.refusals()) {
      if (why.empty() || why.find('\n') != why.npos)
        return {false, "a node is not delegated, without a one-line reason"};
    }
    if (lowered.delegates() == 0) return {};
    DelegatedProgram program(lowered.emit(), {backend_of(subject_, device_)});
    std::string wrong = run_as_stated(program, made);
    if (known_ == Known::kOnlyBounds && wrong.empty()) wrong = run_resized(program, made);
    return {true, wrong};
  }

 private:
  CaseGraph graph() const { return case_graph(case_, known_, returned_); }

  static Lowered lower(const std::string& backends, CaseGraph& made) {
    std::vector<std::unique_ptr<exir::Graph>> graphs;
    graphs.push_back(std::move(made.graph));
    return lower_for(backends, std::move(graphs));
  }

  bool compiles_without() const {
    CaseGraph made = graph();
    try {
      lower("portable", made);
      return true;
    } catch (const exir::Failure&) {
      return false;
    }
  }

  void set_inputs(const std::vector<CaseTensor>& tensors) {
    inputs_.clear();
    values_.clear();
    for (const CaseTensor& tensor : tensors) {
      inputs_.emplace_back(tensor.type, tensor.sizes, tensor.dim_order);
      fill(tensor, *inputs_.back());
    }
    for (TestTensor& input : inputs_) values_.emplace_back(&*input);
  }

  std::string run_as_stated(DelegatedProgram& program, const CaseGraph& made) {
    std::vector<CaseTensor> tensors, wanted;
    for (const CaseTensor* input : made.inputs) tensors.push_back(*input);
    for (const CaseTensor* output : made.outputs) wanted.push_back(*output);
    set_inputs(tensors);
    std::string wrong = compare(wanted, program.run(values_), program.error());
    if (wrong.empty()) wrong = run_again(program, wanted);
    return wrong;
  }

  // The second run must give the same results without allocating.
  std::string run_again(DelegatedProgram& program, const std::vector<CaseTensor>& wanted) const {
    Method& method = *program.module().method("forward");
    if (!method.set_inputs({values_.data(), values_.size()}).ok()) return "new inputs are refused";
    const uint64_t before = heap_calls();
    const Status status = method.execute();
    if (heap_calls() != before) return "execute() allocates from the heap";
    if (!status.ok()) return "the second run fails: " + std::string(status.message());
    std::vector<EValue> outputs;
    for (size_t i = 0; i < method.num_outputs(); ++i) outputs.push_back(*method.get_output(i));
    const std::string wrong = compare(wanted, outputs, "");
    return wrong.empty() ? "" : "in the second run, " + wrong;
  }

  // Sizes that the operator itself does not support are skipped.
  std::string run_resized(DelegatedProgram& program, const CaseGraph& made) {
    CaseGraph again = graph();
    DelegatedProgram portable(lower("portable", again).emit(), {});
    for (const int step : {1, -1}) {
      std::vector<CaseTensor> tensors, wanted;
      for (const CaseTensor* input : made.inputs) tensors.push_back(resized(*input, step));
      set_inputs(tensors);
      for (const EValue& output : portable.run(values_)) {
        wanted.push_back(text_of(output.to_tensor()));
      }
      if (wanted.empty()) continue;
      const std::string wrong = compare(wanted, program.run(values_), program.error());
      if (!wrong.empty()) return "with sizes larger by " + std::to_string(step) + ", " + wrong;
    }
    return {};
  }

  std::string compare(const std::vector<CaseTensor>& wanted, const std::vector<EValue>& outputs,
                      const std::string& error) const {
    if (outputs.size() != wanted.size()) return "the run fails: " + error;
    const std::optional<Tolerance> tolerance = tolerance_of(subject_.expected, case_);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const std::string wrong = mismatch(wanted[i], outputs[i].to_tensor(), tolerance);
      if (!wrong.empty()) return "result " + std::to_string(i) + ", " + wrong;
    }
    return {};
  }

  const OpCase& case_;
  const Known known_;
  const Returned returned_;
  const Subject& subject_;
  Device& device_;
  std::vector<TestTensor> inputs_;
  std::vector<EValue> values_;
};

}  // namespace

CaseResult run_case(const OpCase& c, Known known, Returned returned, const Subject& subject,
                    Device& device) {
  return CaseRun(c, known, returned, subject, device).run();
}

}  // namespace taper::test
