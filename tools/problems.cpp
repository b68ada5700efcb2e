// Prints diagnostics as text and as JSON.

#include "tools/problems.h"

#include "tools/text/terminal.h"

namespace taper::tools {
namespace {

void print_line(std::FILE* to, const char* label, const std::string& text) {
  if (!text.empty()) std::fprintf(to, "      %-9s %s\n", label, one_line(text).c_str());
}

}  // namespace

void print_problems(std::FILE* to, const std::vector<exir::Diagnostic>& problems,
                    const std::string& said) {
  const auto known = [&](const std::string& part) { return said.find(part) != said.npos; };
  for (const exir::Diagnostic& d : problems) {
    if (known(d.message) && known(d.source) && known(d.remedy)) continue;
    const std::string where = d.where.empty() ? "" : d.where + ": ";
    std::fprintf(to, "  %s\n", one_line(where + d.message).c_str());
    print_line(to, "at", d.source);
    print_line(to, "expected", d.expected);
    print_line(to, "found", d.actual);
    print_line(to, "remedy", d.remedy);
    print_line(to, "id", d.id + (d.stage.empty() ? "" : ", found by " + d.stage));
  }
}

void add_problems(JsonWriter& json, const std::vector<exir::Diagnostic>& problems) {
  json.open('[');
  for (const exir::Diagnostic& d : problems) {
    json.open('{').key("id").text(d.id).key("stage").text(d.stage).key("node").text(d.where);
    json.key("message").text(d.message).key("source").text(d.source);
    json.key("expected").text(d.expected).key("actual").text(d.actual);
    json.key("remedy").text(d.remedy).close('}');
  }
  json.close(']');
}

}  // namespace taper::tools
