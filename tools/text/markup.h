// Text within HTML and SVG.

#pragma once

#include <string>
#include <string_view>

namespace taper::tools {

// The text with `<`, `>`, `&` and `"` escaped, so that it stays text, also in an attribute.
inline std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace taper::tools
