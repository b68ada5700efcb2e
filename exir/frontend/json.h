// JSON as the front end wants it: parsed whole by simdjson, then read through accessors that throw a
// Failure naming what is missing or of the wrong type. The file is never trusted to have a shape.

#pragma once

#include <simdjson.h>

#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "exir/frontend/blob.h"

namespace taper::exir {

using Json = simdjson::dom::element;
using JsonArray = simdjson::dom::array;
using JsonObject = simdjson::dom::object;

// Owns what all its elements point into.
class JsonDocument {
 public:
  // `name` is what messages call it. Accepts the bare NaN and Infinity that PyTorch 2.6 writes.
  JsonDocument(const Blob& text, std::string_view name);
  JsonDocument(const JsonDocument&) = delete;
  JsonDocument& operator=(const JsonDocument&) = delete;
  Json root() const { return root_; }

 private:
  simdjson::dom::parser parser_;
  Blob text_;
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
