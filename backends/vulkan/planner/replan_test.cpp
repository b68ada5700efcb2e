// Tests plans for other sizes than the largest, whose tensors lie where the first plan has put them:
// nothing may be read after another tensor was written there.

#include <gtest/gtest.h>

#include <random>

#include "backends/vulkan/planner/plan_for_test.h"

namespace taper::vulkan {
namespace {

using Id = PayloadBuilder::Id;

bool overlap(const Place& a, const Place& b) {
  return a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

// A message for each tensor of the arena that is read, by a dispatch or as an output, but was not
// written since its memory was written for another.
std::string stale_reads(const Planned& planned) {
  const std::vector<Place>& places = planned.plan.places();
  std::vector<bool> holds(places.size());  // Of roots: whether its own elements lie there.
  const auto in_arena = [&](ValueId root) {
    return places[root].memory == Place::Memory::kArena && places[root].root == root &&
           places[root].first <= places[root].last;
  };
  std::string found;
  const auto write = [&](ValueId value) {
    const ValueId root = places[value].root;
    for (ValueId other = 0; other < places.size(); ++other) {
      if (in_arena(other) && overlap(places[other], places[root])) holds[other] = false;
    }
    holds[root] = true;
  };
  const auto read = [&](ValueId value, const std::string& reader) {
    const ValueId root = places[value].root;
    if (in_arena(root) && !holds[root]) found += reader + " reads " + std::to_string(value) + "; ";
  };
  for (const ValueId input : planned.graph.inputs) {
    if (planned.graph.values[input].kind == Kind::kTensor) write(input);
  }
  for (const Dispatch& dispatch : planned.plan.dispatches()) {
    const std::string reader = "call " + std::to_string(dispatch.call);
    for (const bool writes : {false, true}) {
      for (size_t i = 0; i < dispatch.num_bindings; ++i) {
        const Dispatch::Binding& binding = dispatch.bindings[i];
        if (binding.writes != writes || binding.value == kFaultValue) continue;
        if (!writes) read(binding.value, reader);
        if (writes && in_arena(places[binding.value].root)) write(binding.value);
      }
    }
  }
  for (const ValueId output : planned.graph.outputs) read(output, "the caller");
  return found;
}

void set_rows(Planned& planned, Id input, int64_t rows) {
  planned.graph.values[static_cast<size_t>(input)].dims[0] = rows;
}

// With one row the view of a part is a walk through the whole, which the first plan does not keep
// until the part is read again.
TEST(Replan, StoresAViewWhereTheFirstPlanDoes) {
  PayloadBuilder payload;
  const Id in = payload.input({8, 6}), x = payload.tensor({8, 6}), part = payload.tensor({8, 4});
  const Id flat = payload.tensor({32}), a = payload.tensor({32}), b = payload.tensor({8, 6});
  const Id c = payload.tensor({8, 6}), d = payload.tensor({8, 4});
  const Id zero = payload.integer(0), one = payload.integer(1), four = payload.integer(4);
  payload.call("aten.neg.default", {in, x});
  payload.call("aten.slice_copy.Tensor", {x, one, zero, four, one, part});
  payload.call("aten.view_copy.default", {part, payload.integers({-1}), flat});
  payload.call("aten.neg.default", {flat, a});
  payload.call("aten.neg.default", {in, b});
  payload.call("aten.neg.default", {b, c});
  payload.call("aten.neg.default", {part, d});
  for (const Id id : {a, c, d}) payload.output(id);
  Planned planned(payload.finish());
  ASSERT_STREQ(planned.status.message(), "");
  EXPECT_EQ(stale_reads(planned), "");
  for (const int64_t rows : {1, 5, 8}) {
    set_rows(planned, in, rows);
    EXPECT_STREQ(planned.plan.build(planned.graph, Limits()).message(), "") << rows;
    EXPECT_EQ(stale_reads(planned), "") << rows;
  }
}

// With the largest sizes the part is the whole, and its view needs no memory of its own.
TEST(Replan, StoresAViewThatTheFirstPlanWalks) {
  PayloadBuilder payload;
  const Id in = payload.input({4, 8}), other = payload.input({8, 1}), x = payload.tensor({4, 8});
  const Id n = payload.size(8), part = payload.tensor({4, 8}), turned = payload.tensor({4, 8});
  const Id flat = payload.tensor({32}), a = payload.tensor({4, 8}), b = payload.tensor({4, 8});
  const Id c = payload.tensor({32});
  const Id zero = payload.integer(0), one = payload.integer(1);
  payload.call("sym_size.int", {other, zero, n});
  payload.call("aten.neg.default", {in, x});
  payload.call("aten.slice_copy.Tensor", {x, one, zero, n, one, part});
  payload.call("aten.permute_copy.default", {part, payload.integers({0, 1}), turned});
  payload.call("aten.view_copy.default", {turned, payload.integers({-1}), flat});
  payload.call("aten.neg.default", {in, a});
  payload.call("aten.neg.default", {a, b});
  payload.call("aten.neg.default", {flat, c});
  for (const Id id : {b, c}) payload.output(id);
  Planned planned(payload.finish());
  ASSERT_STREQ(planned.status.message(), "");
  EXPECT_EQ(stale_reads(planned), "");
  for (const int64_t columns : {3, 1, 8}) {
    set_rows(planned, other, columns);
    EXPECT_STREQ(planned.plan.build(planned.graph, Limits()).message(), "") << columns;
    EXPECT_EQ(stale_reads(planned), "") << columns;
    EXPECT_EQ(planned.graph.values[static_cast<size_t>(c)].dims, (Dims{1, {4 * columns}}));
  }
}

// As many groups as channels need no product, and so no memory; one group does.
TEST(Replan, OfAConvolutionWhoseGroupsBecomeOne) {
  PayloadBuilder payload;
  const Id x = payload.input({1, 4, 5, 5}), w = payload.input({4, 1, 3, 3});
  const Id n = payload.size(4), y = payload.tensor({1, 4, 3, 3}), sum = payload.tensor({1, 4, 3});
  const Id zero = payload.integer(0), one = payload.integer(1), no = payload.none();
  const Id ones = payload.integers({1, 1}), zeros = payload.integers({0, 0});
  payload.call("sym_size.int", {x, one, n});
  payload.call("aten.convolution.default",
               {x, w, no, ones, zeros, ones, payload.flag(false), zeros, n, y});
  payload.call("aten.sum.dim_IntList", {y, payload.integers({3}), payload.flag(false), zero, sum});
  payload.output(sum);
  Planned planned(payload.finish());
  ASSERT_STREQ(planned.status.message(), "");
  for (const int64_t channels : {1, 3, 4}) {
    planned.graph.values[static_cast<size_t>(x)].dims[1] = channels;
    planned.graph.values[static_cast<size_t>(w)].dims[0] = channels;
    EXPECT_STREQ(planned.plan.build(planned.graph, Limits()).message(), "") << channels;
    EXPECT_EQ(stale_reads(planned), "") << channels;
  }
}

// A convolution without images needs none of the memory that the first plan took for it.
TEST(Replan, OfAConvolutionWithoutImages) {
  PayloadBuilder payload;
  const Id x = payload.input({4, 2, 5, 5}), w = payload.input({3, 2, 3, 3});
  const Id y = payload.tensor({4, 3, 3, 3}), sum = payload.tensor({4, 3, 3});
  const Id zero = payload.integer(0), one = payload.integer(1), no = payload.none();
  const Id ones = payload.integers({1, 1}), zeros = payload.integers({0, 0});
  payload.call("aten.convolution.default",
               {x, w, no, ones, zeros, ones, payload.flag(false), zeros, one, y});
  payload.call("aten.sum.dim_IntList", {y, payload.integers({3}), payload.flag(false), zero, sum});
  payload.output(sum);
  Planned planned(payload.finish());
  ASSERT_STREQ(planned.status.message(), "");
  for (const int64_t images : {0, 2}) {
    set_rows(planned, x, images);
    EXPECT_STREQ(planned.plan.build(planned.graph, Limits()).message(), "") << images;
  }
}

// Graphs of views, cuts, turns and what reads them as a whole. Two inputs have 8 rows at most, and
// the numbers of their rows are where others are cut.
class RandomViews {
 public:
  explicit RandomViews(std::mt19937& random) : random_(random) {
    const Id zero = payload_.integer(0);
    for (Id& input : inputs) {
      input = payload_.input({8, 8});
      made_.push_back({input, {8, 8}});
      const Id rows = payload_.size(8);
      payload_.call("sym_size.int", {input, zero, rows});
      ends_.push_back(rows);
    }
    ends_.push_back(payload_.integer(4));
    for (int i = 0; i < 24; ++i) add();
    payload_.output(made_.back().id);
    payload_.output(made_[made_.size() / 2].id);
  }
  std::vector<uint8_t> finish() { return payload_.finish(); }

  Id inputs[2];

 private:
  struct Made {
    Id id;
    PayloadBuilder::Sizes sizes;  // The largest.
  };

  void add() {
    const Made from = made_[made_.size() - 1 - random_() % std::min<size_t>(made_.size(), 5)];
    const uint32_t rows = from.sizes[0], columns = from.sizes[1];
    switch (random_() % 5) {
      case 0: {
        const uint32_t width = 1u << (random_() % 4);
        if (rows * columns % width != 0) return;
        const auto last = static_cast<int64_t>(width);
        call("aten.view_copy.default", {from.id, payload_.integers({-1, last})},
             {rows * columns / width, width});
        return;
      }
      case 1:
        call("aten.permute_copy.default", {from.id, payload_.integers({1, 0})}, {columns, rows});
        return;
      case 2: {
        const size_t d = random_() % 2, end = random_() % ends_.size();
        PayloadBuilder::Sizes sizes = from.sizes;
        sizes[d] = std::min(sizes[d], end < 2 ? 8u : 4u);
        call("aten.slice_copy.Tensor",
             {from.id, payload_.integer(static_cast<int64_t>(d)), payload_.integer(0), ends_[end],
              payload_.integer(1)},
             sizes);
        return;
      }
      default:
        call("aten.neg.default", {from.id}, from.sizes);
    }
  }
  void call(const char* name, std::vector<Id> args, const PayloadBuilder::Sizes& sizes) {
    const Id result = payload_.tensor(sizes);
    args.push_back(result);
    payload_.call(name, args);
    made_.push_back({result, sizes});
  }

  std::mt19937& random_;
  PayloadBuilder payload_;
  std::vector<Made> made_;
  std::vector<Id> ends_;
};

TEST(Replan, OfAnyGraphReadsNothingStale) {
  std::mt19937 random(1);
  int planned_again = 0;
  for (int round = 0; round < 400; ++round) {
    RandomViews views(random);
    Planned planned(views.finish());
    ASSERT_STREQ(planned.status.message(), "") << "round " << round;
    ASSERT_EQ(stale_reads(planned), "") << "round " << round;
    for (int again = 0; again < 6; ++again) {
      for (const Id input : views.inputs) {
        set_rows(planned, input, 1 + static_cast<int64_t>(random() % 8));
      }
      const Status status = planned.plan.build(planned.graph, Limits());
      ASSERT_NE(status.error(), Error::kInternal) << "round " << round;
      if (!status.ok()) continue;  // A view that these sizes do not allow.
      ++planned_again;
      ASSERT_EQ(stale_reads(planned), "") << "round " << round;
    }
  }
  EXPECT_GT(planned_again, 800);
}

}  // namespace
}  // namespace taper::vulkan
