// A small payload, run through the backend on lavapipe, a driver that computes on the processor.

#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/vulkan/planner/payload_for_test.h"
#include "backends/vulkan/runtime/vulkan_backend.h"
#include "kernels_portable/kernel_table.h"
#include "schema/program_generated.h"
#include "taper/method.h"
#include "test/support/test_tensor.h"

namespace taper::vulkan {

// On the first device of that name.
inline VulkanOptions on_lavapipe() {
  VulkanOptions options;
  options.device = "llvmpipe";
  return options;
}

// y = (x + w) * (w + w), with up to 4 rows; w = {1, 2, 3}. The second factor is computed once.
inline std::vector<uint8_t> scaled_payload() {
  PayloadBuilder p;
  const auto x = p.input({4, 3}), w = p.constant({3}, {1, 2, 3}), one = p.integer(1);
  const auto sum = p.tensor({4, 3}), twice = p.tensor({3}), y = p.tensor({4, 3});
  p.call("aten.add.Tensor", {x, w, one, sum});
  p.call("aten.add.Tensor", {w, w, one, twice});
  p.call("aten.mul.Tensor", {sum, twice, y});
  p.output(y);
  return p.finish();
}

// The payload, loaded by a backend that outlives it.
class LoadedPayload {
 public:
  explicit LoadedPayload(VulkanBackend& backend, ThreadPool pool = {},
                         const std::vector<uint8_t>& payload = scaled_payload(),
                         bool in_half = false)
      : LoadedPayload(backend, std::make_shared<const std::vector<uint8_t>>(payload), pool,
                      in_half) {}
  // The same again, as another method of the program would have it.
  LoadedPayload(VulkanBackend& backend, const LoadedPayload& other)
      : LoadedPayload(backend, other.payload_, ThreadPool(), false) {}
  LoadedPayload(const LoadedPayload&) = delete;
  LoadedPayload& operator=(const LoadedPayload&) = delete;
  ~LoadedPayload() {
    if (handle_ != nullptr) backend_.destroy(handle_);
  }

  // REQUIRES: status.ok().
  Status run(test::TestTensor& x, test::TestTensor& y) {
    EValue values[] = {EValue(&*x), EValue(&*y)};
    EValue* args[] = {&values[0], &values[1]};
    BackendExecutionContext context("forward", {});
    return backend_.execute(context, handle_, args);
  }
  // Runs it and looks at the results.
  Status run(int32_t rows) {
    test::TestTensor x(ScalarType::kFloat, {rows, 3});
    test::TestTensor y(ScalarType::kFloat, {4, 3}, {}, ShapeDynamism::kDynamicBound);
    for (int32_t i = 0; i < rows * 3; ++i) x->mutable_data_ptr<float>()[i] = static_cast<float>(i);
    const Status status = run(x, y);
    if (!status.ok()) return status;
    EXPECT_EQ(y->size(0), rows);
    for (int32_t i = 0; i < rows * 3; ++i) {
      const auto w = static_cast<float>(i % 3 + 1);
      EXPECT_EQ(y->const_data_ptr<float>()[i], (static_cast<float>(i) + w) * 2 * w) << i;
    }
    return status;
  }

  // The bytes of the GPU's memory that hold its own constants.
  uint64_t constant_bytes() const {
    struct Listener final : MemoryListener {
      void add(const MemoryBlock& block) override {
        if (std::string_view(block.what) == "constants") bytes += block.bytes;
      }
      void add(const PlacedResult&) override {}
      uint64_t bytes = 0;
    } listener;
    VulkanBackend::tell_memory(handle_, listener);
    return listener.bytes;
  }

  Status status;

 private:
  LoadedPayload(VulkanBackend& backend, std::shared_ptr<const std::vector<uint8_t>> payload,
                ThreadPool pool, bool in_half)
      : backend_(backend), payload_(std::move(payload)) {
    MethodOptions options;
    options.pool = pool;
    options.kernels = tables_;
    BackendInitContext context("forward", nullptr, nullptr, {}, &options);
    flatbuffers::FlatBufferBuilder fbb;
    const std::vector<uint8_t> value = {static_cast<uint8_t>(in_half)};
    const auto spec = taper::wire::CreateCompileSpecDirect(fbb, "force_fp16", &value);
    const auto specs = fbb.CreateVector(&spec, 1);
    fbb.Finish(specs);
    const Result<void*> made =
        backend.init(context, {payload_->data(), payload_->size()},
                     CompileSpecs(flatbuffers::GetTemporaryPointer(fbb, specs)));
    status = made.status();
    if (made.ok()) handle_ = *made;
  }

  VulkanBackend& backend_;
  const std::shared_ptr<const std::vector<uint8_t>> payload_;
  const KernelTable tables_[1] = {portable::portable_kernels()};
  void* handle_ = nullptr;
};

// Tests that need lavapipe, and are skipped where it is not installed.
class OnLavapipe : public testing::Test {
 protected:
  void SetUp() override {
    VulkanBackend backend(on_lavapipe());
    const LoadedPayload loaded(backend);
    if (loaded.status.error() == Error::kNotFound) GTEST_SKIP() << "lavapipe is not installed";
    ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  }
};

}  // namespace taper::vulkan
