// What is recorded, how it is added up, and how much work instructions are.

#include "tools/profile/profile.h"

#include <gtest/gtest.h>

#include <deque>

#include "taper/method.h"
#include "test/support/test_tensor.h"
#include "tools/profile/profile_text.h"

namespace taper::tools {
namespace {

ProfiledStep step(uint32_t index, const char* op, double seconds, double begin) {
  ProfiledStep made = {};
  made.index = index;
  made.op = op;
  made.kernel = "k";
  made.seconds = seconds;
  made.begin = begin;
  made.node = index;
  return made;
}

TEST(Recorder, PutsStepsIntoTheirCall) {
  Recorder recorder;
  recorder.start_run();
  recorder.begin(0, 4);
  recorder.add(step(0, "a", 3, -1));  // It does not say when it began: at the start,
  recorder.add(step(1, "b", 2, -1));  // or after the one before it.
  recorder.add(step(2, "c", 1, 9));
  recorder.end();
  recorder.add(step(0, "late", 1, 0));  // Of a run that is not recorded.
  ASSERT_EQ(recorder.runs().size(), 1u);
  const std::vector<RecordedEvent>& events = recorder.runs()[0];
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0].step, RecordedEvent::kWhole);
  EXPECT_EQ(events[1].instruction, 4u);
  EXPECT_DOUBLE_EQ(events[1].begin, events[0].begin);
  EXPECT_NEAR(events[2].begin, events[0].begin + 3, 1e-9);
  EXPECT_NEAR(events[2].seconds(), 2, 1e-9);
  EXPECT_NEAR(events[3].begin, events[0].begin + 9, 1e-9);
  ASSERT_EQ(recorder.steps_of({0, 4}).size(), 3u);
  EXPECT_EQ(recorder.steps_of({0, 4})[1].op, "b");
  EXPECT_EQ(recorder.steps_of({0, 4})[1].node, 1);
  EXPECT_TRUE(recorder.steps_of({0, 5}).empty());
}

ProfileRow row(const char* op, double seconds, bool is_step, bool has_steps = false) {
  ProfileRow made;
  made.op = op;
  made.runs_on = "X";
  made.seconds = seconds;
  made.calls = 1;
  made.is_step = is_step;
  made.has_steps = has_steps;
  return made;
}

// Whatever the system allows: at least nothing is made up.
TEST(EventCounters, AreOfTheInstructionsThatRan) {
  EventCounters counters;
  for (int run = 0; run < 2; ++run) {
    counters.begin(0, 3);
    counters.begin(0, 4);
    counters.end();
  }
  for (size_t i = 0; i < kCounters; ++i) {
    const bool is_allowed =
        counters.problem().find(to_text(static_cast<EventCounter>(i))) == std::string::npos;
    EXPECT_EQ(counters.of(0, 3)[i].has_value(), is_allowed) << counters.problem();
    EXPECT_EQ(counters.of(0, 4)[i].has_value(), is_allowed);
    EXPECT_FALSE(counters.of(0, 5)[i].has_value());
    EXPECT_GE(counters.of(0, 4)[i].value_or(0), 0);
  }
}

TEST(Profile, AStepCountsOnce) {
  const std::vector<ProfileRow> rows = {row("call", 10, false, true), row("conv", 6, true),
                                        row("add", 3, true), row("add", 4, false)};
  const std::vector<ProfileGroup> groups = group(rows, GroupBy::kOperator);
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].key, "add");
  EXPECT_EQ(groups[0].seconds, 7);
  EXPECT_EQ(groups[0].rows, 2u);
  EXPECT_EQ(groups[1].key, "conv");
  EXPECT_EQ(groups[2].key, "(around the steps of X)");
  EXPECT_EQ(groups[2].seconds, 1);
}

TEST(Profile, CsvQuotesWhatTheProgramSays) {
  ProfileResult result;
  result.rows = {row("a\"b,c", 0.5, false)};
  EXPECT_NE(profile_csv(result).find("\"a\"\"b,c\""), std::string::npos);
}

// The work of an operator on float32 tensors of these sizes.
Work work(const char* op, const std::vector<std::vector<int32_t>>& sizes) {
  std::deque<test::TestTensor> tensors;
  for (const std::vector<int32_t>& each : sizes) tensors.emplace_back(ScalarType::kFloat, each);
  std::vector<EValue> values;
  for (test::TestTensor& each : tensors) values.emplace_back(&*each);
  std::vector<EValue*> args;
  for (EValue& each : values) args.push_back(&each);
  InstructionInfo info;
  info.op.name = op;
  info.args = {args.data(), args.size()};
  return work_of(info);
}

TEST(Work, IsCountedFromSizes) {
  const Work product = work("aten::mm", {{2, 3}, {3, 5}, {2, 5}});
  EXPECT_EQ(product.operations, 2 * 2 * 3 * 5);
  EXPECT_EQ(product.bytes, 4 * (6 + 15 + 10));
  EXPECT_EQ(work("aten::linear", {{4, 3}, {5, 3}, {5}, {4, 5}}).operations, 2 * 4 * 3 * 5);
  EXPECT_EQ(work("aten::addmm", {{5}, {4, 3}, {3, 5}, {4, 5}}).operations, 2 * 4 * 3 * 5);
  EXPECT_EQ(work("aten::bmm", {{7, 2, 3}, {7, 3, 5}, {7, 2, 5}}).operations, 2 * 7 * 2 * 3 * 5);
  // Eight channels of 6 x 6 from four by windows of 3 x 3.
  EXPECT_EQ(work("aten::convolution", {{1, 4, 6, 6}, {8, 4, 3, 3}, {8}, {1, 8, 6, 6}}).operations,
            2 * 8 * 36 * 4 * 9);
  // Both products of two heads, 4 queries, 6 keys of 8.
  EXPECT_EQ(work("aten::scaled_dot_product_attention",
                 {{1, 2, 4, 8}, {1, 2, 6, 8}, {1, 2, 6, 8}, {1, 2, 4, 8}})
                .operations,
            2 * 2 * (2 * 4 * 6 * 8));
  EXPECT_EQ(work("aten::add", {{4}, {4}, {4}}).operations, 0);
}

}  // namespace
}  // namespace taper::tools
