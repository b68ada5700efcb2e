// Tests that results depend neither on a backend's number of threads nor on its other users.

#include <cmath>
#include <thread>

#include "test/backends/backend_test.h"

namespace taper::test {
namespace {

// Large enough to be divided among threads. Nodes that a backend does not take run on kernels.
constexpr char kLayers[] = R"(graph "forward" {
  input %x: float32[96, 128]
  input %w: float32[128, 160]
  input %b: float32[160]
  %p: float32[96, 160] = aten::mm(%x, %w)
  %a: float32[96, 160] = aten::add.Tensor(%p, %b)
  %y: float32[96, 160] = aten::mul.Tensor(%a, %a)
  return %y
})";

std::vector<float> waves(size_t count) {
  std::vector<float> values;
  for (size_t i = 0; i < count; ++i) values.push_back(std::sin(static_cast<float>(i)));
  return values;
}

class Threads : public BackendTest {
 protected:
  std::vector<float> run(DelegatedProgram& program) {
    FloatTensor x({96, 128}, waves(96 * 128));
    FloatTensor w({128, 160}, waves(128 * 160));
    FloatTensor b({160}, waves(160));
    const std::vector<EValue> outputs = program.run({x.value(), w.value(), b.value()});
    EXPECT_EQ(outputs.size(), 1u) << program.error();
    return outputs.empty() ? std::vector<float>() : floats_of(outputs[0]);
  }
};

TEST_P(Threads, OneOrTwoGiveTheSameBits) {
  const std::vector<uint8_t> file = lower(kLayers).emit();
  std::vector<std::vector<float>> results;
  for (const uint32_t threads : {1, 2}) {
    const std::unique_ptr<Device> device = make_device(subject(), threads);
    DelegatedProgram program(file, {backend_of(subject(), *device)});
    results.push_back(run(program));
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST_P(Threads, MethodsOfOneDeviceRunAtTheSameTime) {
  const std::vector<uint8_t> file = lower(kLayers).emit();
  const Backend backend = backend_of(subject(), device());
  DelegatedProgram alone(file, {backend});
  const std::vector<float> want = run(alone);
  int wrong[2] = {};
  std::vector<std::thread> threads;
  for (int& count : wrong) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) {
        DelegatedProgram program(file, {backend});
        for (int j = 0; j < 10; ++j) count += run(program) != want;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong[0] + wrong[1], 0);
}

INSTANTIATE_TEST_SUITE_P(Suite, Threads, testing::ValuesIn(all_subjects()), subject_name);

}  // namespace
}  // namespace taper::test
