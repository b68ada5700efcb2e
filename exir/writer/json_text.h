// JSON as text: a program is changed by copying most of its text and writing some of it anew.
//
// The front end's parser turns numbers into binary and so forgets how they were spelled. Here an
// object or a list is split into the texts of its parts, one level at a time; what is not touched
// keeps every byte.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace taper::exir {

struct JsonMember {
  std::string key;         // Decoded.
  std::string_view value;  // Its text.
};

// The parts of an object or a list. The views point into the argument. Throws Failure if the text
// is something else.
std::vector<JsonMember> json_members(std::string_view object);
std::vector<std::string_view> json_items(std::string_view list);

// The text of a member; empty if there is none.
std::string_view json_member(std::string_view object, std::string_view key);
// Throws Failure if it is missing.
std::string_view json_required(std::string_view object, std::string_view key);

// A string between quotes, with escapes; and back. json_unquote() throws Failure for other text.
std::string json_quote(std::string_view text);
std::string json_unquote(std::string_view quoted);

// "{"key":value,...}" of texts.
std::string object_text(const std::vector<JsonMember>& members);
std::string list_text(const std::vector<std::string>& items);

}  // namespace taper::exir
