// Two instructions that one kernel computes: when they are joined, and what shows of it.

#include <gtest/gtest.h>

#include <optional>
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
  void call_both() {
    call_double(x, product);
    call_increase(product, y);
  }
};

class Joined : public testing::Test {
 protected:
  Joined() {
    calls_of_both = 0;
    both_fails = false;
  }

  // Loads the method with {1, 2} as its input.
  Method& load(const Model& model) {
    loaded_.emplace(model.builder, MethodOptions{kTables});
    EXPECT_TRUE(loaded_->status().ok()) << loaded_->status().message();
    EXPECT_TRUE(loaded_->method().set_input(0, x_.value()).ok());
    return loaded_->method();
  }

  std::vector<float> run(const Model& model) {
    Method& method = load(model);
    EXPECT_TRUE(method.execute().ok());
    return test::floats(method);
  }

 private:
  FloatTensor x_{{2}, {1, 2}};
  std::optional<LoadedMethod> loaded_;
};

TEST_F(Joined, ASecondInPlaceIsComputedWithTheFirst) {
  Model model;
  model.call_both();
  EXPECT_EQ(run(model), (std::vector<float>{3, 5}));
  EXPECT_EQ(calls_of_both, 1);
}

TEST_F(Joined, ASecondElsewhereIsNot) {
  Model model(8);
  model.call_both();
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
  model.call_both();
  Method& method = load(model);
  TraceRecord records[8];
  TraceRing ring(records, [] { return uint64_t{0}; });
  ASSERT_TRUE(method.execute(ring).ok());
  EXPECT_EQ(test::floats(method), (std::vector<float>{3, 5}));
  EXPECT_EQ(ring.size(), 2u);
  EXPECT_EQ(calls_of_both, 0);
}

TEST_F(Joined, AFailureIsTheFirstOnes) {
  Model model;
  model.call_increase(model.x, model.product);
  model.call_double(model.product, model.product);
  model.call_increase(model.product, model.y);
  both_fails = true;
  Method& method = load(model);
  EXPECT_EQ(method.execute().error(), Error::kInvalidArgument);
  EXPECT_EQ(method.last_failure().instruction, 1);
}

}  // namespace
}  // namespace taper
