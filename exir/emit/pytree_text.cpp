// Converts the exporter's JSON recursively; anything unexpected gives no text.

#include "exir/emit/pytree_text.h"

#include <simdjson.h>

#include <vector>

namespace taper::exir {
namespace {

using simdjson::dom::element;

constexpr int kMaxDepth = 64;

struct Spec {
  std::string text;
  int leaves = 0;
};

std::string quoted(std::string_view text) { return '"' + std::string(text) + '"'; }

// The keys of a dict as they appear in the short form.
std::vector<std::string> keys_of(element context) {
  std::vector<std::string> keys;
  simdjson::dom::parser parser;
  std::string_view text;
  element list = context;
  if (context.get(text) == simdjson::SUCCESS &&
      parser.parse(simdjson::padded_string(text)).get(list) != simdjson::SUCCESS) {
    return keys;
  }
  simdjson::dom::array items;
  if (list.get(items) != simdjson::SUCCESS) return keys;
  for (element item : items) {
    std::string_view name;
    int64_t number = 0;
    if (item.get(name) == simdjson::SUCCESS)
      keys.push_back(quoted(name));
    else if (item.get(number) == simdjson::SUCCESS)
      keys.push_back(std::to_string(number));
  }
  return keys;
}

char letter_of(std::string_view type) {
  if (type.find("tuple") != std::string_view::npos) return 'T';
  if (type.find("list") != std::string_view::npos) return 'L';
  if (type.find("dict") != std::string_view::npos || type.find("Dict") != std::string_view::npos) {
    return 'D';
  }
  return 0;
}

bool write(element node, int depth, Spec& out) {
  element type, children;
  if (depth > kMaxDepth || node["type"].get(type) != simdjson::SUCCESS) return false;
  if (type.is_null()) {
    out = {"$", 1};
    return true;
  }
  std::string_view name;
  simdjson::dom::array items;
  if (type.get(name) != simdjson::SUCCESS ||
      node["children_spec"].get(children) != simdjson::SUCCESS ||
      children.get(items) != simdjson::SUCCESS) {
    return false;
  }
  const char letter = letter_of(name);
  if (letter == 0) return false;
  std::vector<std::string> keys;
  element context;
  if (letter == 'D' && node["context"].get(context) == simdjson::SUCCESS) keys = keys_of(context);
  std::string counts, body;
  size_t i = 0;
  for (element item : items) {
    Spec child;
    if (!write(item, depth + 1, child)) return false;
    counts += "#" + std::to_string(child.leaves);
    if (i > 0) body += ',';
    if (i < keys.size()) body += keys[i] + ":";
    body += child.text;
    out.leaves += child.leaves;
    ++i;
  }
  out.text = letter + std::to_string(i) + counts + "(" + body + ")";
  return true;
}

}  // namespace

std::string pytree_text(const std::string& json) {
  if (json.empty()) return "";
  simdjson::dom::parser parser;
  simdjson::dom::array parts;
  if (parser.parse(json).get(parts) != simdjson::SUCCESS || parts.size() != 2) return "";
  Spec spec;
  return write(parts.at(1).value_unsafe(), 0, spec) ? spec.text : "";
}

}  // namespace taper::exir
