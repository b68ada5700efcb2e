// Tests what plans do with buffers that the program writes, and with constants of packed bytes.

#include <gtest/gtest.h>

#include "backends/vulkan/planner/payload_for_test.h"
#include "backends/vulkan/planner/plan.h"

namespace taper::vulkan {
namespace {

using Id = PayloadBuilder::Id;

struct Planned {
  explicit Planned(PayloadBuilder& payload) : bytes(payload.finish()) {
    const NoConstants none;
    status = graph.read({bytes.data(), bytes.size()}, &none);
    if (status.ok()) status = plan.build(graph, Limits());
  }
  std::string problem() const { return status.message(); }
  Place place(Id id) const { return plan.places()[static_cast<size_t>(id)]; }

  const std::vector<uint8_t> bytes;
  PayloadGraph graph;
  Plan plan;
  Status status;
};

// A payload with a state of 8 elements.
struct WithState : PayloadBuilder {
  Id state = constant({8}, std::vector<float>(8, 1));
  Id zero = integer(0), one = integer(1), two = integer(2);
};

TEST(State, APartIsWrittenInPlace) {
  WithState p;
  const Id x = p.input({2}), y = p.tensor({8});
  p.call("aten.slice_scatter.default", {p.state, x, p.zero, p.zero, p.two, p.one, p.state});
  p.call("aten.neg.default", {p.state, y});
  p.output(y);
  const Planned planned(p);
  ASSERT_EQ(planned.problem(), "");
  EXPECT_EQ(planned.place(p.state).memory, Place::Memory::kStates);
  EXPECT_EQ(planned.plan.state_bytes(), 256u);
  EXPECT_EQ(planned.plan.constant_bytes(), 0u);
  const std::vector<Dispatch>& dispatches = planned.plan.dispatches();
  ASSERT_EQ(dispatches.size(), 2u);  // The part, then what reads all of it.
  EXPECT_EQ(dispatches[0].bindings[0].value, static_cast<ValueId>(p.state));
  EXPECT_TRUE(dispatches[1].barrier);
  EXPECT_FALSE(dispatches[0].once || dispatches[1].once);
}

TEST(State, ItIsReadUntilTheCallIsDone) {
  WithState p;
  p.call("aten.flip.default", {p.state, p.integers({0}), p.state});
  const Planned planned(p);
  ASSERT_EQ(planned.problem(), "");
  const std::vector<Dispatch>& dispatches = planned.plan.dispatches();
  ASSERT_EQ(dispatches.size(), 2u);  // Elsewhere, then to where the state lies.
  EXPECT_NE(dispatches[0].bindings[0].value, static_cast<ValueId>(p.state));
  EXPECT_EQ(dispatches[1].bindings[0].value, static_cast<ValueId>(p.state));
  EXPECT_TRUE(dispatches[1].barrier);
}

TEST(State, APartOfItselfIsNotWrittenInPlace) {
  WithState p;
  const Id part = p.tensor({8});
  p.call("aten.view_copy.default", {p.state, p.integers({8}), part});
  p.call("aten.slice_scatter.default",
         {p.state, part, p.zero, p.zero, p.integer(8), p.one, p.state});
  const Planned planned(p);
  ASSERT_EQ(planned.problem(), "");
  EXPECT_EQ(planned.plan.dispatches().size(), 3u);
}

TEST(State, AViewThatIsReadLaterIsACopy) {
  WithState p;
  const Id x = p.input({8}), view = p.tensor({2, 4}), y = p.tensor({2, 4});
  p.call("aten.view_copy.default", {p.state, p.integers({2, 4}), view});
  p.call("aten.copy.default", {p.state, x, p.flag(false), p.state});
  p.call("aten.neg.default", {view, y});
  p.output(y);
  const Planned planned(p);
  ASSERT_EQ(planned.problem(), "");
  EXPECT_EQ(planned.plan.dispatches().size(), 3u);
  EXPECT_EQ(planned.place(view).root, static_cast<ValueId>(view));
}

TEST(State, AViewThatIsAResultIsACopy) {
  WithState p;
  const Id x = p.input({8}), view = p.tensor({8});
  p.call("aten.clone.default", {p.state, p.none(), view});
  p.call("aten.copy.default", {p.state, x, p.flag(false), p.state});
  p.output(view);
  const Planned planned(p);
  ASSERT_EQ(planned.problem(), "");
  EXPECT_EQ(planned.plan.dispatches().size(), 2u);
}

TEST(State, AViewThatIsReadBeforeIsNone) {
  WithState p;
  const Id x = p.input({8}), view = p.tensor({2, 4}), y = p.tensor({2, 4});
  p.call("aten.view_copy.default", {p.state, p.integers({2, 4}), view});
  p.call("aten.neg.default", {view, y});
  p.call("aten.copy.default", {p.state, x, p.flag(false), p.state});
  p.output(y);
  const Planned planned(p);
  ASSERT_EQ(planned.problem(), "");
  EXPECT_EQ(planned.plan.dispatches().size(), 2u);
}

TEST(State, HasOneSizeAndDtype) {
  WithState p;
  const Id x = p.input({4});
  p.call("aten.relu.default", {x, p.state});
  EXPECT_EQ(Planned(p).problem(),
            "a buffer that the program writes has other sizes or another dtype than what is "
            "written");
  WithState q;
  q.call("aten.isnan.default", {q.state, q.state});
  EXPECT_EQ(Planned(q).problem(),
            "a buffer that the program writes has other sizes or another dtype than what is "
            "written");
}

TEST(State, IsNoWeightOfBytes) {
  PayloadBuilder p;
  const Id weights = p.constant_bytes({4, 4}, wire::DataType::UInt8, 16);
  const Id scales = p.constant({1, 4}, {1, 1, 1, 1}), x = p.input({1, 8}), y = p.tensor({1, 4});
  const Id other = p.constant_bytes({4, 4}, wire::DataType::UInt8, 16);
  p.call("aten.copy.default", {weights, other, p.flag(false), weights});
  p.call("et_vk.linear_q4gsw.default", {x, weights, scales, p.integer(8), p.none(), y});
  p.output(y);
  EXPECT_EQ(Planned(p).problem(), "its weights are not a constant of bytes");
}

TEST(PackedWeights, StayBytes) {
  PayloadBuilder p;
  const Id weights = p.constant_bytes({6, 20}, wire::DataType::UInt8, 120);
  const Id scales = p.constant({5, 6}, std::vector<float>(30, 1));
  const Id x = p.input({1, 40}), y = p.tensor({1, 6});
  p.call("et_vk.linear_q4gsw.default", {x, weights, scales, p.integer(8), p.none(), y});
  p.output(y);
  const Planned planned(p);
  ASSERT_EQ(planned.problem(), "");
  EXPECT_TRUE(planned.place(weights).has_bytes);
  EXPECT_EQ(planned.place(weights).bytes, 120u);
  EXPECT_EQ(planned.plan.dispatches().size(), 1u);
}

TEST(PackedWeights, AreReadInOneWay) {
  PayloadBuilder p;
  const Id weights = p.constant_bytes({4, 4}, wire::DataType::UInt8, 16);
  const Id scales = p.constant({1, 4}, {1, 1, 1, 1}), x = p.input({1, 8}), y = p.tensor({1, 4});
  const Id z = p.tensor({4, 4}, wire::DataType::UInt8);
  p.call("et_vk.linear_q4gsw.default", {x, weights, scales, p.integer(8), p.none(), y});
  p.call("aten.bitwise_not.default", {weights, z});
  p.output(z);
  EXPECT_EQ(Planned(p).problem(), "a constant is read as bytes and as elements");
}

TEST(PackedWeights, FitWhatTheyMultiply) {
  const auto problem = [](const PayloadBuilder::Sizes& weights, const PayloadBuilder::Sizes& scales,
                          int64_t group) {
    PayloadBuilder p;
    uint32_t count = 1;
    for (const uint32_t size : scales) count *= size;
    const Id w = p.constant_bytes(weights, wire::DataType::UInt8, weights[0] * weights[1]);
    const Id s = p.constant(scales, std::vector<float>(count, 1));
    const Id x = p.input({1, 16}), y = p.tensor({1, weights[0]});
    p.call("et_vk.linear_q4gsw.default", {x, w, s, p.integer(group), p.none(), y});
    p.output(y);
    return Planned(p).problem();
  };
  EXPECT_EQ(problem({4, 8}, {2, 4}, 8), "");
  EXPECT_EQ(problem({4, 8}, {2, 8}, 8), "");  // Padded.
  EXPECT_EQ(problem({4, 7}, {2, 4}, 8), "its weights do not fit its input");
  EXPECT_EQ(problem({4, 8}, {1, 4}, 8), "its scales do not fit its weights");
  EXPECT_EQ(problem({4, 8}, {2, 3}, 8), "its scales do not fit its weights");
  EXPECT_EQ(problem({4, 8}, {2, 4}, 0), "its scales do not fit its weights");
  EXPECT_EQ(problem({4, 8}, {4, 4}, INT64_MAX), "its scales do not fit its weights");
}

}  // namespace
}  // namespace taper::vulkan
