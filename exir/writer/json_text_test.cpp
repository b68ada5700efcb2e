#include "exir/writer/json_text.h"

#include <gtest/gtest.h>

#include "exir/ir/failure.h"

namespace taper::exir {
namespace {

TEST(JsonText, SplitsWithoutChangingTheParts) {
  const auto members = json_members(R"( {"a": 1.50, "b" :[1, {"c": "],}\""}], "d":{}} )");
  ASSERT_EQ(members.size(), 3u);
  EXPECT_EQ(members[0].key, "a");
  EXPECT_EQ(members[0].value, "1.50");
  EXPECT_EQ(members[1].key, "b");
  EXPECT_EQ(members[1].value, R"([1, {"c": "],}\""}])");
  EXPECT_EQ(members[2].value, "{}");
  EXPECT_EQ(json_items("[ ]").size(), 0u);
  EXPECT_EQ(json_items("[1, NaN,[2,3]]"), (std::vector<std::string_view>{"1", "NaN", "[2,3]"}));
  EXPECT_EQ(json_member(R"({"a": null})", "a"), "null");
  EXPECT_EQ(json_member(R"({"a": null})", "b"), "");
}

TEST(JsonText, QuotesAndUnquotes) {
  EXPECT_EQ(json_quote("a\"b\\c\n"), "\"a\\\"b\\\\c\\u000a\"");
  for (const std::string text : {"", "plain", "quote\" slash\\ line\n", "\xc3\xa4"}) {
    EXPECT_EQ(json_unquote(json_quote(text)), text);
  }
  EXPECT_EQ(json_unquote("\"\\u00e4\\u20ac\\ud83d\\ude00\\/\\t\""),
            "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80/\t");
  EXPECT_EQ(object_text({{"a", "1"}, {"b", "[]"}}), R"({"a": 1, "b": []})");
  EXPECT_EQ(list_text({"1", "2"}), "[1, 2]");
}

TEST(JsonText, RefusesWhatItCannotSplit) {
  for (const char* text : {"", "[", "{", "]", "{1}", "{\"a\"}", "{\"a}", "[}]", "[1]]", "[\"\\",
                           "{\"a\\\": 1}", "[{]"}) {
    EXPECT_THROW(json_members(text), Failure) << text;
  }
  for (const char* text : {"", "x", "\"", "\"\\u12\"", "\"\\uzzzz\"", "\"\\"}) {
    EXPECT_THROW(json_unquote(text), Failure) << text;
  }
  EXPECT_THROW(json_required("{}", "a"), Failure);
}

}  // namespace
}  // namespace taper::exir
