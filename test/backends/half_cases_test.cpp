// Tests operators between tensors that are stored as float16 (--precision=f16): the cases of the
// kernels' test suite, with PyTorch's results, of operands that float16 has exactly. A node before
// each operand and one after each result change the sign, so that what is between them is inside
// the delegate. Then a result is off by its own rounding, that of a constant, and what a float32
// result may be off; factors of attention are rounded once more.
//
// The numbers with which an export compares are held to the same, since not every processor computes
// in float16 by itself; but for NaN, which they need not keep.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "test/backends/case_graph.h"
#include "test/backends/delegated_program.h"
#include "test/support/case_values.h"
#include "test/support/op_cases.h"
#include "test/support/test_tensor.h"

namespace taper::test {
namespace {

constexpr int kMostFailures = 5;  // The most failures reported per file.

struct Param {
  const Subject* subject;
  std::string family;  // "op_add"
};

void PrintTo(const Param& param, std::ostream* out) {
  *out << param.subject->name << ", " << param.family;
}

std::vector<Param> params() {
  std::vector<Param> all;
  for (const Subject& subject : subjects()) {
    if (subject.compiler->half_option.empty()) continue;
    for (const std::string& family : op_case_families()) all.push_back({&subject, family});
  }
  return all;
}

// Ten bits after the first one, of numbers that are neither large nor next to 0.
bool is_half(float x) {
  const float size = std::fabs(x);
  if (size == 0 || !std::isfinite(x)) return true;
  if (size > 65504 || size < 0x1p-14F) return false;
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return (bits & 0x1fff) == 0;
}

// In row-major order.
std::vector<float> floats_of(CaseTensor text) {
  text.dim_order.clear();
  TestTensor tensor(text.type, text.sizes);
  fill(text, *tensor);
  return tensor.values<float>();
}

bool are_halves(const CaseGraph& made) {
  return std::all_of(made.inputs.begin(), made.inputs.end(), [](const CaseTensor* each) {
    if (each->type != ScalarType::kFloat) return true;
    const std::vector<float> values = floats_of(*each);
    return std::all_of(values.begin(), values.end(), is_half);
  });
}

// What is wrong with the negatives of floats; empty if nothing is.
std::string difference(const CaseTensor& text, const Tensor& got, double relative,
                       Numbers numbers) {
  const std::vector<float> wanted = floats_of(text);
  if (got.numel() != static_cast<int64_t>(wanted.size())) return "it has other sizes";
  float largest = 0;
  for (const float each : wanted) {
    if (std::isfinite(each)) largest = std::max(largest, std::fabs(each));
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    const float x = -got.const_data_ptr<float>()[i];
    if (std::isnan(wanted[i]) && (std::isnan(x) || numbers == Numbers::kRounded)) continue;
    if (x == wanted[i]) continue;
    const bool saturates = std::isfinite(wanted[i]) && std::fabs(wanted[i]) > 65504;
    if (saturates && std::fabs(x) >= 65504 && std::isfinite(x)) continue;
    const double off = std::fabs(static_cast<double>(x) - wanted[i]);
    if (off <= (0x1p-10 + relative) * largest + 0x1p-24) continue;
    return "element " + std::to_string(i) + " is " + std::to_string(x) + " instead of " +
           std::to_string(wanted[i]);
  }
  return {};
}

class HalfCases : public testing::TestWithParam<Param> {
 protected:
  // All cases of the family.
  void check(Numbers numbers);
  // What is wrong, empty if nothing is or the backend does not take the case.
  std::string run(const OpCase& c, Known known, Device& device, Numbers numbers) {
    CaseGraph made = case_graph(c, known, Returned::kAll, Signs::kChanged);
    if (made.graph == nullptr || !are_halves(made)) return {};
    const Subject& subject = *GetParam().subject;
    std::vector<std::unique_ptr<exir::Graph>> graphs;
    graphs.push_back(std::move(made.graph));
    Lowered lowered;
    try {
      const std::string option(subject.compiler->half_option);
      lowered = lower_for(subject.name + ":" + option + "=1", std::move(graphs));
    } catch (const exir::Failure&) {
      return {};  // What compiles at all, the suite of float32 says.
    }
    if (lowered.delegates() == 0) return {};
    DelegatedProgram program(lowered.emit(), {backend_of(subject, device)});
    std::vector<TestTensor> inputs;
    std::vector<EValue> values;
    for (const CaseTensor* input : made.inputs) {
      inputs.emplace_back(input->type, input->sizes, input->dim_order);
      fill(*input, *inputs.back());
      if (input->type != ScalarType::kFloat) continue;
      float* at = inputs.back()->mutable_data_ptr<float>();
      std::transform(at, at + inputs.back()->numel(), at, [](float x) { return -x; });
    }
    for (TestTensor& input : inputs) values.emplace_back(&*input);
    const std::vector<EValue> outputs = program.run(values);
    if (outputs.size() != made.outputs.size()) return "it fails: " + program.error();
    const std::optional<Tolerance> tolerance = tolerance_of(subject.expected, c);
    const double relative = std::max(
        {own_tolerance(c).value_or(Tolerance{0, 0}).relative, subject.expected.half, 0x1p-10});
    for (size_t i = 0; i < outputs.size(); ++i) {
      const CaseTensor& wanted = *made.outputs[i];
      if (wanted.values.empty()) continue;
      const Tensor& got = outputs[i].to_tensor();
      const std::string wrong = wanted.type == ScalarType::kFloat
                                    ? difference(wanted, got, relative, numbers)
                                    : mismatch(wanted, got, tolerance);
      if (!wrong.empty()) return "output " + std::to_string(i) + ": " + wrong;
    }
    return {};
  }
};

void HalfCases::check(Numbers numbers) {
  const std::string path = op_case_path(GetParam().family);
  std::string problem;
  const std::vector<OpCase> cases = read_op_cases(path, &problem);
  ASSERT_EQ(problem, "");
  const std::unique_ptr<Device> device = make_device(*GetParam().subject, 1, numbers);
  int failures = 0;
  Known known = Known::kNothing;
  for (const OpCase& c : cases) {
    // In turn, since drivers compile shaders for each: with all operands as inputs, or the first.
    known = known == Known::kNothing ? Known::kAllButFirst : Known::kNothing;
    const std::string wrong = run(c, known, *device, numbers);
    if (wrong.empty() || ++failures > kMostFailures) continue;
    ADD_FAILURE() << path << ":" << c.line << ": " << c.kernel << ": " << wrong;
  }
}

TEST_P(HalfCases, AreAsPyTorchComputesThem) { check(Numbers::kOwn); }

TEST_P(HalfCases, AreTheSameForComparison) {
  if (!can_round(*GetParam().subject)) GTEST_SKIP() << "it has no float16 for this processor";
  check(Numbers::kRounded);
}

std::string test_name(const testing::TestParamInfo<Param>& info) {
  return info.param.subject->name + "_" + info.param.family;
}

// A build may have no backend that computes in float16.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(HalfCases);
INSTANTIATE_TEST_SUITE_P(Suite, HalfCases, testing::ValuesIn(params()), test_name);

}  // namespace
}  // namespace taper::test
