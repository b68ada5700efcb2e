// index.html names its style sheet, its scripts and its data; each becomes what it names.

#include "tools/view/page.h"

#include "tools/error.h"
#include "tools/text/markup.h"

namespace taper::tools {
namespace {

std::string_view file_named(std::string_view name) {
  for (const PageFile& file : page_files()) {
    if (file.name == name) return file.text;
  }
  throw InputError("the page has no file '" + std::string(name) + "'");
}

// In a script, '<' could end it; JSON has another spelling.
std::string without_markup(std::string_view json) {
  std::string out;
  for (const char c : json) c == '<' ? void(out += "\\u003c") : out.push_back(c);
  return out;
}

// Replaces every `head`NAME`tail` by what `make` returns for the name.
template <typename Make>
std::string replaced(std::string_view text, std::string_view head, std::string_view tail,
                     const Make& make) {
  std::string out;
  for (;;) {
    const size_t begin = text.find(head);
    if (begin == text.npos) return out.append(text);
    const size_t end = text.find(tail, begin + head.size());
    if (end == text.npos) return out.append(text);
    out += text.substr(0, begin);
    out += make(text.substr(begin + head.size(), end - begin - head.size()));
    text.remove_prefix(end + tail.size());
  }
}

}  // namespace

std::string view_page(std::string_view title, std::string_view document) {
  std::string page(file_named("index.html"));
  page = replaced(page, "<link rel=\"stylesheet\" href=\"", "\">", [](std::string_view name) {
    return "<style>\n" + std::string(file_named(name)) + "</style>";
  });
  page = replaced(page, "<script src=\"", "\"></script>", [](std::string_view name) {
    return "<script>\n" + std::string(file_named(name)) + "</script>";
  });
  page = replaced(page, "<title>", "</title>",
                  [&](std::string_view) { return "<title>" + escaped(title) + "</title>"; });
  return replaced(page, "<script type=\"application/json\" id=\"document\">", "</script>",
                  [&](std::string_view) {
                    return "<script type=\"application/json\" id=\"document\">" +
                           without_markup(document) + "</script>";
                  });
}

}  // namespace taper::tools
