// Tests that an execution does not allocate from the heap and writes only its outputs.

#include "test/backends/backend_test.h"
#include "test/support/heap_counter.h"

namespace taper::test {
namespace {

class Memory : public BackendTest {};

TEST_P(Memory, ExecuteTakesNoneFromTheHeap) {
  const auto program = load(lower(scaled_sum("s0")));
  Method& method = *program->module().method("forward");
  FloatTensor x({5, 4}, some_rows(5));
  const auto run = [&] { return method.set_input(0, x.value()).ok() && method.execute().ok(); };
  ASSERT_TRUE(run());
  const uint64_t before = heap_calls();
  ASSERT_TRUE(run());
  ASSERT_TRUE(run());
  EXPECT_EQ(heap_calls(), before);
}

TEST_P(Memory, InputsAndConstantsStayAsTheyWere) {
  const auto program = load(lower(scaled_sum("3")));
  FloatTensor x({3, 4}, some_rows(3));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(floats_of(program->run({x.value()}).at(0)), scaled_sum_of(some_rows(3)));
    EXPECT_EQ(x.values(), some_rows(3));
  }
}

TEST_P(Memory, OutputsAliasNothing) {
  const auto program = load(lower(R"(graph "forward" {
    input %x: float32[2, 4]
    constant %one: float32[1] = {1}
    %y: float32[2, 4] = aten::add.Tensor(%x, %one)
    %z: float32[2, 4] = aten::mul.Tensor(%y, %x)
    return %y, %z
  })"));
  FloatTensor x({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  const std::vector<EValue> outputs = program->run({x.value()});
  ASSERT_EQ(outputs.size(), 2u) << program->error();
  std::fill(x.values().begin(), x.values().end(), -1.0F);
  EXPECT_EQ(floats_of(outputs[0]), (std::vector<float>{2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(floats_of(outputs[1]), (std::vector<float>{2, 6, 12, 20, 30, 42, 56, 72}));
  float* sums = outputs[0].to_tensor().mutable_data_ptr<float>();
  std::fill(sums, sums + 8, -1.0F);
  EXPECT_EQ(floats_of(outputs[1]), (std::vector<float>{2, 6, 12, 20, 30, 42, 56, 72}));
}

// Passes a backend on, and asks the device about each payload that is loaded.
class Asking final : public BackendInterface, public MemoryListener {
 public:
  explicit Asking(Device& device) : device_(device) {}
  bool is_available() const override { return device_.interface().is_available(); }
  Result<void*> init(BackendInitContext& context, Span<const uint8_t> payload,
                     CompileSpecs specs) override {
    Result<void*> handle = device_.interface().init(context, payload, specs);
    if (handle.ok()) device_.tell_memory(*handle, *this);
    return handle;
  }
  Status execute(BackendExecutionContext& context, void* handle,
                 Span<EValue* const> args) override {
    return device_.interface().execute(context, handle, args);
  }
  void destroy(void* handle) override { device_.interface().destroy(handle); }
  void add(const MemoryBlock& block) override { blocks.push_back({block, {}}); }
  void add(const PlacedResult& result) override { blocks.back().second.push_back(result); }

  std::vector<std::pair<MemoryBlock, std::vector<PlacedResult>>> blocks;

 private:
  Device& device_;
};

// Results that are needed at the same step lie beside each other, within their block.
TEST_P(Memory, ResultsAreToldToLieApart) {
  Asking backend(device());
  DelegatedProgram program(lower(R"(graph "forward" {
    input %x: float32[8, 16]
    constant %w: float32[1] = {3}
    %a: float32[8, 16] = aten::mul.Tensor(%x, %w)
    %b: float32[8, 16] = aten::add.Tensor(%a, %x)
    %c: float32[8, 16] = aten::mul.Tensor(%b, %a)
    %d: float32[8, 16] = aten::add.Tensor(%c, %a)
    %e: float32[8, 16] = aten::mul.Tensor(%d, %b)
    return %e
  })")
                               .emit(),
                           {{subject().device->identity.delegate_id, &backend}});
  ASSERT_EQ(program.load_error(), "");
  for (const auto& [block, results] : backend.blocks) {
    EXPECT_STRNE(block.what, "");
    for (size_t i = 0; i < results.size(); ++i) {
      const PlacedResult& one = results[i];
      EXPECT_LE(one.first, one.last);
      EXPECT_LE(one.offset + one.bytes, block.bytes) << block.what;
      EXPECT_LT(one.node, 5);
      for (size_t k = 0; k < i; ++k) {
        const PlacedResult& other = results[k];
        if (one.first > other.last || other.first > one.last) continue;
        EXPECT_TRUE(one.offset + one.bytes <= other.offset ||
                    other.offset + other.bytes <= one.offset)
            << block.what << " " << i << " and " << k;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Suite, Memory, testing::ValuesIn(all_subjects()), subject_name);

}  // namespace
}  // namespace taper::test
