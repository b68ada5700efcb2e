// simdjson behind our errors, and the pass that makes PyTorch 2.6's output JSON.

#include "exir/frontend/json.h"

#include <cstring>
#include <limits>

#include "exir/frontend/refuse.h"

namespace taper::exir {
namespace {

// Nested graphs take about ten levels each.
constexpr size_t kDeepest = 256;

[[noreturn]] void wrong_type(std::string_view what, const char* expected) {
  refuse("bad-json", in_quotes(what) + " is not " + expected);
}

bool ends_token(char c) { return c == ',' || c == ']' || c == '}' || c == ' ' || c == '\n'; }

// The bare token that starts here, or an empty text.
std::string_view bare_token(std::string_view rest) {
  for (std::string_view token : {"NaN", "Infinity", "-Infinity"}) {
    if (rest.starts_with(token) && (rest.size() == token.size() || ends_token(rest[token.size()]))) {
      return token;
    }
  }
  return {};
}

// Puts quotes round NaN, Infinity and -Infinity where they stand outside of strings.
std::string quote_bare_tokens(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 16 + simdjson::SIMDJSON_PADDING);
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\' && i + 1 < text.size()) {
      out += c;
      out += text[++i];
      continue;
    }
    if (c == '"') in_string = !in_string;
    const std::string_view token = in_string ? std::string_view() : bare_token(text.substr(i));
    if (token.empty()) {
      out += c;
    } else {
      out.append("\"").append(token).append("\"");
      i += token.size() - 1;
    }
  }
  return out;
}

}  // namespace

JsonDocument::JsonDocument(const Blob& text, std::string_view name) : text_(text) {
  auto parse = [&](const char* data, size_t size, bool padded) {
    simdjson::error_code error = parser_.allocate(size, kDeepest);
    if (!error) error = parser_.parse(data, size, !padded).get(root_);
    return error;
  };
  simdjson::error_code error = parse(text_.text().data(), text_.text().size(),
                                     text_.slack >= simdjson::SIMDJSON_PADDING);
  if (error && error != simdjson::DEPTH_ERROR) {
    const std::string fixed = quote_bare_tokens(text_.text());
    if (fixed.size() != text_.bytes.size()) error = parse(fixed.data(), fixed.size(), false);
  }
  if (error) {
    refuse("bad-json", std::string("is not valid JSON: ") + simdjson::error_message(error), name);
  }
}

JsonArray json_array(Json value, std::string_view what) {
  JsonArray out;
  if (value.get(out)) wrong_type(what, "a list");
  return out;
}

JsonObject json_object(Json value, std::string_view what) {
  JsonObject out;
  if (value.get(out)) wrong_type(what, "an object");
  return out;
}

std::string_view json_text(Json value, std::string_view what) {
  std::string_view out;
  if (value.get(out)) wrong_type(what, "a text");
  return out;
}

int64_t json_int(Json value, std::string_view what) {
  int64_t out = 0;
  if (!value.is_int64() || value.get(out)) wrong_type(what, "a 64-bit integer");
  return out;
}

bool json_bool(Json value, std::string_view what) {
  bool out = false;
  if (value.get(out)) wrong_type(what, "true or false");
  return out;
}

double json_double(Json value, std::string_view what) {
  double out = 0;
  if (!value.get(out)) return out;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::string_view text;
  if (value.get(text)) wrong_type(what, "a number");
  if (text == "Infinity") return kInfinity;
  if (text == "-Infinity") return -kInfinity;
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  wrong_type(what, "a number");
}

JsonVariant json_variant(Json value, std::string_view what) {
  const JsonObject object = json_object(value, what);
  auto first = object.begin();
  if (first == object.end()) wrong_type(what, "an object with one member");
  const JsonVariant out{first.key(), first.value()};
  if (++first != object.end()) wrong_type(what, "an object with one member");
  return out;
}

std::optional<Json> json_find(Json object, std::string_view key) {
  Json out;
  if (object.at_key(key).get(out) || out.is_null()) return std::nullopt;
  return out;
}

Json json_need(Json object, std::string_view key) {
  const std::optional<Json> found = json_find(object, key);
  if (!found) refuse("bad-json", in_quotes(key) + " is missing");
  return *found;
}

std::string_view json_text_or(Json object, std::string_view key, std::string_view otherwise) {
  const std::optional<Json> found = json_find(object, key);
  return found ? json_text(*found, key) : otherwise;
}

}  // namespace taper::exir
