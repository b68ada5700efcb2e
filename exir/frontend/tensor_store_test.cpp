#include "exir/frontend/tensor_store.h"

#include <gtest/gtest.h>

#include <cstring>

#include "exir/frontend/archive_for_test.h"

namespace taper::exir {
namespace {

using test::blob_of;
using test::failure_of;
using test::zip_of;

std::string ints(const std::vector<int64_t>& values) {
  std::string out;
  for (int64_t value : values) {
    out += (out.empty() ? "" : ", ") + ("{\"as_int\": " + std::to_string(value) + "}");
  }
  return "[" + out + "]";
}

std::string entry(const std::string& name, const std::string& path, int dtype,
                  const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides,
                  int64_t offset) {
  return "\"" + name + "\": {\"path_name\": \"" + path + "\", \"use_pickle\": false, " +
         "\"tensor_meta\": {\"dtype\": " + std::to_string(dtype) + ", \"sizes\": " + ints(sizes) +
         ", \"strides\": " + ints(strides) +
         ", \"storage_offset\": {\"as_int\": " + std::to_string(offset) + "}}}";
}

// int16 numbers 0, 1, 2, ... 23 in `w_0`, nothing in `w_1`.
struct Archive {
  explicit Archive(const std::string& entries)
      : file(zip_of({{"d/w_0", numbers()},
                     {"d/w_1", ""},
                     {"d/c.json", "{\"config\": {" + entries + "}}"}})),
        budget(file.size()),
        zip(blob_of(file), budget),
        store(budget) {
    store.open_config(zip, *zip.find("d/c.json"));
  }
  static std::string numbers() {
    std::string out;
    for (int i = 0; i < 24; ++i) test::put(out, static_cast<uint64_t>(i), 2);
    return out;
  }
  std::string file;
  Budget budget;
  ZipArchive zip;
  TensorStore store;
};

std::vector<int16_t> values(const TensorData& data) {
  std::vector<int16_t> out(data.bytes / 2);
  if (data.bytes) std::memcpy(out.data(), data.data, data.bytes);
  return out;
}

struct Case {
  const char* name;
  std::vector<int64_t> sizes, strides;
  int64_t offset;
  std::vector<uint8_t> order;
  std::vector<int16_t> want;
};

class Window : public testing::TestWithParam<Case> {};

TEST_P(Window, HoldsTheNumbersThatPythonSees) {
  const Case& c = GetParam();
  Archive archive(entry("t", "w_0", 3, c.sizes, c.strides, c.offset));
  const TensorStore::Tensor t = archive.store.load("t");
  EXPECT_EQ(t.type.dtype, ScalarType::kShort);
  EXPECT_EQ(t.type.dim_order, c.order);
  EXPECT_EQ(values(t.data), c.want);
}

INSTANTIATE_TEST_SUITE_P(
    Views, Window,
    testing::Values(
        Case{"whole", {2, 3}, {3, 1}, 0, {0, 1}, {0, 1, 2, 3, 4, 5}},
        Case{"aligned_offset", {3}, {1}, 8, {0}, {8, 9, 10}},
        Case{"odd_offset", {3}, {1}, 5, {0}, {5, 6, 7}},
        Case{"transposed", {3, 2}, {1, 3}, 0, {1, 0}, {0, 1, 2, 3, 4, 5}},
        Case{"transposed_odd_offset", {3, 2}, {1, 3}, 1, {1, 0}, {1, 2, 3, 4, 5, 6}},
        Case{"slice", {2, 2}, {6, 2}, 1, {0, 1}, {1, 3, 7, 9}},
        Case{"expanded", {2, 3}, {0, 1}, 4, {0, 1}, {4, 5, 6, 4, 5, 6}},
        Case{"scalar", {}, {}, 23, {}, {23}}, Case{"empty", {0, 5}, {5, 1}, 0, {0, 1}, {}},
        Case{"odd_stride_of_one", {2, 1, 2}, {4, INT64_MAX, 2}, 0, {0, 1, 2}, {0, 2, 4, 6}}),
    [](const auto& info) { return info.param.name; });

TEST(TensorStore, DenseWeightsAreNotCopiedAndTiesShareThem) {
  Archive archive(entry("a", "w_0", 3, {4, 6}, {6, 1}, 0) + ", " +
                  entry("b", "w_0", 3, {4, 6}, {6, 1}, 0) + ", " +
                  entry("c", "w_0", 3, {2}, {2}, 1) + ", " + entry("d", "w_0", 3, {2}, {2}, 1));
  const TensorData a = archive.store.load("a").data, b = archive.store.load("b").data;
  EXPECT_EQ(a.data, b.data);
  EXPECT_EQ(a.data, archive.zip.read(*archive.zip.find("d/w_0")).bytes.data());
  EXPECT_EQ(archive.store.load("c").data.data, archive.store.load("d").data.data);
}

struct Bad {
  const char* name;
  std::string entry;
  const char* message;
};

class BadWindow : public testing::TestWithParam<Bad> {};

TEST_P(BadWindow, IsRefused) {
  Archive archive(GetParam().entry);
  const std::string said = failure_of([&] { archive.store.load("t"); });
  EXPECT_NE(said.find(GetParam().message), std::string::npos) << said;
}

INSTANTIATE_TEST_SUITE_P(
    Views, BadWindow,
    testing::Values(
        Bad{"too_long", entry("t", "w_0", 3, {5, 5}, {5, 1}, 0),
            "needs 25 elements, but its storage holds only 24"},
        Bad{"wider_type", entry("t", "w_0", 5, {7}, {1}, 0), "holds only 6"},
        Bad{"offset", entry("t", "w_0", 3, {1}, {1}, 24), "needs 25 elements"},
        Bad{"negative_offset", entry("t", "w_0", 3, {1}, {1}, -1), "impossible"},
        Bad{"negative_size", entry("t", "w_0", 3, {-2}, {1}, 0), "impossible"},
        Bad{"negative_stride", entry("t", "w_0", 3, {2}, {-1}, 5), "impossible"},
        Bad{"overflow", entry("t", "w_0", 3, {1LL << 40, 1LL << 40}, {0, 0}, 0), "impossible"},
        Bad{"stride_overflow", entry("t", "w_0", 3, {3}, {1LL << 62}, 0), "impossible"},
        Bad{"expanded_bomb", entry("t", "w_0", 3, {1LL << 30}, {0}, 0), "unpacks to far more"},
        Bad{"float8_overflow", entry("t", "w_0", 29, {1LL << 62}, {0}, 0), "unpacks to far more"},
        Bad{"float8_bomb", entry("t", "w_0", 30, {1LL << 30}, {0}, 0), "unpacks to far more"},
        Bad{"float8_too_long", entry("t", "w_0", 31, {49}, {1}, 0), "holds only 48"},
        Bad{"no_strides", entry("t", "w_0", 3, {2, 2}, {1}, 0), "strides"},
        Bad{"no_file", entry("t", "w_9", 3, {1}, {1}, 0),
            "lies in 'w_9', which the archive does not hold"},
        Bad{"fake", entry("t", "w_1", 3, {1}, {1}, 0), "exported with fake tensors"},
        Bad{"dtype", entry("t", "w_0", 9, {1}, {1}, 0), "complex32"},
        Bad{"pickled", R"("t": {"path_name": "w_0", "use_pickle": true, "tensor_meta": {}})",
            "tensor subclass"},
        Bad{"object", R"("t": {"path_name": "w_0", "use_pickle": false, "tensor_meta": null})",
            "custom class"},
        Bad{"no_meta", R"("t": {"path_name": "w_0", "tensor_meta": {"dtype": 3}})",
            "'sizes' is missing"}),
    [](const auto& info) { return info.param.name; });

// The bytes of `w_0` are 0, 0, 1, 0, 2, 0, 3, ...
TEST(TensorStore, EightBitFloatsAreTheirCodes) {
  Archive archive(entry("t", "w_0", 29, {2, 2}, {2, 4}, 0));
  const TensorStore::Tensor t = archive.store.load("t");
  EXPECT_EQ(t.type.dtype, ScalarType::kByte);
  ASSERT_EQ(t.data.bytes, 4u);
  EXPECT_EQ(std::vector<uint8_t>(t.data.data, t.data.data + 4), (std::vector<uint8_t>{0, 2, 1, 3}));
}

TEST(TensorStore, ObjectsAreArchives) {
  const std::string pickled = R"("t": {"path_name": "w_0", "use_pickle": true, "tensor_meta": {}})";
  Archive archive(pickled);
  EXPECT_TRUE(archive.store.is_object("t"));
  EXPECT_NE(failure_of([&] { archive.store.open_object("t"); }), "");
  Archive missing(R"("t": {"path_name": "w_7", "use_pickle": true, "tensor_meta": {}})");
  EXPECT_NE(failure_of([&] { missing.store.open_object("t"); }).find("does not hold"),
            std::string::npos);
  Archive plain(entry("t", "w_0", 3, {4}, {1}, 0));
  EXPECT_FALSE(plain.store.is_object("t"));
}

TEST(TensorStore, PickledWeightsMustBeAnArchive) {
  const std::string file = zip_of({{"w.pt", "not a zip"}});
  Budget budget(file.size());
  const ZipArchive zip(blob_of(file), budget);
  TensorStore store(budget);
  EXPECT_NE(failure_of([&] {
              store.open_pickle(zip, *zip.find("w.pt"));
            }).find("not what torch.save writes"),
            std::string::npos);
}

}  // namespace
}  // namespace taper::exir
