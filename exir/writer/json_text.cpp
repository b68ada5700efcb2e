// Splits JSON by a scan that knows strings and nesting. The text has been parsed before, so the
// scan need not find every error; it only never leaves the text.

#include "exir/writer/json_text.h"

#include "exir/frontend/refuse.h"

namespace taper::exir {
namespace {

[[noreturn]] void malformed() { refuse("bad-json", "the program's text is not valid JSON"); }

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// The position after the string that starts at `at`.
size_t end_of_string(std::string_view text, size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  malformed();
}

// Calls `part(text)` for each part between the brackets.
template <typename Part>
void split(std::string_view text, char open, char close, const Part& part) {
  text = trim(text);
  if (text.size() < 2 || text.front() != open || text.back() != close) malformed();
  text = text.substr(1, text.size() - 2);
  if (trim(text).empty()) return;
  size_t start = 0, depth = 0;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      at = end_of_string(text, at);
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') {
      if (depth == 0) malformed();
      --depth;
    }
    if (c == ',' && depth == 0) {
      part(trim(text.substr(start, at - start)));
      start = at + 1;
    }
    ++at;
  }
  if (depth != 0) malformed();
  part(trim(text.substr(start)));
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  malformed();
}

uint32_t hex4(std::string_view text, size_t at) {
  if (at + 4 > text.size()) malformed();
  uint32_t code = 0;
  for (size_t i = 0; i < 4; ++i) code = code * 16 + static_cast<uint32_t>(hex_digit(text[at + i]));
  return code;
}

void add_utf8(std::string& out, uint32_t code) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3f)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | (code >> 12));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xf0 | (code >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

// Adds what the escape at `at`, behind its backslash, stands for. Returns its last position.
size_t add_escape(std::string& out, std::string_view text, size_t at) {
  constexpr std::string_view kLetters = "bfnrt", kControls = "\b\f\n\r\t";
  if (at >= text.size()) malformed();
  if (text[at] != 'u') {
    const size_t known = kLetters.find(text[at]);
    out += known == std::string_view::npos ? text[at] : kControls[known];
    return at;
  }
  uint32_t code = hex4(text, at + 1);
  at += 4;
  const bool pair = code >= 0xd800 && code < 0xdc00 && text.substr(at + 1, 2) == "\\u";
  if (pair) {
    code = 0x10000 + ((code - 0xd800) << 10) + ((hex4(text, at + 3) - 0xdc00) & 0x3ff);
    at += 6;
  }
  add_utf8(out, code);
  return at;
}

}  // namespace

std::vector<std::string_view> json_items(std::string_view list) {
  std::vector<std::string_view> items;
  split(list, '[', ']', [&](std::string_view item) { items.push_back(item); });
  return items;
}

std::vector<JsonMember> json_members(std::string_view object) {
  std::vector<JsonMember> members;
  split(object, '{', '}', [&](std::string_view member) {
    if (member.empty() || member[0] != '"') malformed();
    const size_t end = end_of_string(member, 0);
    const std::string_view rest = trim(member.substr(end));
    if (rest.empty() || rest[0] != ':') malformed();
    members.push_back({json_unquote(member.substr(0, end)), trim(rest.substr(1))});
  });
  return members;
}

std::string_view json_member(std::string_view object, std::string_view key) {
  for (const JsonMember& member : json_members(object)) {
    if (member.key == key) return member.value;
  }
  return {};
}

std::string_view json_required(std::string_view object, std::string_view key) {
  const std::string_view found = json_member(object, key);
  if (found.empty()) refuse("bad-json", in_quotes(key) + " is missing");
  return found;
}

std::string json_quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      constexpr char kDigits[] = "0123456789abcdef";
      out += "\\u00";
      out += kDigits[(c >> 4) & 0xf];
      out += kDigits[c & 0xf];
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string json_unquote(std::string_view quoted) {
  quoted = trim(quoted);
  if (quoted.size() < 2 || quoted.front() != '"' || quoted.back() != '"') malformed();
  quoted = quoted.substr(1, quoted.size() - 2);
  std::string out;
  for (size_t at = 0; at < quoted.size(); ++at) {
    if (quoted[at] == '\\') {
      at = add_escape(out, quoted, at + 1);
    } else {
      out += quoted[at];
    }
  }
  return out;
}

std::string object_text(const std::vector<JsonMember>& members) {
  std::string out = "{";
  for (const JsonMember& member : members) {
    if (out.size() > 1) out += ", ";
    out += json_quote(member.key);
    out += ": ";
    out += member.value;
  }
  return out + "}";
}

std::string list_text(const std::vector<std::string>& items) {
  std::string out = "[";
  for (const std::string& item : items) {
    if (out.size() > 1) out += ", ";
    out += item;
  }
  return out + "]";
}

}  // namespace taper::exir
