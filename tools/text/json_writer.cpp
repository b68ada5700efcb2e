// Whatever bytes a text has, which may be names from a file, the JSON is UTF-8.

#include "tools/text/json_writer.h"

namespace taper::tools {
namespace {

// How many bytes the character at the start of `text` has; 0 if it is not UTF-8.
size_t character_bytes(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return 1;
  const size_t bytes = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < bytes) return 0;
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const unsigned second = byte(1);  // Overlong forms, surrogates, numbers above the last.
  if (byte(0) == 0xe0 && second < 0xa0) return 0;
  if (byte(0) == 0xed && second > 0x9f) return 0;
  if (byte(0) == 0xf0 && second < 0x90) return 0;
  if (byte(0) == 0xf4 && second > 0x8f) return 0;
  return bytes;
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t bytes = character_bytes(text);
    out += bytes == 0 ? std::string_view("\xef\xbf\xbd") : text.substr(0, bytes);
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return out;
}

void JsonWriter::quote(std::string_view value) {
  out_ += '"';
  for (const char c : valid_utf8(value)) {
    if (c == '"' || c == '\\') {
      out_ += '\\';
      out_ += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", c);
      out_ += escape;
    } else {
      out_ += c;
    }
  }
  out_ += '"';
}

}  // namespace taper::tools
