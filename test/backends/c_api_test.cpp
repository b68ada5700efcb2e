// Tests a model that uses two backends through the C API.

#include "taper/taper.h"

#include <utility>
#include "test/backends/backend_test.h"

namespace taper::test {
namespace {

class CApi : public BackendTest {
 protected:
  const taper_backend* find(const std::string& name) {
    const taper_backend* found = taper_find_backend(name.c_str(), &error_);
    EXPECT_NE(found, nullptr) << error_.message;
    return found;
  }

  taper_code open(const std::vector<uint8_t>& file,
                  const std::vector<const taper_backend*>& backends) {
    taper_options options = {};
    options.struct_size = sizeof(options);
    options.kernels = taper_portable_kernels();
    options.backends = backends.data();
    options.backend_count = backends.size();
    const taper_code code = taper_open_memory(file.data(), file.size(), &options, &model_, &error_);
    return code != TAPER_OK ? code : taper_load_method(model_, "forward", &error_);
  }

  void expect_sums() {
    const float numbers[] = {1, -2, 3};
    taper_value x = {};
    x.kind = TAPER_TENSOR;
    x.dtype = TAPER_FLOAT32;
    x.rank = 2;
    x.sizes[0] = 1;
    x.sizes[1] = 3;
    x.data = numbers;
    x.bytes = sizeof(numbers);
    ASSERT_EQ(taper_set_input(model_, "forward", 0, &x, &error_), TAPER_OK) << error_.message;
    ASSERT_EQ(taper_run(model_, "forward", &error_), TAPER_OK) << error_.message;
    taper_value y = {};
    ASSERT_EQ(taper_get_output(model_, "forward", 0, &y, &error_), TAPER_OK) << error_.message;
    const float* sums = static_cast<const float*>(y.data);
    EXPECT_EQ(std::vector<float>(sums, sums + 3), (std::vector<float>{2, -2, 4}));
  }

  void TearDown() override {
    if (model_ != 0) taper_close(model_);
  }

  taper_model model_ = 0;
  taper_error error_ = {};
};

// Every backend takes the sum; only some take the cumsum.
constexpr char kSums[] = R"(graph "forward" {
  input %x: float32[1, 3]
  %a: float32[1, 3] = aten::add.Tensor(%x, %x)
  %y: float32[1, 3] = aten::cumsum(%a, 1)
  return %y
})";

TEST_P(CApi, AModelOfTwoBackendsNeedsBoth) {
  for (const Subject& next : subjects()) {
    if (next.name == subject().name) continue;
    Lowered lowered = lower_for(subject().name + "," + next.name, kSums);
    if (lowered.delegates() < 2) continue;
    const std::vector<uint8_t> file = lowered.emit();
    EXPECT_NE(open(file, {find(subject().name)}), TAPER_OK);
    const char* missing = next.device->identity.delegate_id;
    EXPECT_NE(std::string(error_.message).find(missing), std::string::npos) << error_.message;
    ASSERT_EQ(taper_close(model_), TAPER_OK);
    ASSERT_EQ(open(file, {find(next.name), find(subject().name)}), TAPER_OK) << error_.message;
    expect_sums();
    ASSERT_EQ(taper_close(std::exchange(model_, 0)), TAPER_OK);
  }
}

INSTANTIATE_TEST_SUITE_P(Suite, CApi, testing::ValuesIn(all_subjects()), subject_name);

}  // namespace
}  // namespace taper::test
