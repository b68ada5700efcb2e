#include "exir/frontend/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "exir/frontend/archive_for_test.h"

namespace taper::exir {
namespace {

using test::blob_of;
using test::failure_of;

std::string failure_of_parsing(std::string_view text) {
  return failure_of([&] { JsonDocument(blob_of(text), "model.json"); });
}

TEST(Json, KeepsIntegersExact) {
  const JsonDocument doc(blob_of(R"({"a": 9223372036854775807, "b": -9223372036854775808})"), "x");
  EXPECT_EQ(json_int(json_need(doc.root(), "a"), "a"), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(json_int(json_need(doc.root(), "b"), "b"), std::numeric_limits<int64_t>::min());
}

TEST(Json, AcceptsBareTokensOfOldReleases) {
  const JsonDocument doc(
      blob_of(R"({"a": [NaN, Infinity, -Infinity], "b": "Infinity, \"NaN\"", "c": "NaN", "d": 2})"),
      "x");
  std::vector<double> values;
  for (const Json item : json_array(json_need(doc.root(), "a"), "a")) {
    values.push_back(json_double(item, "a"));
  }
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_EQ(values[1], std::numeric_limits<double>::infinity());
  EXPECT_EQ(values[2], -std::numeric_limits<double>::infinity());
  EXPECT_EQ(json_text(json_need(doc.root(), "b"), "b"), "Infinity, \"NaN\"");
  EXPECT_TRUE(std::isnan(json_double(json_need(doc.root(), "c"), "c")));
  EXPECT_EQ(json_double(json_need(doc.root(), "d"), "d"), 2.0);
}

// PyTorch states `u5 <= 36893488147419103224` for a size that is a multiple of another.
TEST(Json, IntegersOfMoreThan64BitsBecomeTheNearest) {
  const JsonDocument doc(
      blob_of(R"({"a": 36893488147419103224, "b": [-36893488147419103224,-9999999999999999999],)"
              R"( "c": "18446744073709551616", "d": 12, "e": 18446744073709551616})"),
      "x");
  EXPECT_EQ(json_int(json_need(doc.root(), "a"), "a"), std::numeric_limits<int64_t>::max());
  for (const Json item : json_array(json_need(doc.root(), "b"), "b")) {
    EXPECT_EQ(json_int(item, "b"), std::numeric_limits<int64_t>::min());
  }
  EXPECT_EQ(json_text(json_need(doc.root(), "c"), "c"), "18446744073709551616");
  EXPECT_EQ(json_int(json_need(doc.root(), "d"), "d"), 12);
  EXPECT_EQ(json_int(json_need(doc.root(), "e"), "e"), std::numeric_limits<int64_t>::max());
  EXPECT_NE(failure_of_parsing("{\"a\": 36893488147419103224x}"), "");
  EXPECT_NE(failure_of_parsing("{\"a\": 36893488147419103224"), "");
}

TEST(Json, NullIsAsGoodAsMissing) {
  const JsonDocument doc(blob_of(R"({"a": null})"), "x");
  EXPECT_FALSE(json_find(doc.root(), "a"));
  EXPECT_FALSE(json_find(doc.root(), "b"));
  EXPECT_EQ(json_text_or(doc.root(), "a", "else"), "else");
  EXPECT_EQ(failure_of([&] { json_need(doc.root(), "a"); }), "'a' is missing");
}

TEST(Json, WrongTypesAreNamed) {
  const JsonDocument doc(
      blob_of(R"({"a": 1.5, "b": [], "c": {"x": 1, "y": 2}, "d": 18446744073709551615})"), "x");
  const Json a = json_need(doc.root(), "a"), b = json_need(doc.root(), "b");
  EXPECT_EQ(failure_of([&] { json_int(a, "a"); }), "'a' is not a 64-bit integer");
  EXPECT_EQ(failure_of([&] { json_text(a, "a"); }), "'a' is not a string");
  EXPECT_EQ(failure_of([&] { json_array(a, "a"); }), "'a' is not a list");
  EXPECT_EQ(failure_of([&] { json_object(b, "b"); }), "'b' is not an object");
  EXPECT_EQ(failure_of([&] { json_bool(b, "b"); }), "'b' is not true or false");
  EXPECT_EQ(failure_of([&] { json_double(b, "b"); }), "'b' is not a number");
  EXPECT_EQ(failure_of([&] { json_int(json_need(doc.root(), "d"), "d"); }),
            "'d' is not a 64-bit integer");
  EXPECT_EQ(failure_of([&] { json_variant(json_need(doc.root(), "c"), "c"); }),
            "'c' is not an object with one member");
}

TEST(Json, BrokenTextIsRefused) {
  const std::string whole = R"({"a": [1, {"b": "text"}, 2.5], "c": true})";
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(failure_of_parsing(whole.substr(0, size)).find("model.json: is not valid JSON"),
              std::string::npos);
  }
  EXPECT_EQ(failure_of_parsing(whole), "");
  EXPECT_NE(failure_of_parsing("{\"a\": NaN"), "");
  EXPECT_NE(failure_of_parsing("{\"a\": Nan}"), "");
}

TEST(Json, DepthIsLimited) {
  EXPECT_NE(failure_of_parsing(std::string(100000, '[')), "");
  EXPECT_NE(failure_of_parsing(std::string(1000, '[') + std::string(1000, ']')), "");
  EXPECT_EQ(failure_of_parsing(std::string(200, '[') + std::string(200, ']')), "");
}

}  // namespace
}  // namespace taper::exir
