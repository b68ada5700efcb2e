// BundledProgram: a file of ExecuTorch's, its numbers, and what is refused.

#include "taper/bundled_program.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>

#include "schema/bundled_program_generated.h"
#include "taper/data_loader.h"
#include "taper/program.h"
#include "test/support/aligned_bytes.h"
#include "test/support/test_tensor.h"

namespace taper {
namespace {

namespace bp = wire::bundled;
test::Bytes in_memory(const std::string& file) { return {file.begin(), file.end()}; }

Result<BundledProgram> open(const test::Bytes& file) {
  return BundledProgram::open({file.data(), file.size()});
}

std::string from_executorch() {
  std::ifstream in(std::string(TAPER_SOURCE_DIR) + "/test/compat/data/mlp.bpte", std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Bundle, ReadsWhatExecuTorchWrote) {
  const test::Bytes file = in_memory(from_executorch());
  const Result<BundledProgram> bundle = open(file);
  ASSERT_TRUE(bundle.ok()) << bundle.status().message();
  ASSERT_EQ(bundle->num_methods(), 1u);
  EXPECT_EQ(bundle->method_name(0), "forward");
  ASSERT_EQ(bundle->num_cases("forward"), 2u);
  EXPECT_EQ(bundle->num_cases("other"), 0u);
  EXPECT_EQ(bundle->test_case("forward", 2).error(), Error::kNotFound);
  BufferDataLoader loader(bundle->program().data(), bundle->program().size());
  EXPECT_TRUE(Program::open(loader).ok());

  const BundledCase ones = *bundle->test_case("forward", 1);
  ASSERT_EQ(ones.num_inputs(), 1u);
  ASSERT_EQ(ones.num_outputs(), 1u);
  const BundledInputs inputs(ones);
  const Tensor& input = inputs.values()[0].to_tensor();
  ASSERT_EQ(input.numel(), 8);
  EXPECT_EQ(input.sizes()[0], 2);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(input.const_data_ptr<float>()[i], 1.0f);
  const BundledValue output = ones.output(0);
  float sums[2] = {};  // Of softmax.
  for (size_t i = 0; i < 6; ++i) {
    float value;
    std::memcpy(&value, output.data.data() + 4 * i, 4);
    sums[i / 3] += value;
  }
  EXPECT_NEAR(sums[0], 1, 1e-6);
  EXPECT_NEAR(sums[1], 1, 1e-6);
}

TEST(Bundle, RefusesFilesThatAreCutOrShifted) {
  const std::string good = from_executorch();
  for (size_t size = 0; size < good.size(); size += 7) {
    EXPECT_FALSE(open(in_memory(good.substr(0, size))).ok()) << size;
  }
  const test::Bytes shifted = in_memory(std::string(4, '\0') + good);
  EXPECT_EQ(BundledProgram::open({shifted.data() + 4, shifted.size() - 4}).error(),
            Error::kInvalidArgument);
}

struct OneTensor {
  wire::ScalarType type = wire::ScalarType::FLOAT;
  std::vector<int32_t> sizes = {2, 3};
  std::vector<uint8_t> dim_order = {1, 0}, data = std::vector<uint8_t>(24);
};

// What is wrong with a file of one test case with this tensor, `copies` times.
std::string problem(const std::function<void(OneTensor&)>& change, size_t copies = 1) {
  OneTensor t;
  change(t);
  flatbuffers::FlatBufferBuilder to;
  const std::vector<uint8_t> program(64, 0);
  to.ForceVectorAlignment(t.data.size(), 1, 16);
  const auto data = to.CreateVector(t.data);
  const auto tensor =
      bp::CreateTensor(to, t.type, to.CreateVector(t.sizes), data, to.CreateVector(t.dim_order));
  const auto value = bp::CreateValue(to, bp::ValueUnion::Tensor, tensor.Union());
  const auto values = to.CreateVector(std::vector<flatbuffers::Offset<bp::Value>>(copies, value));
  const auto test = bp::CreateBundledMethodTestCase(to, values);
  const auto name = to.CreateString("forward");
  const auto suite = bp::CreateBundledMethodTestSuite(to, name, to.CreateVector(&test, 1));
  const auto suites = to.CreateVector(&suite, 1);
  to.ForceVectorAlignment(program.size(), 1, 32);
  bp::FinishBundledProgramBuffer(to,
                                 bp::CreateBundledProgram(to, 2, suites, to.CreateVector(program)));
  const test::Bytes file(to.GetBufferPointer(), to.GetBufferPointer() + to.GetSize());
  const Result<BundledProgram> opened = open(file);
  return opened.ok() ? "" : opened.status().message();
}

TEST(Bundle, RefusesTensorsThatDoNotFit) {
  EXPECT_EQ(problem([](OneTensor&) {}), "");
  const auto large = [](OneTensor& t) {
    t = {t.type, {20, 30}, t.dim_order, std::vector<uint8_t>(2400)};
  };
  EXPECT_EQ(problem(large), "");
  EXPECT_EQ(problem(large, 3), "values of a test case share their data");
  EXPECT_EQ(problem([](OneTensor& t) { t.data.resize(23); }),
            "the data of a tensor of a test case has not the size that its sizes need");
  EXPECT_EQ(problem([](OneTensor& t) {
              t.sizes = {-2, -3};
            }),
            "a tensor of a test case has a negative size");
  EXPECT_EQ(problem([](OneTensor& t) {
              t.sizes = {65536, 65536};
            }),
            "a tensor of a test case is too large");
  EXPECT_EQ(problem([](OneTensor& t) { t.sizes.assign(17, 1); }),
            "a tensor of a test case has too many dimensions");
  EXPECT_EQ(problem([](OneTensor& t) {
              t.dim_order = {1, 1};
            }),
            "a tensor of a test case has a dim order that is no permutation");
  EXPECT_EQ(problem([](OneTensor& t) {
              t.dim_order = {0, 1, 2};
            }),
            "a tensor of a test case has a dim order that is no permutation");
  EXPECT_EQ(problem([](OneTensor& t) { t.type = wire::ScalarType::QINT8; }),
            "a tensor of a test case has a dtype that is not supported");
}

BundledValue floats(const std::vector<float>& values, const std::vector<int32_t>& sizes,
                    const std::vector<uint8_t>& order) {
  BundledValue value;
  value.tag = Tag::kTensor;
  value.sizes = {sizes.data(), sizes.size()};
  value.dim_order = {order.data(), order.size()};
  value.data = {reinterpret_cast<const uint8_t*>(values.data()), values.size() * 4};
  return value;
}

TEST(Bundle, ComparesByExecuTorchsRule) {
  test::TestTensor got(ScalarType::kFloat, {2, 2});
  float* const data = got->mutable_data_ptr<float>();
  const float numbers[] = {1, 100, NAN, INFINITY};
  std::memcpy(data, numbers, sizeof(numbers));
  const std::vector<int32_t> sizes = {2, 2};
  const std::vector<uint8_t> rows = {0, 1}, columns = {1, 0};
  const EValue value(&*got);
  const std::vector<float> same = {1, 100, NAN, INFINITY}, turned = {1, NAN, 100, INFINITY};
  EXPECT_TRUE(difference(floats(same, sizes, rows), value, {0, 0}).agrees);
  EXPECT_TRUE(difference(floats(turned, sizes, columns), value, {0, 0}).agrees);
  EXPECT_FALSE(difference(floats(turned, sizes, rows), value, {}).agrees);
  const std::vector<float> near = {1, 99, NAN, INFINITY};
  EXPECT_FALSE(difference(floats(near, sizes, rows), value, {0.01, 0}).agrees);  // 0.99 allowed.
  EXPECT_TRUE(difference(floats(near, sizes, rows), value, {0.01, 0.011}).agrees);
  EXPECT_EQ(difference(floats(near, sizes, rows), value, {}).largest, 1);
  const std::vector<float> finite = {1, 100, NAN, 1e30f};
  EXPECT_FALSE(difference(floats(finite, sizes, rows), value, {1, 1}).agrees);
  const std::vector<int32_t> flat = {4};
  const std::vector<uint8_t> one = {0};
  EXPECT_STREQ(difference(floats(same, flat, one), value, {}).why, "other sizes are expected");
  BundledValue integer;
  integer.tag = Tag::kInt;
  integer.integer = 3;
  EXPECT_TRUE(difference(integer, EValue(int64_t{3}), {}).agrees);
  EXPECT_FALSE(difference(integer, EValue(int64_t{4}), {}).agrees);
  EXPECT_STREQ(difference(integer, value, {}).why, "a value of another kind is expected");
}

}  // namespace
}  // namespace taper
