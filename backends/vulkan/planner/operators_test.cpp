// Plans every operator with arguments that nobody would write: it must refuse them or give a sound
// plan, and compute nothing that overflows on the way. TAPER_ROUNDS sets how many times.

#include "backends/vulkan/planner/operators.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <random>
#include <set>

#include "backends/vulkan/planner/payload_for_test.h"
#include "backends/vulkan/planner/plan.h"

namespace taper::vulkan {
namespace {

using Id = PayloadBuilder::Id;

std::vector<const Operator*> all_operators() {
  std::vector<const Operator*> all;
  for (const Span<const Operator> family : operator_families()) {
    for (const Operator& each : family) all.push_back(&each);
  }
  return all;
}

// Values that arguments are drawn from.
class Pool {
 public:
  Pool(PayloadBuilder& payload, std::mt19937& random) : payload_(payload), random_(random) {
    for (int i = 0; i < 4; ++i) tensors_.push_back(input());
  }

  Id draw() {
    switch (random_() % 9) {
      case 0:
        return payload_.none();
      case 1:
        return payload_.integer(integer());
      case 2:
        return payload_.integers(integers());
      case 3:
        return payload_.real(real());
      case 4:
        return payload_.flag(random_() % 2 != 0);
      case 5:
        return payload_.list({tensor(), tensor()});
      case 6:
        return payload_.list({payload_.integer(integer()), payload_.integer(integer())});
      default:
        return tensor();
    }
  }

  Id tensor() { return tensors_[random_() % tensors_.size()]; }

  // Often of the sizes of an input, since most results are.
  Id result() {
    const Id one = payload_.tensor(sizes(), dtype());
    if (random_() % 4 != 0) return one;
    return payload_.list({one, payload_.tensor(sizes(), dtype())});
  }

 private:
  Id input() {
    const Id id = payload_.tensor(sizes(), dtype());
    payload_.inputs.push_back(static_cast<uint32_t>(id));
    return id;
  }

  wire::DataType dtype() {
    constexpr wire::DataType kTypes[] = {wire::DataType::Int64, wire::DataType::Int32,
                                         wire::DataType::Bool, wire::DataType::UInt8};
    return random_() % 2 != 0 ? wire::DataType::Float32 : kTypes[random_() % 4];
  }

  PayloadBuilder::Sizes sizes() {
    if (!seen_.empty() && random_() % 2 != 0) return seen_[random_() % seen_.size()];
    constexpr uint32_t kSizes[] = {0, 1, 2, 3, 4, 6, 8, 65536, 0x7fffffff, 1 << 20};
    PayloadBuilder::Sizes made(random_() % 6);
    for (uint32_t& size : made) size = kSizes[random_() % (random_() % 8 != 0 ? 7 : 10)];
    uint64_t bytes = 8;
    for (const uint32_t size : made) {
      bytes *= size > 1 ? size : 1;
      if (bytes > INT32_MAX) return {2, 3};
    }
    seen_.push_back(made);
    return made;
  }

  int64_t integer() {
    constexpr int64_t kAwkward[] = {INT64_MAX,        INT64_MIN, INT64_MAX / 2, INT32_MAX,
                                    int64_t{1} << 31, INT32_MIN, 65536,         1 << 20};
    if (random_() % 4 == 0) return kAwkward[random_() % 8];
    return static_cast<int64_t>(random_() % 9) - 3;
  }

  std::vector<int64_t> integers() {
    std::vector<int64_t> made(random_() % 6);
    for (int64_t& item : made) item = integer();
    return made;
  }

  double real() {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr double kReals[] = {0, 1, -1, 0.5, 1e30, -1e300, kInfinity, -kInfinity, 1e-40, 2};
    const size_t i = random_() % 11;
    return i == 10 ? std::numeric_limits<double>::quiet_NaN() : kReals[i];
  }

  PayloadBuilder& payload_;
  std::mt19937& random_;
  std::vector<PayloadBuilder::Sizes> seen_;
  std::vector<Id> tensors_;
};

void expect_sound(const Plan& plan, const char* name) {
  for (const Dispatch& dispatch : plan.dispatches()) {
    ASSERT_GT(dispatch.num_bindings, 0) << name;
    ASSERT_LE(dispatch.num_bindings, Dispatch::kMaxBindings) << name;
    ASSERT_LE(dispatch.num_constants, Dispatch::kMaxConstants) << name;
    for (size_t i = 0; i < dispatch.num_bindings; ++i) {
      const ValueId value = dispatch.bindings[i].value;
      EXPECT_TRUE(value == kFaultValue || value < plan.places().size()) << name;
    }
  }
}

TEST(Operators, HaveDifferentNames) {
  std::set<std::string> names;
  for (const Operator* each : all_operators()) {
    EXPECT_TRUE(names.insert(each->name).second) << each->name;
    EXPECT_EQ(find_operator(each->name), each);
  }
  EXPECT_GT(names.size(), 100u);
}

TEST(Operators, PlanOrRefuseAnyArguments) {
  const char* rounds_text = std::getenv("TAPER_ROUNDS");
  const int rounds = rounds_text == nullptr ? 60 : std::atoi(rounds_text);
  std::mt19937 random(3);
  int planned = 0;
  for (const Operator* op : all_operators()) {
    for (int round = 0; round < rounds; ++round) {
      PayloadBuilder payload;
      Pool pool(payload, random);
      std::vector<Id> args;
      for (size_t i = 0; i < op->arguments; ++i) {
        args.push_back(i == 0 && random() % 4 != 0 ? pool.tensor() : pool.draw());
      }
      args.push_back(random() % 8 == 0 ? payload.size(1) : pool.result());
      payload.call(op->name, args);
      const std::vector<uint8_t> bytes = payload.finish();
      PayloadGraph graph;
      Status status = graph.read({bytes.data(), bytes.size()}, nullptr);
      ASSERT_TRUE(status.ok()) << status.message();
      Plan plan;
      Limits limits;
      graph.in_half = random() % 2 == 0;
      limits.matrix_units = random() % 2 == 0;
      limits.byte_products = random() % 2 == 0;
      if (random() % 2 == 0) std::fill_n(limits.byte_fragment, 3, 16);
      if (!plan.build(graph, limits).ok()) continue;
      ++planned;
      expect_sound(plan, op->name);
    }
  }
  EXPECT_GT(planned, 0);
}

}  // namespace
}  // namespace taper::vulkan
