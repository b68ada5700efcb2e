// Tests several methods of one program, and several programs on one device.

#include "exir/ops/builtin.h"
#include "test/backends/backend_test.h"

namespace taper::test {
namespace {

constexpr int kColumns = 4096;

// A graph that adds 0, 1, ... and `more` to each row.
std::string wide_sum(const std::string& name, int more) {
  const std::string type = ": float32[2, " + std::to_string(kColumns) + "]";
  std::string numbers;
  for (int i = 0; i < kColumns; ++i) numbers += (i == 0 ? "" : ", ") + std::to_string(i);
  return "graph \"" + name + "\" {\ninput %x" + type + "\nconstant %w: float32[" +
         std::to_string(kColumns) + "] = {" + numbers + "}\nconstant %m: float32[1] = {" +
         std::to_string(more) + "}\n%a" + type + " = aten::add.Tensor(%x, %w)\n%y" + type +
         " = aten::add.Tensor(%a, %m)\nreturn %y\n}";
}

class Methods : public BackendTest {
 protected:
  Lowered lower_methods(const std::vector<std::string>& names) const {
    std::vector<std::unique_ptr<exir::Graph>> graphs;
    int more = 0;
    for (const std::string& name : names) {
      graphs.push_back(exir::parse_graph(wide_sum(name, more += 10)));
    }
    return lower_for(subject().name, std::move(graphs));
  }

  static void expect_sum(DelegatedProgram& program, const std::string& name, float more) {
    FloatTensor x({2, kColumns}, std::vector<float>(2 * kColumns, 1));
    const std::vector<EValue> outputs = program.run({x.value()}, name);
    ASSERT_EQ(outputs.size(), 1u) << program.error();
    const std::vector<float> sums = floats_of(outputs[0]);
    for (const size_t i : {0, 1, 4095}) {
      EXPECT_EQ(sums[i], 1 + static_cast<float>(i) + more);
      EXPECT_EQ(sums[i + kColumns], 1 + static_cast<float>(i) + more);
    }
  }
};

TEST_P(Methods, ShareTheirWeightsInTheFile) {
  const size_t one = lower_methods({"forward"}).emit().size();
  const size_t two = lower_methods({"forward", "other"}).emit().size();
  EXPECT_LT(two, one + kColumns * sizeof(float) / 2);
}

TEST_P(Methods, RunBesideEachOtherAndEndInAnyOrder) {
  for (const char* first_to_go : {"forward", "other"}) {
    const auto program = load(lower_methods({"forward", "other"}));
    expect_sum(*program, "forward", 10);
    expect_sum(*program, "other", 20);
    expect_sum(*program, "forward", 10);
    program->module().unload_method(first_to_go);
    const bool forward_stays = first_to_go != std::string("forward");
    expect_sum(*program, forward_stays ? "forward" : "other", forward_stays ? 10 : 20);
    expect_sum(*program, forward_stays ? "other" : "forward", forward_stays ? 20 : 10);
  }
}

TEST_P(Methods, ProgramsShareADevice) {
  auto first = load(lower(scaled_sum("2")));
  const auto second = load(lower(scaled_sum("3")));
  FloatTensor x({2, 4}, some_rows(2));
  EXPECT_EQ(floats_of(first->run({x.value()}).at(0)), scaled_sum_of(some_rows(2)));
  first.reset();
  FloatTensor y({3, 4}, some_rows(3));
  EXPECT_EQ(floats_of(second->run({y.value()}).at(0)), scaled_sum_of(some_rows(3)));
}

TEST_P(Methods, WithoutItsBackendALoadNamesIt) {
  DelegatedProgram program(lower(scaled_sum("2")).emit(), {});
  const std::string error = program.load_error();
  EXPECT_NE(error.find(subject().device->identity.delegate_id), error.npos) << error;
}

INSTANTIATE_TEST_SUITE_P(Suite, Methods, testing::ValuesIn(all_subjects()), subject_name);

}  // namespace
}  // namespace taper::test
