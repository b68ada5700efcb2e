#include "exir/memory/storage.h"

#include <gtest/gtest.h>

#include "exir/ir/body_for_test.h"
#include "exir/passes/convert/to_out_variants.h"

namespace taper::exir {
namespace {

struct Assigned {
  std::unique_ptr<Graph> graph;
  Schedule schedule;
  Storages storages;

  const Place& place(std::string_view name) const {
    for (const auto& [value, place] : storages.places) {
      if (value->name == name) return place;
    }
    throw Failure("no value " + std::string(name));
  }
};

Assigned assign(const std::string& body, IoMemory io = IoMemory::kPlanned) {
  Assigned out;
  out.graph = parse_body(body);
  to_out_variants(*out.graph, [](std::string_view, const Node&) { return true; });
  out.schedule = make_schedule(*out.graph);
  out.storages = assign_storages(*out.graph, out.schedule, io);
  return out;
}

TEST(Storage, ElementWiseResultsTakeTheirDyingOperand) {
  const Assigned a = assign(R"(  input %x: float32[8]
  %a: float32[8] = aten::relu(%x)
  %b: float32[8] = aten::add.Tensor(%a, %x, 1)
  %c: float32[8] = aten::mul.Tensor(%b, %a)
  return %c)");
  EXPECT_NE(a.place("a").storage, a.place("x").storage);  // x is read later.
  EXPECT_EQ(a.place("b").storage, a.place("x").storage);
  EXPECT_EQ(a.storages.rows.size(), 2u);
}

TEST(Storage, ViewsAreOffsetsIntoTheirBase) {
  const Assigned a = assign(R"(  input %x: float32[4, 2]
  %a: float32[8] = aten::view_copy(%x, [8])
  %b: float32[3] = aten::slice_copy.Tensor(%a, 0, 2, 5, 1)
  %c: float32[2] = aten::select_copy.int(%x, 0, -1)
  %d: float32[4] = aten::select_copy.int(%x, 1, 0)
  return %b, %c, %d)");
  EXPECT_EQ(a.place("b").storage, a.place("x").storage);
  EXPECT_EQ(a.place("b").offset, 8u);
  EXPECT_EQ(a.place("c").offset, 24u);
  EXPECT_NE(a.place("d").storage, a.place("x").storage);  // A column is not a view.
  EXPECT_EQ(a.storages.elided.size(), 3u);
}

TEST(Storage, StatesAreWrittenWhereTheyLie) {
  const Assigned a = assign(R"(  input %x: float32[1]
  state %s: float32[4] "s" = zeros
  %n: float32[4] = aten::slice_scatter(%s, %x, 0, 1, 2, 1)
  mutate %s = %n
  %y: float32[4] = aten::mul.Scalar(%n, 2)
  return %y)");
  EXPECT_EQ(a.place("n").storage, a.place("s").storage);
  EXPECT_EQ(a.storages.written_back.size(), 1u);
  EXPECT_NE(a.place("y").storage, a.place("s").storage);
}

TEST(Storage, AStateThatIsReadLaterIsNotOverwritten) {
  const Assigned a = assign(R"(  input %x: float32[4]
  state %s: float32[4] "s" = zeros
  %n: float32[4] = aten::add.Tensor(%s, %x, 1)
  %y: float32[4] = aten::mul.Tensor(%s, %x)
  mutate %s = %n
  return %y, %s)");
  EXPECT_NE(a.place("n").storage, a.place("s").storage);
  EXPECT_TRUE(a.storages.written_back.empty());
}

TEST(Storage, InputsAndOutputsOfTheApplicationAreNotPlanned) {
  const Assigned a = assign(R"(  input %x: float32[4]
  state %s: float32[4] "s" = zeros
  %a: float32[4] = aten::relu(%x)
  %n: float32[4] = aten::add.Tensor(%s, %a, 1)
  %v: float32[2, 2] = aten::view_copy(%a, [2, 2])
  %y: float32[4] = aten::mul.Tensor(%a, %a)
  mutate %s = %n
  return %y, %v, %n, %x)",
                            IoMemory::kApplication);
  EXPECT_EQ(a.storages.places.count(a.graph->inputs[0].value()), 0u);
  for (const size_t bound : {0, 1, 3}) {
    EXPECT_EQ(a.storages.places.count(a.graph->outputs[bound].value()), 0u) << bound;
  }
  EXPECT_EQ(a.place("n").storage, a.place("s").storage);  // The new value of a state stays there.
  EXPECT_TRUE(a.storages.elided.empty());                 // The view is a copy into its buffer.
  EXPECT_EQ(a.storages.rows.size(), 2u);                  // s and a.
}

TEST(Storage, ASplitWithAnOutputOfTheApplicationCopiesAllOfItsResults) {
  const Assigned a = assign(R"(  input %x: float32[4, 2]
  %a: float32[4, 2] = aten::relu(%x)
  %b: float32[2, 2], %c: float32[2, 2] = aten::split_with_sizes_copy(%a, [2, 2])
  return %b)",
                            IoMemory::kApplication);
  EXPECT_NE(a.place("c").storage, a.place("a").storage);  // The kernel reads a and writes c.
  EXPECT_TRUE(a.storages.elided.empty());
}

TEST(Storage, UnboundedSizesAreRefusedByName) {
  try {
    assign(R"(  range s7 = [1, inf]
  input %x: float32[s7]
  return %x)");
    FAIL() << "s7 has no bound";
  } catch (const Failure& failure) {
    EXPECT_NE(std::string(failure.what()).find("s7 has no upper bound"), std::string::npos);
  }
}

TEST(Storage, DynamicSizesCountWithTheirBound) {
  const Assigned a = assign(R"(  range s0 = [1, 10]
  input %x: float32[s0, 3]
  return %x)");
  EXPECT_EQ(a.storages.rows[0].bytes, 120u);
}

}  // namespace
}  // namespace taper::exir
