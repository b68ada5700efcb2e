// The fixture of the conformance suite, and the graph that every backend must take.

#include "test/backends/backend_test.h"

namespace taper::test {
namespace {

constexpr float kScales[] = {1, -2, 3, 0.5F};

}  // namespace

Device& BackendTest::device() {
  if (device_ == nullptr) device_ = make_device(subject());
  return *device_;
}

Lowered BackendTest::lower(const std::string& graph_text) const {
  Lowered lowered = lower_for(subject().name, graph_text);
  EXPECT_GT(lowered.delegates(), 0u) << subject().name << " takes no node of\n" << graph_text;
  return lowered;
}

std::unique_ptr<DelegatedProgram> BackendTest::load(Lowered lowered) {
  auto program = std::make_unique<DelegatedProgram>(
      lowered.emit(), std::vector<Backend>{backend_of(subject(), device())});
  for (const auto& graph : lowered.graphs) EXPECT_EQ(program->load_error(graph->name), "");
  return program;
}

std::vector<const Subject*> all_subjects() {
  std::vector<const Subject*> all;
  for (const Subject& subject : subjects()) all.push_back(&subject);
  return all;
}

std::string subject_name(const testing::TestParamInfo<const Subject*>& info) {
  return info.param->name;
}

std::string scaled_sum(const std::string& rows, const std::string& name) {
  const std::string type = ": float32[" + rows + ", 4]";
  return "graph \"" + name + "\" {\n" + (rows[0] == 's' ? "range " + rows + " = [0, 8]\n" : "") +
         "input %x" + type + "\nconstant %w: float32[4] = {1, -2, 3, 0.5}\n%m" + type +
         " = aten::mul.Tensor(%x, %w)\n%y" + type + " = aten::add.Tensor(%m, %x)\nreturn %y\n}";
}

std::vector<float> some_rows(int32_t rows) {
  std::vector<float> values;
  for (int32_t i = 0; i < 4 * rows; ++i) values.push_back(static_cast<float>(7 * i % 23 - 11));
  return values;
}

std::vector<float> scaled_sum_of(const std::vector<float>& values) {
  std::vector<float> sums;
  for (size_t i = 0; i < values.size(); ++i) sums.push_back(values[i] * kScales[i % 4] + values[i]);
  return sums;
}

std::vector<float> floats_of(const EValue& value) {
  const Tensor& tensor = value.to_tensor();
  return {tensor.const_data_ptr<float>(), tensor.const_data_ptr<float>() + tensor.numel()};
}

}  // namespace taper::test
