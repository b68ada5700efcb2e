// That a page is whole, small and inert: nothing in a document can become markup or a script.

#include "tools/view/page.h"

#include <gtest/gtest.h>

#include "exir/frontend/json.h"

namespace taper::tools {
namespace {

size_t count(std::string_view text, std::string_view part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(ViewPage, IsOneFile) {
  const std::string page = view_page("m.pt2", "{}");
  EXPECT_LE(page.size(), 1'000'000u);
  EXPECT_EQ(count(page, "<script src="), 0u);
  EXPECT_EQ(count(page, "<link"), 0u);
  EXPECT_EQ(count(page, "<title>m.pt2</title>"), 1u);
  for (const PageFile& file : page_files()) {
    if (file.name == "index.html") continue;
    EXPECT_EQ(count(page, file.text), 1u) << file.name;
  }
  // The scripts and the document.
  EXPECT_EQ(count(page, "<script"), page_files().size() - 2 + 1);
  EXPECT_EQ(count(page, "</script>"), page_files().size() - 2 + 1);
}

TEST(ViewPage, AsksNoServerAndMakesNoMarkupOfTexts) {
  for (const PageFile& file : page_files()) {
    for (const char* word : {"http:", "https:", "fetch(", "XMLHttpRequest", "import(", "url(",
                             "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write",
                             "eval(", "new Function", "DOMParser"}) {
      EXPECT_EQ(count(file.text, word), 0u) << file.name << ": " << word;
    }
  }
}

TEST(ViewPage, DocumentsStayData) {
  const std::string hostile = "</script><script>alert(1)</script><!--<script>&amp;\\\"";
  std::string json;
  for (const char c : hostile) {
    if (c == '"' || c == '\\') json += '\\';
    json += c;
  }
  json = "{\"name\":\"" + json + "\"}";
  const std::string empty = view_page("", "{}");
  const std::string page = view_page(hostile, json);
  for (const char* tag : {"<script", "</script", "<!--", "<title", "</title"}) {
    EXPECT_EQ(count(page, tag), count(empty, tag)) << tag;
  }
  const std::string_view head = "id=\"document\">";
  const size_t begin = page.find(head) + head.size();
  const std::string data = page.substr(begin, page.find("</script>", begin) - begin);
  const exir::Blob blob = {{reinterpret_cast<const uint8_t*>(data.data()), data.size()}, {}, 0};
  const exir::JsonDocument document(blob, "page");
  EXPECT_EQ(exir::json_text(exir::json_need(document.root(), "name"), "name"), hostile);
}

}  // namespace
}  // namespace taper::tools
