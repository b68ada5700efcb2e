// The JSON accessors over simdjson, and the repair of what PyTorch writes and simdjson does not
// read: bare NaN and Infinity (PyTorch 2.6), and integers of more than 64 bits, which occur as
// bounds of sizes.

#include "exir/frontend/json.h"

#include <simdjson.h>

#include <bit>
#include <charconv>
#include <cstdint>
#include <limits>
#include <new>
#include <string>

#include "exir/frontend/refuse.h"

namespace taper::exir {
namespace {

using Element = simdjson::dom::element;
static_assert(sizeof(Element) == sizeof(Json) && std::is_trivially_copyable_v<Element>);

Element element_of(const Json& json) { return std::bit_cast<Element>(json); }
Json json_of(const Element& element) { return std::bit_cast<Json>(element); }

// A nested graph takes about ten levels.
constexpr size_t kDeepest = 256;

[[noreturn]] void wrong_type(std::string_view what, const char* expected) {
  refuse("bad-json", in_quotes(what) + " is not " + expected);
}

bool ends_token(char c) { return c == ',' || c == ']' || c == '}' || c == ' ' || c == '\n'; }

// The bare token that `rest` starts with; empty if there is none.
std::string_view bare_token(std::string_view rest) {
  for (std::string_view token : {"NaN", "Infinity", "-Infinity"}) {
    if (rest.starts_with(token) &&
        (rest.size() == token.size() || ends_token(rest[token.size()]))) {
      return token;
    }
  }
  return {};
}

// The integer that `rest` starts with, if it fits neither an int64 nor a uint64; empty otherwise.
std::string_view long_integer(std::string_view rest) {
  const size_t sign = rest.starts_with('-') ? 1 : 0;
  size_t end = sign;
  while (end < rest.size() && rest[end] >= '0' && rest[end] <= '9') ++end;
  if (end == sign || (end < rest.size() && !ends_token(rest[end]))) return {};
  const auto fits = [&](auto value) {
    return std::from_chars(rest.data(), rest.data() + end, value).ec == std::errc();
  };
  return fits(int64_t{}) || fits(uint64_t{}) ? std::string_view() : rest.substr(0, end);
}

// Puts quotes round NaN, Infinity and -Infinity where they stand outside of strings, and replaces
// integers of more than 64 bits by the nearest int64. Returns the text itself if it has none.
std::string repaired(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 16 + simdjson::SIMDJSON_PADDING);
  bool in_string = false;
  char last = ' ';
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\' && i + 1 < text.size()) {
      out += c;
      out += text[++i];
      continue;
    }
    if (c == '"') in_string = !in_string;
    const bool starts = !in_string && (last == ' ' || last == ':' || last == ',' || last == '[');
    last = c;
    const std::string_view token = in_string ? std::string_view() : bare_token(text.substr(i));
    const std::string_view integer = starts ? long_integer(text.substr(i)) : std::string_view();
    if (!token.empty()) {
      out.append("\"").append(token).append("\"");
      i += token.size() - 1;
    } else if (!integer.empty()) {
      out += std::to_string(c == '-' ? INT64_MIN : INT64_MAX);
      i += integer.size() - 1;
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

struct JsonDocument::Parser {
  simdjson::dom::parser parser;
  Blob text;
};

JsonDocument::~JsonDocument() = default;

JsonDocument::JsonDocument(const Blob& text, std::string_view name)
    : parser_(std::make_unique<Parser>()) {
  parser_->text = text;
  Element root;
  auto parse = [&](const char* data, size_t size, bool padded) {
    simdjson::error_code error = parser_->parser.allocate(size, kDeepest);
    if (!error) error = parser_->parser.parse(data, size, !padded).get(root);
    return error;
  };
  simdjson::error_code error =
      parse(text.text().data(), text.bytes.size(), text.slack >= simdjson::SIMDJSON_PADDING);
  if (error && error != simdjson::DEPTH_ERROR) {
    const std::string fixed = repaired(text.text());
    if (fixed != text.text()) error = parse(fixed.data(), fixed.size(), false);
  }
  if (error == simdjson::MEMALLOC) throw std::bad_alloc();
  if (error) {
    refuse("bad-json", std::string("is not valid JSON: ") + simdjson::error_message(error), name);
  }
  root_ = json_of(root);
}

bool Json::is_object() const { return element_of(*this).is_object(); }
bool Json::is_int64() const { return element_of(*this).is_int64(); }

// Like ours, simdjson's iterators are a position in its tape: they can be converted bit by bit.
template <>
Json JsonArray::Iterator::operator*() const {
  return json_of(*std::bit_cast<simdjson::dom::array::iterator>(at_));
}
template <>
JsonArray::Iterator& JsonArray::Iterator::operator++() {
  auto next = std::bit_cast<simdjson::dom::array::iterator>(at_);
  at_ = std::bit_cast<decltype(at_)>(++next);
  return *this;
}
template <>
JsonField JsonObject::Iterator::operator*() const {
  const auto at = std::bit_cast<simdjson::dom::object::iterator>(at_);
  return {at.key(), json_of(at.value())};
}
template <>
JsonObject::Iterator& JsonObject::Iterator::operator++() {
  auto next = std::bit_cast<simdjson::dom::object::iterator>(at_);
  at_ = std::bit_cast<decltype(at_)>(++next);
  return *this;
}

// REQUIRES: the owner is a list, or an object. Else the range is empty.
template <>
JsonArray::JsonRange(Json owner) {
  simdjson::dom::array array;
  if (element_of(owner).get(array)) return;
  begin_.at_ = std::bit_cast<decltype(begin_.at_)>(array.begin());
  end_.at_ = std::bit_cast<decltype(end_.at_)>(array.end());
}
template <>
JsonObject::JsonRange(Json owner) {
  simdjson::dom::object object;
  if (element_of(owner).get(object)) return;
  begin_.at_ = std::bit_cast<decltype(begin_.at_)>(object.begin());
  end_.at_ = std::bit_cast<decltype(end_.at_)>(object.end());
}

size_t json_size(const JsonArray& array) {
  size_t count = 0;
  for (auto at = array.begin(); at != array.end(); ++at) ++count;
  return count;
}

JsonArray json_array(Json value, std::string_view what) {
  if (!element_of(value).is_array()) wrong_type(what, "a list");
  return JsonArray(value);
}

JsonObject json_object(Json value, std::string_view what) {
  if (!element_of(value).is_object()) wrong_type(what, "an object");
  return JsonObject(value);
}

std::string_view json_text(Json value, std::string_view what) {
  std::string_view out;
  if (element_of(value).get(out)) wrong_type(what, "a string");
  return out;
}

int64_t json_int(Json value, std::string_view what) {
  int64_t out = 0;
  if (!value.is_int64() || element_of(value).get(out)) wrong_type(what, "a 64-bit integer");
  return out;
}

bool json_bool(Json value, std::string_view what) {
  bool out = false;
  if (element_of(value).get(out)) wrong_type(what, "true or false");
  return out;
}

double json_double(Json value, std::string_view what) {
  double out = 0;
  if (!element_of(value).get(out)) return out;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::string_view text;
  if (element_of(value).get(text)) wrong_type(what, "a number");
  if (text == "Infinity") return kInfinity;
  if (text == "-Infinity") return -kInfinity;
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  wrong_type(what, "a number");
}

JsonVariant json_variant(Json value, std::string_view what) {
  const JsonObject object = json_object(value, what);
  auto first = object.begin();
  if (first == object.end()) wrong_type(what, "an object with one member");
  const JsonVariant out{(*first).key, (*first).value};
  if (++first != object.end()) wrong_type(what, "an object with one member");
  return out;
}

std::optional<Json> json_find(Json object, std::string_view key) {
  Element out;
  if (element_of(object).at_key(key).get(out) || out.is_null()) return std::nullopt;
  return json_of(out);
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
