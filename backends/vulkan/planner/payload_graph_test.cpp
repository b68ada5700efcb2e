// Tests that every rule of a payload's form is held.

#include "backends/vulkan/planner/payload_graph.h"

#include <gtest/gtest.h>

#include "backends/vulkan/planner/operators.h"
#include "backends/vulkan/planner/payload_for_test.h"

namespace taper::vulkan {
namespace {

// %y = relu(%x + %w)
struct Sum {
  PayloadBuilder payload;
  PayloadBuilder::Id x = payload.input({2, 3}), w = payload.constant({3}, {1, 2, 3});
  PayloadBuilder::Id one = payload.integer(1), sum = payload.tensor({2, 3});
  PayloadBuilder::Id y = payload.tensor({2, 3});

  std::vector<uint8_t> finish() {
    payload.call("aten.add.Tensor", {x, w, one, sum});
    payload.call("aten.relu.default", {sum, y});
    payload.output(y);
    return payload.finish();
  }
};

TEST(PayloadGraph, HasValuesCallsAndConstants) {
  Sum sum;
  const std::vector<uint8_t> bytes = sum.finish();
  PayloadGraph graph;
  const NoConstants none;
  ASSERT_EQ(graph.read({bytes.data(), bytes.size()}, &none).message(), std::string());
  ASSERT_EQ(graph.calls.size(), 2u);
  EXPECT_STREQ(graph.calls[0].op->name, "aten.add.Tensor");
  EXPECT_EQ(graph.inputs, std::vector<ValueId>{0});
  EXPECT_EQ(graph.outputs, std::vector<ValueId>{4});
  EXPECT_EQ(graph.values[0].dims, (Dims{2, {2, 3}}));
  EXPECT_EQ(graph.values[2].integer, 1);
  ASSERT_EQ(graph.values[1].data.size(), 12u);
  float last;
  std::memcpy(&last, &graph.values[1].data[8], sizeof(last));
  EXPECT_EQ(last, 3);
}

TEST(PayloadGraph, NoPartOfOneIsOne) {
  Sum sum;
  const std::vector<uint8_t> bytes = sum.finish();
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(read_problem({bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size)}), "")
        << size << " of " << bytes.size() << " bytes";
  }
}

TEST(PayloadGraph, ItsHeaderIsRight) {
  Sum sum;
  const std::vector<uint8_t> bytes = sum.finish();
  const auto with = [&](size_t at, uint64_t value, size_t count) {
    std::vector<uint8_t> changed = bytes;
    PayloadBuilder::put(changed, at, value, count);
    return read_problem(changed);
  };
  const std::string overlap = "the parts of the payload overlap or do not fit into it";
  EXPECT_EQ(with(4, 'X', 1),
            "not a payload of the Vulkan delegate: it does not have the header VH00");
  EXPECT_EQ(with(8, 29, 2), overlap);
  EXPECT_EQ(with(10, 8, 4), overlap);
  EXPECT_EQ(with(10, UINT32_MAX, 4), overlap);
  EXPECT_EQ(with(14, UINT32_MAX, 4), overlap);
  EXPECT_EQ(with(18, 40, 4), overlap);
  EXPECT_EQ(with(18, bytes.size() + 1, 4), overlap);
  EXPECT_EQ(with(22, 13, 8), "the constants of the payload do not fit into it");
  EXPECT_EQ(with(36, 'X', 1), "the graph of the payload is not a valid VK00 flatbuffer");
}

TEST(PayloadGraph, IsAligned) {
  Sum sum;
  std::vector<uint8_t> bytes = sum.finish();
  bytes.insert(bytes.begin(), 0);
  PayloadGraph graph;
  EXPECT_STREQ(graph.read({bytes.data() + 1, bytes.size() - 1}, nullptr).message(),
               "the graph of the payload is not aligned");
}

TEST(PayloadGraph, ItsNumbersNameValues) {
  constexpr const char* kCall = "a call of the payload names a value that is not there";
  for (const int32_t wrong : {-1, 99, INT32_MAX, INT32_MIN}) {
    Sum sum;
    sum.payload.call("aten.relu.default", {sum.x, wrong});
    EXPECT_EQ(read_problem(sum.finish()), kCall);
    Sum list;
    list.payload.list({list.x, wrong});
    EXPECT_EQ(read_problem(list.finish()), "a list of the payload names a value that is not there");
    Sum output;
    output.payload.output(wrong);
    EXPECT_EQ(read_problem(output.finish()), "an argument of the payload is not there");
    Sum input;
    input.payload.inputs.push_back(static_cast<uint32_t>(wrong));
    EXPECT_EQ(read_problem(input.finish()), "an argument of the payload is not there");
  }
  Sum nested;
  nested.payload.list({nested.payload.list({nested.x})});
  EXPECT_EQ(read_problem(nested.finish()), "a list of the payload contains a list");
}

TEST(PayloadGraph, ItsArgumentsAreTensorsAndSizes) {
  Sum twice;
  twice.payload.inputs.push_back(0);
  const std::string again = "an input of the payload is a constant, or is given twice";
  EXPECT_EQ(read_problem(twice.finish()), again);
  Sum constant;
  constant.payload.inputs.push_back(1);
  EXPECT_EQ(read_problem(constant.finish()), again);
  Sum list;
  list.payload.inputs.push_back(static_cast<uint32_t>(list.payload.integers({1})));
  EXPECT_EQ(read_problem(list.finish()),
            "an argument of the payload is neither a tensor nor a number");
  Sum number;
  number.payload.output(number.one);
  EXPECT_EQ(read_problem(number.finish()),
            "an output of the payload is neither a tensor nor a size");
}

TEST(PayloadGraph, ItsConstantsHaveTheirBytes) {
  const std::string too_short =
      "the data of a constant of the payload is not as long as its sizes say";
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{8}}) {
    PayloadBuilder payload;
    payload.constant({3}, {1, 2, 3}, bytes);
    EXPECT_EQ(read_problem(payload.finish()), too_short);
  }
  for (const uint64_t bytes : {uint64_t{16}, UINT64_MAX}) {
    PayloadBuilder payload;
    payload.constant({3}, {1, 2, 3}, bytes);
    EXPECT_EQ(read_problem(payload.finish()), "a constant of the payload does not fit into it");
  }
  PayloadBuilder missing;
  missing.tensor({3}, wire::DataType::Float32, 0);
  EXPECT_EQ(read_problem(missing.finish()), "a constant of the payload is not there");
}

TEST(PayloadGraph, ItsNumbersOfThingsAreBounded) {
  Sum values;
  for (int i = 0; i < 70000; ++i) values.payload.none();
  EXPECT_EQ(read_problem(values.finish()), "the payload has too many values or calls");
  Sum calls;
  for (int i = 0; i < 20000; ++i) calls.payload.call("aten.relu.default", {calls.x, calls.y});
  EXPECT_EQ(read_problem(calls.finish()), "the payload has too many values or calls");
  Sum items;  // One long list in many calls.
  const int32_t list = items.payload.list(std::vector<int32_t>(7000, items.x));
  for (int i = 0; i < 10; ++i) items.payload.call("aten.cat.default", {list, items.one, items.y});
  EXPECT_EQ(read_problem(items.finish()), "the lists of the payload are too long");
}

TEST(PayloadGraph, ItsTensorsAreBounded) {
  PayloadBuilder rank;
  rank.tensor({1, 1, 1, 1, 1, 1, 1, 1, 1});
  EXPECT_EQ(read_problem(rank.finish()), "a tensor of the payload has too many dimensions");
  for (const PayloadBuilder::Sizes& sizes :
       {PayloadBuilder::Sizes{65536, 65536}, PayloadBuilder::Sizes{UINT32_MAX},
        PayloadBuilder::Sizes{0, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX}}) {
    PayloadBuilder payload;
    payload.tensor(sizes);
    EXPECT_EQ(read_problem(payload.finish()), "a tensor of the payload is too large");
  }
  PayloadBuilder dtype;
  dtype.tensor({1}, wire::DataType::Unset);
  EXPECT_EQ(read_problem(dtype.finish()), "a tensor of the payload has no known dtype");
}

TEST(PayloadGraph, ItsCallsAreOfOperatorsOfTheTable) {
  Sum sum;
  sum.payload.call("aten.nothing.default", {sum.x, sum.y});
  const std::vector<uint8_t> bytes = sum.finish();
  PayloadGraph graph;
  const Status status = graph.read({bytes.data(), bytes.size()}, nullptr);
  EXPECT_EQ(status.error(), Error::kOperatorMissing);
  EXPECT_EQ(graph.unknown_operator, "aten.nothing.default");
  for (const std::vector<int32_t>& args : {std::vector<int32_t>{}, {0}, {0, 0, 3}}) {
    Sum count;
    count.payload.call("aten.relu.default", args);
    EXPECT_EQ(read_problem(count.finish()),
              "a call of the payload has the wrong number of arguments");
  }
}

}  // namespace
}  // namespace taper::vulkan
