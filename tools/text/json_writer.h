// Writes JSON text. It handles commas and quoting, and replaces what is not UTF-8; the caller is
// responsible for nesting.
//
//   JsonWriter json;
//   json.open('{').key("name").text("forward").key("sizes");
//   json.open('[').number(3).close(']').close('}');

#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace taper::tools {

// `text` with everything that is not UTF-8 replaced.
std::string valid_utf8(std::string_view text);

class JsonWriter {
 public:
  JsonWriter& open(char bracket) {
    separate();
    out_ += bracket;
    first_ = true;
    return *this;
  }
  JsonWriter& close(char bracket) {
    out_ += bracket;
    first_ = false;
    return *this;
  }
  JsonWriter& key(std::string_view name) {
    separate();
    quote(name);
    out_ += ':';
    first_ = true;
    return *this;
  }
  JsonWriter& text(std::string_view value) {
    separate();
    quote(value);
    return *this;
  }
  JsonWriter& number(int64_t value) { return raw(std::to_string(value)); }
  JsonWriter& number(double value) {
    if (!(value - value == 0))
      return text(value != value ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
    char digits[32];
    std::snprintf(digits, sizeof(digits), "%.17g", value);
    return raw(digits);
  }
  JsonWriter& boolean(bool value) { return raw(value ? "true" : "false"); }
  JsonWriter& null() { return raw("null"); }
  const std::string& str() const { return out_; }

 private:
  JsonWriter& raw(std::string_view value) {
    separate();
    out_ += value;
    return *this;
  }
  void separate() {
    if (!first_) out_ += ',';
    first_ = false;
  }
  void quote(std::string_view value);

  std::string out_;
  bool first_ = true;
};

}  // namespace taper::tools
