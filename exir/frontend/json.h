// JSON for the front end: parsed as a whole by simdjson, then read through accessors that throw a
// Failure naming what is missing or of the wrong type.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "exir/frontend/blob.h"

namespace taper::exir {

// One value in a document; cheap to copy, valid while the document lives. It has the layout of
// simdjson's element, whose header is included by json.cpp alone.
class Json {
 public:
  bool is_object() const;
  bool is_int64() const;

 private:
  [[maybe_unused]] const void* document_ = nullptr;  // Read in json.cpp, as simdjson's element.
  [[maybe_unused]] size_t index_ = 0;
};

struct JsonField {
  std::string_view key;
  Json value;
};

// Iterates over the items of a list or the members of an object.
template <typename Item>
class JsonRange {
 public:
  class Iterator {
   public:
    Item operator*() const;
    Iterator& operator++();
    bool operator!=(const Iterator& other) const { return at_.index != other.at_.index; }
    bool operator==(const Iterator& other) const { return at_.index == other.at_.index; }

   private:
    friend JsonRange;
    struct {
      const void* document;
      size_t index;
    } at_ = {nullptr, 0};
  };

  JsonRange() = default;
  explicit JsonRange(Json owner);
  Iterator begin() const { return begin_; }
  Iterator end() const { return end_; }

 private:
  Iterator begin_, end_;
};

using JsonArray = JsonRange<Json>;
using JsonObject = JsonRange<JsonField>;
size_t json_size(const JsonArray& array);

// A parsed document; it owns the memory that its values point into.
class JsonDocument {
 public:
  // Messages call the document `name`. Accepts the bare NaN and Infinity that PyTorch 2.6 writes,
  // and integers of more than 64 bits, which become the nearest int64.
  JsonDocument(const Blob& text, std::string_view name);
  JsonDocument(const JsonDocument&) = delete;
  JsonDocument& operator=(const JsonDocument&) = delete;
  ~JsonDocument();
  Json root() const { return root_; }

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
  Json root_;
};

// The one member of a union such as {"as_int": 3}.
struct JsonVariant {
  std::string_view key;
  Json value;
};

// The value as a C++ type; throws Failure if it is of another type. `what` names the value in the
// message: "inputs", "sizes".
JsonArray json_array(Json value, std::string_view what);
JsonObject json_object(Json value, std::string_view what);
std::string_view json_text(Json value, std::string_view what);
int64_t json_int(Json value, std::string_view what);
bool json_bool(Json value, std::string_view what);
// Accepts integers too, and the strings "NaN", "Infinity" and "-Infinity".
double json_double(Json value, std::string_view what);
JsonVariant json_variant(Json value, std::string_view what);

// The member of an object; nullopt if it is missing or null. json_need() throws Failure instead,
// json_text_or() returns `otherwise`.
std::optional<Json> json_find(Json object, std::string_view key);
Json json_need(Json object, std::string_view key);
std::string_view json_text_or(Json object, std::string_view key, std::string_view otherwise);

}  // namespace taper::exir
