// ExternalData: looking up tensors by key, and hostile .ptd files, which must be refused.

#include "taper/external_data.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "test/support/program_builder.h"

namespace taper {
namespace {

using test::Bytes;
using test::PtdBuilder;

PtdBuilder two_tensors() {
  PtdBuilder builder;
  builder.tensor("weight", {2, 2}, {1, 2, 3, 4});
  builder.tensor("bias", {2}, {5, 6});
  return builder;
}

Status open(const Bytes& file) {
  BufferDataLoader loader(file.data(), file.size());
  return ExternalData::open(loader).status();
}

TEST(ExternalData, FindsTensorsByKey) {
  const Bytes file = two_tensors().finish();
  BufferDataLoader loader(file.data(), file.size());
  Result<ExternalData> data = ExternalData::open(loader);
  ASSERT_TRUE(data.ok()) << data.status().message();
  ASSERT_EQ(data->num_keys(), 2u);
  EXPECT_EQ(data->key(0), "weight");
  const NamedData bias = *data->find("bias");
  EXPECT_EQ(bias.bytes.size(), 8u);
  EXPECT_EQ(bias.sizes[0], 2);
  EXPECT_EQ(reinterpret_cast<const float*>(bias.bytes.data())[1], 6.0f);
  EXPECT_EQ(data->find("nothing").error(), Error::kNotFound);
}

TEST(ExternalData, AnIndexFindsTheSame) {
  PtdBuilder builder;
  for (int i = 0; i < 100; ++i) {
    builder.tensor("key" + std::to_string(i * 37 % 100), {1}, {static_cast<float>(i * 37 % 100)});
  }
  const Bytes file = builder.finish();
  BufferDataLoader loader(file.data(), file.size());
  Result<ExternalData> data = ExternalData::open(loader);
  ASSERT_TRUE(data.ok());
  std::vector<uint32_t> index(99);
  EXPECT_EQ(data->build_index(index).error(), Error::kInvalidArgument);
  index.resize(100);
  ASSERT_TRUE(data->build_index(index).ok());
  for (int i = 0; i < 100; ++i) {
    Result<NamedData> found = data->find("key" + std::to_string(i));
    ASSERT_TRUE(found.ok()) << i;
    EXPECT_EQ(*reinterpret_cast<const float*>(found->bytes.data()), static_cast<float>(i));
  }
  EXPECT_EQ(data->find("key100").error(), Error::kNotFound);
  EXPECT_EQ(data->find("").error(), Error::kNotFound);
}

TEST(ExternalData, AKeyMayOccurOnlyOnce) {
  PtdBuilder builder = two_tensors();
  builder.tensor("weight", {1}, {7});
  const Bytes file = builder.finish();
  BufferDataLoader loader(file.data(), file.size());
  Result<ExternalData> data = ExternalData::open(loader);
  ASSERT_TRUE(data.ok());
  std::vector<uint32_t> index(3);
  EXPECT_EQ(data->build_index(index).error(), Error::kInvalidExternalData);
}

TEST(ExternalData, EveryCutIsRefused) {
  const Bytes file = two_tensors().finish();
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_FALSE(open(Bytes(file.begin(), file.begin() + static_cast<ptrdiff_t>(size))).ok())
        << size;
  }
}

struct Case {
  const char* name;
  std::function<void(PtdBuilder&)> spoil;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class HostilePtd : public testing::TestWithParam<Case> {};

TEST_P(HostilePtd, IsRefused) {
  PtdBuilder builder = two_tensors();
  ASSERT_TRUE(open(builder.finish()).ok());
  GetParam().spoil(builder);
  const Status status = open(builder.finish());
  EXPECT_EQ(status.error(), Error::kInvalidExternalData) << status.message();
}

INSTANTIATE_TEST_SUITE_P(
    Rules, HostilePtd,
    testing::Values(
        Case{"segment_smaller_than_the_layout", [](auto& b) { b.segments[0].resize(12); }},
        Case{"layout_larger_than_the_segment",
             [](auto& b) {
               b.tensors[0].sizes = {{2, 3}};
             }},
        Case{"no_key", [](auto& b) { b.tensors[0].key.reset(); }},
        Case{"no_sizes", [](auto& b) { b.tensors[0].sizes.reset(); }},
        Case{"no_dim_order", [](auto& b) { b.tensors[0].dim_order.reset(); }},
        Case{"dim_order_shorter_than_sizes", [](auto& b) { b.tensors[0].dim_order = {{0}}; }},
        Case{"dim_order_repeats",
             [](auto& b) {
               b.tensors[0].dim_order = {{0, 0}};
             }},
        Case{"negative_size",
             [](auto& b) {
               b.tensors[0].sizes = {{2, -2}};
             }},
        Case{"size_overflows",
             [](auto& b) {
               b.tensors[0].sizes = {{2147483647, 2147483647}};
             }},
        Case{"unknown_dtype", [](auto& b) { b.tensors[0].scalar_type = 99; }},
        Case{"segment_index", [](auto& b) { b.tensors[0].segment = 9; }},
        Case{"segment_past_the_file",
             [](auto& b) {
               b.segment_places = {{{0, 16}, {1 << 20, 8}}};
             }},
        Case{"segment_wraps",
             [](auto& b) {
               b.segment_places = {{{0, 16}, {UINT64_MAX - 3, 8}}};
             }},
        Case{"segment_not_aligned",
             [](auto& b) {
               b.segment_places = {{{1, 16}, {128, 8}}};
             }},
        Case{"flatbuffer_end_four",
             [](auto& b) {
               b.header_flatbuffer_offset = 0;
               b.header_flatbuffer_size = 4;
             }},
        Case{"flatbuffer_past_the_file", [](auto& b) { b.header_flatbuffer_size = 1 << 30; }},
        Case{"flatbuffer_wraps", [](auto& b) { b.header_flatbuffer_offset = UINT64_MAX - 7; }},
        Case{"segment_base_wraps", [](auto& b) { b.header_segment_base = UINT64_MAX - 7; }},
        Case{"segment_bytes_past_the_file", [](auto& b) { b.header_segment_bytes = 1 << 30; }},
        Case{"identifier", [](auto& b) { b.identifier = "XXXX"; }}),
    [](const auto& info) { return info.param.name; });

TEST(HostilePtd, NewerVersionsAreNotRead) {
  PtdBuilder builder = two_tensors();
  builder.version = 1;
  EXPECT_EQ(open(builder.finish()).error(), Error::kNotSupported);
}

}  // namespace
}  // namespace taper
