// Tests payloads on a GPU: sizes that alternate, the file of compiled shaders, times of steps,
// threads, constants that methods share.

#include "backends/vulkan/runtime/gpu/gpu_method.h"

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>

#include "backends/vulkan/runtime/gpu/backend_for_test.h"
#include "test/support/heap_counter.h"

namespace taper::vulkan {
namespace {

using test::heap_calls;
using test::TestTensor;

using GpuMethods = OnLavapipe;

TEST_F(GpuMethods, SizesThatAlternateAllocateNothing) {
  VulkanBackend backend(on_lavapipe());
  LoadedPayload loaded(backend);
  TestTensor x(ScalarType::kFloat, {4, 3}, {}, ShapeDynamism::kDynamicBound);
  TestTensor y(ScalarType::kFloat, {4, 3}, {}, ShapeDynamism::kDynamicBound);
  std::fill_n(x->mutable_data_ptr<float>(), 12, 1.0F);
  const auto run = [&](int32_t rows) {
    const int32_t sizes[] = {rows, 3};
    EXPECT_TRUE(x->resize(sizes).ok());
    EXPECT_TRUE(loaded.run(x, y).ok());
    EXPECT_EQ(y->size(0), rows);
  };
  for (const int32_t rows : {4, 1, 3}) run(rows);
  const uint64_t before = heap_calls();
  for (const int32_t rows : {1, 3, 4, 3, 3, 1}) run(rows);
#if !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)  // Which does not tell the driver's apart.
  EXPECT_EQ(heap_calls(), before);
#endif
  EXPECT_GE(heap_calls(), before);
}

TEST_F(GpuMethods, MoreSizesThanAreKept) {
  VulkanBackend backend(on_lavapipe());
  LoadedPayload loaded(backend);
  for (int round = 0; round < 2; ++round) {
    for (const int32_t rows : {0, 1, 2, 3, 4, 2, 0}) EXPECT_TRUE(loaded.run(rows).ok());
  }
}

TEST_F(GpuMethods, ThreadsLoadAndRunTheirOwn) {
  VulkanBackend backend(on_lavapipe());
  int bad[3] = {};
  std::vector<std::thread> threads;
  for (int& count : bad) {
    threads.emplace_back([&] {
      for (int i = 0; i < 4; ++i) {
        LoadedPayload loaded(backend);
        for (const int32_t rows : {4, 2, 1, 4}) count += loaded.run(rows).ok() ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(bad[0] + bad[1] + bad[2], 0);
}

// The constant of the payload is one tensor, what is computed of it another, each in 256 bytes.
TEST_F(GpuMethods, MethodsOfAProgramShareItsConstants) {
  VulkanBackend backend(on_lavapipe());
  auto first = std::make_unique<LoadedPayload>(backend);
  const LoadedPayload of_another_program(backend);
  auto second = std::make_unique<LoadedPayload>(backend, *first);
  EXPECT_EQ(first->constant_bytes(), 512u);
  EXPECT_EQ(of_another_program.constant_bytes(), 512u);
  EXPECT_EQ(second->constant_bytes(), 256u);
  EXPECT_TRUE(second->run(4).ok());
  first.reset();
  EXPECT_TRUE(second->run(3).ok());
  LoadedPayload third(backend, *second);
  second.reset();
  EXPECT_EQ(third.constant_bytes(), 256u);
  EXPECT_TRUE(third.run(4).ok());
}

TEST_F(GpuMethods, PipelinesAreMadeOnTheThreadsOfThePool) {
  std::atomic<size_t> tasks{0};
  ThreadPool pool;
  pool.threads = 3;
  pool.context = &tasks;
  pool.run = [](void* context, size_t count, ThreadPool::Task task, void* data) {
    std::vector<std::thread> threads;
    for (size_t i = 0; i < count; ++i) threads.emplace_back(task, data, i);
    for (std::thread& thread : threads) thread.join();
    *static_cast<std::atomic<size_t>*>(context) += count;
  };
  VulkanBackend backend(on_lavapipe());
  LoadedPayload loaded(backend, pool);
  EXPECT_EQ(tasks, 3u);  // Each call broadcasts its operands in another way.
  EXPECT_TRUE(loaded.run(4).ok());
}

struct Steps final : Profiler {
  void add(const ProfiledStep& step) override {
    ops.emplace_back(step.op);
    kernels.emplace_back(step.kernel);
    indices.push_back(step.index);
    EXPECT_GE(step.seconds, 0);
    EXPECT_LT(step.seconds, 100);
    EXPECT_EQ(step.sizes.substr(0, 6), "4x3 in");
    EXPECT_EQ(step.operations, 0);
    bytes.push_back(step.bytes);
  }
  std::vector<std::string> ops, kernels;
  std::vector<uint32_t> indices;
  std::vector<double> bytes;
};

TEST_F(GpuMethods, TimesOfSteps) {
  Steps steps;
  VulkanOptions options = on_lavapipe();
  options.profiler = &steps;
  VulkanBackend backend(options);
  LoadedPayload loaded(backend);
  ASSERT_TRUE(loaded.run(4).ok());
  EXPECT_EQ(steps.ops, (std::vector<std::string>{"aten.add.Tensor", "aten.mul.Tensor"}));
  EXPECT_EQ(steps.kernels, (std::vector<std::string>{"elementwise", "elementwise"}));
  EXPECT_EQ(steps.indices, (std::vector<uint32_t>{0, 1}));
  // Each reads 12 and 3 elements and writes 12.
  EXPECT_EQ(steps.bytes, (std::vector<double>{108, 108}));
}

class ShaderFile : public OnLavapipe {
 protected:
  ShaderFile()
      : path_(testing::TempDir() + "taper_shader_file_" + std::to_string(getpid()) + ".vkcache") {}
  ~ShaderFile() override { std::filesystem::remove(path_); }

  // Loads and runs a payload with the file, and saves it.
  PackedReport use() {
    VulkanOptions options = on_lavapipe();
    options.cache_path = path_.c_str();
    VulkanBackend backend(options);
    LoadedPayload loaded(backend);
    EXPECT_TRUE(loaded.status.ok() && loaded.run(4).ok());
    saved_ = backend.save_shaders();
    return backend.cache_report();
  }
  std::string read() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }

  const std::string path_;
  Status saved_;
};

TEST_F(ShaderFile, IsWrittenOnceAndFound) {
  const PackedReport first = use();
  EXPECT_TRUE(saved_.ok());
  EXPECT_EQ(first.found, 0u);
  EXPECT_GT(first.packed, 0u);
  EXPECT_STREQ(first.problem, "");
  const std::string bytes = read();
  const PackedReport second = use();
  EXPECT_EQ(second.found, first.packed);
  EXPECT_EQ(second.packed, 0u);
  EXPECT_EQ(read(), bytes);
}

TEST_F(ShaderFile, WhatIsDamagedIsMadeAnew) {
  use();
  const std::string good = read();
  for (size_t at = 0; at < good.size(); ++at) {
    if (at >= 72 && at % 16 != 0) continue;
    std::string bad = good;
    bad[at] ^= 4;
    write(bad);
    const PackedReport report = use();
    EXPECT_STRNE(report.problem, "") << at;
    EXPECT_EQ(report.found, 0u);
    EXPECT_TRUE(read() == good) << at;
  }
  for (const size_t size : {size_t{0}, size_t{8}, size_t{63}, good.size() - 1}) {
    write(good.substr(0, size));
    EXPECT_STREQ(use().problem, "it is damaged or cut short") << size;
  }
}

TEST_F(ShaderFile, ThatCannotBeWrittenIsSaid) {
  VulkanOptions options = on_lavapipe();
  options.cache_path = "/nowhere/at/all.vkcache";
  VulkanBackend backend(options);
  LoadedPayload loaded(backend);
  EXPECT_TRUE(loaded.status.ok());
  EXPECT_EQ(backend.save_shaders().error(), Error::kAccessFailed);
  EXPECT_STREQ(backend.save_shaders().message(), "there is no such folder");
}

}  // namespace
}  // namespace taper::vulkan
