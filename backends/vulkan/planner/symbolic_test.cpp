// Tests arithmetic with sizes, numbers that inputs hold, and numbers that payloads do not state.

#include <gtest/gtest.h>

#include <cstring>

#include "backends/vulkan/planner/payload_for_test.h"
#include "backends/vulkan/planner/plan.h"

namespace taper::vulkan {
namespace {

using Id = PayloadBuilder::Id;

struct Read {
  explicit Read(PayloadBuilder& payload) : bytes(payload.finish()) {
    const NoConstants none;
    EXPECT_STREQ(graph.read({bytes.data(), bytes.size()}, &none).message(), "");
  }
  PayloadValue& value(Id id) { return graph.values[static_cast<size_t>(id)]; }
  std::string build() { return plan.build(graph, {}).message(); }

  const std::vector<uint8_t> bytes;
  PayloadGraph graph;
  Plan plan;
};

TEST(Symbolic, NumbersAreComputedAndCompared) {
  struct Case {
    const char* name;
    int64_t a, b, result;
  };
  constexpr Case kCases[] = {{"add", 7, -3, 4},       {"sub", 7, -3, 10}, {"mul", 7, -3, -21},
                             {"floordiv", 7, -3, -3}, {"lt", 2, 3, 1},    {"lt", 3, 3, 0},
                             {"gt", 3, 2, 1},         {"gt", 3, 3, 0},    {"le", 3, 3, 1},
                             {"le", 4, 3, 0},         {"ge", 3, 3, 1},    {"ge", 2, 3, 0},
                             {"eq", 3, 3, 1},         {"eq", 2, 3, 0}};
  for (const Case& c : kCases) {
    PayloadBuilder payload;
    const Id result = payload.size(0);
    payload.call(c.name, {payload.integer(c.a), payload.integer(c.b), result});
    payload.output(result);
    Read read(payload);
    EXPECT_EQ(read.build(), "");
    EXPECT_EQ(read.value(result).integer, c.result) << c.name;
  }
}

TEST(Symbolic, NumbersThatAreNotStatedAreFound) {
  PayloadBuilder payload;
  const Id x = payload.input({1, 16, 8}), rows = payload.size(0);
  payload.inputs.push_back(static_cast<uint32_t>(rows));
  const Id y = payload.tensor({16, 8});
  payload.call("aten.view_copy.default", {x, payload.list({rows, payload.integer(8)}), y});
  payload.output(y);
  Read read(payload);
  EXPECT_EQ(read.build(), "");
  EXPECT_EQ(read.value(rows).integer, 16);
  read.value(x).dims[1] = 5;
  read.value(rows).integer = 5;
  EXPECT_EQ(read.build(), "");
  EXPECT_EQ(read.value(y).dims, (Dims{2, {5, 8}}));
}

TEST(Symbolic, NumbersAreReadOffInputs) {
  PayloadBuilder payload;
  const Id table = payload.input({10, 4}), start = payload.size(0), end = payload.size(0);
  const Id places = payload.tensor({2}, wire::DataType::Int32);
  payload.inputs.push_back(static_cast<uint32_t>(places));
  payload.call("et_vk.select_as_symint.default",
               {places, payload.integer(0), payload.integer(-1), start});
  payload.call("add", {start, payload.integer(3), end});
  const Id y = payload.tensor({3, 4});
  payload.call("aten.slice_copy.Tensor",
               {table, payload.integer(0), start, end, payload.integer(1), y});
  payload.output(y);
  Read read(payload);
  EXPECT_EQ(read.build(), "");
  EXPECT_TRUE(read.value(places).is_read);
  const int64_t given[] = {9, 5};
  read.value(places).given = reinterpret_cast<const uint8_t*>(given);
  read.value(places).given_dtype = ScalarType::kLong;
  EXPECT_EQ(read.build(), "");
  EXPECT_EQ(read.value(end).integer, 8);
  int32_t from = 0;  // The third push constant of copy.comp.
  std::memcpy(&from, read.plan.dispatches().at(0).push + 8, sizeof(from));
  EXPECT_EQ(from, 20);
  const int64_t outside[] = {0, 9};
  read.value(places).given = reinterpret_cast<const uint8_t*>(outside);
  EXPECT_EQ(read.build(), "");
  EXPECT_EQ(read.value(y).dims, (Dims{2, {1, 4}}));
}

TEST(Symbolic, NumbersAreNotReadOffWhatTheDeviceComputes) {
  PayloadBuilder payload;
  const Id places = payload.tensor({2}, wire::DataType::Int32), number = payload.size(0);
  payload.inputs.push_back(static_cast<uint32_t>(places));
  const Id made = payload.tensor({2}, wire::DataType::Int32);
  payload.call("aten.neg.default", {places, made});
  payload.call("et_vk.select_as_symint.default",
               {made, payload.integer(0), payload.integer(0), number});
  payload.output(number);
  Read read(payload);
  EXPECT_EQ(read.build(), "it reads a number off what is no input of integers");
}

}  // namespace
}  // namespace taper::vulkan
