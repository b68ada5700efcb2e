// Two instructions that one kernel computes: when they are joined, and what shows of it.

#include <gtest/gtest.h>

#include <vector>

#include "taper/event_tracer.h"
#include "test/support/loaded_method.h"

namespace taper {
namespace {

using test::FloatTensor;
using test::LoadedMethod;
using test::MethodSpec;
using test::ProgramBuilder;

int calls_of_both = 0;
bool both_fails = false;

Status double_out(KernelContext&, const Tensor& self, Tensor& out) {
  for (int64_t i = 0; i < self.numel(); ++i) {
    out.mutable_data_ptr<float>()[i] = 2 * self.const_data_ptr<float>()[i];
  }
  return {};
}

Status increase_out(KernelContext&, const Tensor& self, Tensor& out) {
  for (int64_t i = 0; i < self.numel(); ++i) {
    out.mutable_data_ptr<float>()[i] = self.const_data_ptr<float>()[i] + 1;
  }
  return {};
}

Status both_out(KernelContext& context, const Tensor& first, Tensor& result, const Tensor& second,
                Tensor& out) {
  ++calls_of_both;
  if (both_fails) return Status(Error::kInvalidArgument, "both");
  TAPER_TRY(double_out(context, first, result));
  return increase_out(context, second, out);
}

constexpr Kernel kDouble = make_kernel<double_out>("test::double.out");
constexpr Kernel kBoth = make_kernel<both_out>("test::double.out+test::increase.out");
constexpr Kernel kIncrease = make_kernel<increase_out>("test::increase.out");
constexpr const Kernel* kKernels[] = {&kDouble, &kBoth, &kIncrease};
const KernelTable kTables[] = {KernelTable(kKernels)};

// y = 2 * x + 1, where y lies `offset` bytes behind the product. The program repeats results among
// the arguments, as those of the compiler do.
struct Model {
  ProgramBuilder builder;
  MethodSpec& m = builder.method("forward");
  int x = m.tensor({.sizes = {{2}}});
  int product = m.tensor({.sizes = {{2}}, .memory_id = 1});
  int y;

  explicit Model(uint64_t offset = 0) {
    y = m.tensor({.sizes = {{2}}, .memory_id = 1, .offset = offset});
    m.buffer_sizes = {0, 64};
    m.inputs = {x};
    m.outputs = {y};
  }
  void call_double(int self, int out) { m.call("test::double", "out", {self, out, out}); }
  void call_increase(int self, int out) { m.call("test::increase", "out", {self, out, out}); }
};

class Joined : public testing::Test {
 protected:
  Joined() {
    calls_of_both = 0;
    both_fails = false;
  }

  // The output for {1, 2}.
  static std::vector<float> run(const Model& model) {
    LoadedMethod loaded(model.builder, {kTables});
    EXPECT_TRUE(loaded.status().ok()) << loaded.status().message();
    FloatTensor x({2}, {1, 2});
    EXPECT_TRUE(loaded->set_input(0, x.value()).ok());
    EXPECT_TRUE(loaded->execute().ok());
    return test::floats(loaded.method());
  }
};

TEST_F(Joined, ASecondInPlaceIsComputedWithTheFirst) {
  Model model;
  model.call_double(model.x, model.product);
  model.call_increase(model.product, model.y);
  EXPECT_EQ(run(model), (std::vector<float>{3, 5}));
  EXPECT_EQ(calls_of_both, 1);
}

TEST_F(Joined, ASecondElsewhereIsNot) {
  Model model(8);
  model.call_double(model.x, model.product);
  model.call_increase(model.product, model.y);
  EXPECT_EQ(run(model), (std::vector<float>{3, 5}));
  EXPECT_EQ(calls_of_both, 0);
}

TEST_F(Joined, ASecondOfAnotherTensorIsNot) {
  Model model;
  model.call_double(model.x, model.product);
  model.call_increase(model.x, model.y);
  EXPECT_EQ(run(model), (std::vector<float>{2, 3}));
  EXPECT_EQ(calls_of_both, 0);
}

TEST_F(Joined, OthersInARowAreNot) {
  Model model;
  model.call_double(model.x, model.product);
  model.call_double(model.product, model.product);
  model.call_increase(model.product, model.y);
  EXPECT_EQ(run(model), (std::vector<float>{5, 9}));
  EXPECT_EQ(calls_of_both, 1) << "the second and the third";
}

TEST_F(Joined, AJumpReachesTheSecondAlone) {
  Model model;
  const int never = model.m.boolean(false);
  model.call_double(model.x, model.product);
  model.call_double(model.product, model.product);
  model.m.jump_false(never, 4);
  model.call_double(model.product, model.product);
  model.call_increase(model.product, model.y);
  EXPECT_EQ(run(model), (std::vector<float>{5, 9}));
  EXPECT_EQ(calls_of_both, 0);
}

TEST_F(Joined, ATracerSeesEachOne) {
  Model model;
  model.call_double(model.x, model.product);
  model.call_increase(model.product, model.y);
  LoadedMethod loaded(model.builder, {kTables});
  FloatTensor x({2}, {1, 2});
  ASSERT_TRUE(loaded->set_input(0, x.value()).ok());
  TraceRecord records[8];
  TraceRing ring(records, [] { return uint64_t{0}; });
  ASSERT_TRUE(loaded->execute(ring).ok());
  EXPECT_EQ(test::floats(loaded.method()), (std::vector<float>{3, 5}));
  EXPECT_EQ(ring.size(), 2u);
  EXPECT_EQ(calls_of_both, 0);
}

TEST_F(Joined, AFailureIsTheFirstOnes) {
  Model model;
  model.call_increase(model.x, model.product);
  model.call_double(model.product, model.product);
  model.call_increase(model.product, model.y);
  both_fails = true;
  LoadedMethod loaded(model.builder, {kTables});
  FloatTensor x({2}, {1, 2});
  ASSERT_TRUE(loaded->set_input(0, x.value()).ok());
  EXPECT_EQ(loaded->execute().error(), Error::kInvalidArgument);
  EXPECT_EQ(loaded->last_failure().instruction, 1);
}

}  // namespace
}  // namespace taper
