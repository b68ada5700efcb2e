// Mutations of an archive's JSON and members.

#include <algorithm>
#include <vector>

#include "test/fuzz/archive.h"
#include "test/fuzz/mutate.h"

namespace taper::fuzz {
namespace {

struct Token {
  size_t begin, end;
};

// Strings, numbers and words of a JSON text; punctuation is not changed, so that most edits remain
// valid JSON.
std::vector<Token> tokens_of(const std::string& json) {
  std::vector<Token> tokens;
  for (size_t at = 0; at < json.size();) {
    const size_t begin = at;
    if (json[at] == '"') {
      for (++at; at < json.size() && json[at] != '"'; ++at) at += json[at] == '\\';
      at = std::min(at + 1, json.size());
      tokens.push_back({begin, at});
    } else if (std::string_view("{}[]:, \n\t\r").find(json[at]) == std::string_view::npos) {
      while (at < json.size() &&
             std::string_view("{}[]:, \n\t\r").find(json[at]) == std::string_view::npos) {
        ++at;
      }
      tokens.push_back({begin, at});
    } else {
      ++at;
    }
  }
  return tokens;
}

// The bracketed value that opens at or after `at`.
Token value_at(const std::string& json, size_t at) {
  const size_t open = json.find_first_of("{[", at);
  if (open == std::string::npos) return {json.size(), json.size()};
  int depth = 0;
  for (size_t i = open; i < json.size(); ++i) {
    if (json[i] == '"') {
      for (++i; i < json.size() && json[i] != '"'; ++i) i += json[i] == '\\';
    } else if (json[i] == '{' || json[i] == '[') {
      ++depth;
    } else if ((json[i] == '}' || json[i] == ']') && --depth == 0) {
      return {open, i + 1};
    }
  }
  return {open, json.size()};
}

std::string awkward_token(const std::string& json, const std::vector<Token>& tokens,
                          Random& random) {
  switch (random.below(6)) {
    case 0:
      return std::to_string(static_cast<int64_t>(awkward_integer(random)));
    case 1:
      return "null";
    case 2:
      return random.one_in(2) ? "\"\"" : "\"Infinity\"";
    case 3:
      return random.one_in(2) ? "true" : "1e999";
    default: {  // Another token of the file, for undefined names, wrong types and cycles.
      const Token other = tokens[random.below(tokens.size())];
      return json.substr(other.begin, other.end - other.begin);
    }
  }
}

void edit_json(std::string& json, Random& random) {
  const std::vector<Token> tokens = tokens_of(json);
  if (tokens.empty()) return;
  const Token token = tokens[random.below(tokens.size())];
  if (!random.one_in(6)) {
    json.replace(token.begin, token.end - token.begin, awkward_token(json, tokens, random));
    return;
  }
  // Replace a whole value by an empty one or by another value.
  const Token value = value_at(json, token.begin);
  const Token other = value_at(json, tokens[random.below(tokens.size())].begin);
  const std::string by =
      random.one_in(2) ? "{}" : json.substr(other.begin, other.end - other.begin);
  if (by.size() < 4096) json.replace(value.begin, value.end - value.begin, by);
}

bool is_json(const Member& member) {
  return member.name.size() > 5 && member.name.compare(member.name.size() - 5, 5, ".json") == 0;
}

}  // namespace

std::string mutate_pt2(const std::string& file, Random& random) {
  std::vector<Member> members = unpack(file);
  std::vector<size_t> json;
  for (size_t i = 0; i < members.size(); ++i) {
    if (is_json(members[i])) json.push_back(i);
  }
  if (json.empty() || random.one_in(4)) return mutate_bytes(file, random);
  if (random.one_in(8)) {
    Member& member = members[random.below(members.size())];
    if (random.one_in(2)) {
      member.data = mutate_bytes(member.data, random);
    } else {
      member.name = mutate_bytes(member.name, random);
    }
    return pack(members);
  }
  const size_t edits = 1 + random.below(3);
  // Prefer the program itself, which is the largest JSON member.
  const size_t largest = *std::max_element(json.begin(), json.end(), [&](size_t a, size_t b) {
    return members[a].data.size() < members[b].data.size();
  });
  for (size_t i = 0; i < edits; ++i) {
    const size_t target = random.one_in(4) ? json[random.below(json.size())] : largest;
    edit_json(members[target].data, random);
  }
  return pack(members);
}

}  // namespace taper::fuzz
