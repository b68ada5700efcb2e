// Tests what the backend makes of compile specs.

#include "backends/vulkan/runtime/vulkan_backend.h"

#include <gtest/gtest.h>

#include "backends/vulkan/planner/payload_for_test.h"
#include "schema/program_generated.h"

namespace taper::vulkan {
namespace {

// What init() says of a payload of no calls with one compile spec; empty if it loads.
std::string said_of(const char* key, const std::vector<uint8_t>& value) {
  flatbuffers::FlatBufferBuilder fbb;
  const auto spec = taper::wire::CreateCompileSpecDirect(fbb, key, &value);
  const auto specs = fbb.CreateVector(&spec, 1);
  fbb.Finish(specs);
  PayloadBuilder payload;
  payload.output(payload.input({4}));
  const std::vector<uint8_t> bytes = payload.finish();
  VulkanOptions options;
  options.device = "none";
  VulkanBackend backend(options);
  BackendInitContext context("forward", nullptr, nullptr, {});
  const Result<void*> handle =
      backend.init(context, {bytes.data(), bytes.size()},
                   CompileSpecs(flatbuffers::GetTemporaryPointer(fbb, specs)));
  if (handle.ok()) backend.destroy(*handle);
  return handle.status().message();
}

TEST(VulkanBackend, HalfIsAFlag) {
  EXPECT_EQ(said_of("force_fp16", {0}), "");
  EXPECT_EQ(said_of("force_fp16", {1}), "");
  for (const std::vector<uint8_t>& value :
       {std::vector<uint8_t>{}, std::vector<uint8_t>{2}, std::vector<uint8_t>{1, 0}}) {
    EXPECT_EQ(said_of("force_fp16", value),
              "the compile spec force_fp16 of the payload is not one byte, 0 or 1");
  }
}

// Others that ExecuTorch writes are for its own runtime.
TEST(VulkanBackend, OtherCompileSpecsAreNotLookedAt) {
  EXPECT_EQ(said_of("storage_type_override", {1, 0, 0, 0}), "");
}

}  // namespace
}  // namespace taper::vulkan
