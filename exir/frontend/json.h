// JSON as the front end wants it: parsed whole by simdjson, then read through accessors that throw
// a Failure naming what is missing or of the wrong type. The file is never trusted to have a shape.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "exir/frontend/blob.h"

namespace taper::exir {

// One value in a document; cheap to copy, valid while the document lives. simdjson's element under
// another name, which keeps its header out of everything but json.cpp.
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

// What a range-for needs over the items of a list or the members of an object.
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

// Owns what all its values point into.
class JsonDocument {
 public:
  // `name` is what messages call it. Accepts the bare NaN and Infinity that PyTorch 2.6 writes.
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

// `what` names the value in the message: "inputs", "sizes".
JsonArray json_array(Json value, std::string_view what);
JsonObject json_object(Json value, std::string_view what);
std::string_view json_text(Json value, std::string_view what);
int64_t json_int(Json value, std::string_view what);
bool json_bool(Json value, std::string_view what);
// Also integers, and the texts "NaN", "Infinity" and "-Infinity".
double json_double(Json value, std::string_view what);
JsonVariant json_variant(Json value, std::string_view what);

// The member of an object; nullopt if it is missing or null.
std::optional<Json> json_find(Json object, std::string_view key);
Json json_need(Json object, std::string_view key);
std::string_view json_text_or(Json object, std::string_view key, std::string_view otherwise);

}  // namespace taper::exir
