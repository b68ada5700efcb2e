#include "exir/ops/import_target.h"

#include <algorithm>

#include "exir/ir/failure.h"

namespace taper::exir {
namespace {

bool is_target_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == ':';
}

// The text comes from a file: it is cut short, and control characters are masked.
[[noreturn]] void refuse(std::string_view target) {
  constexpr size_t kLongest = 80;
  std::string shown(target.substr(0, kLongest));
  for (char& c : shown) {
    if (c < 0x20 || c == 0x7f) c = '?';
  }
  const std::string dots = target.size() > kLongest ? "..." : "";
  const std::string message = "'" + shown + dots + "' is not an operator's name";
  throw Failure(message, {Diagnostic{"bad-target", message, {}, {}, {}}});
}

}  // namespace

std::string import_target(std::string_view target) {
  constexpr size_t kLongest = 200;
  std::string out;
  if (target.starts_with("torch.ops.")) {
    target.remove_prefix(std::string_view("torch.ops.").size());
    const size_t dot = target.find('.');
    if (dot == target.npos) refuse(target);
    std::string_view name = target.substr(dot + 1);
    if (name.ends_with(".default")) name.remove_suffix(std::string_view(".default").size());
    out = std::string(target.substr(0, dot)) + "::" + std::string(name);
  } else if (target.starts_with("#")) {
    const size_t colon = target.find(':');
    out = colon == target.npos ? ""
                               : std::string(target.substr(1, colon - 1)) +
                                     "::" + std::string(target.substr(colon + 1));
  } else {
    for (std::string_view module :
         {"_operator.", "math.", "builtins.", "torch.sym_", "torch._sym_"}) {
      if (!target.starts_with(module)) continue;
      out = "python::" + std::string(target.substr(target.find('.') + 1));
      break;
    }
    if (out.empty()) out = "python::" + std::string(target);
  }
  const bool named = !out.empty() && out.size() <= kLongest && !out.ends_with(':');
  if (!named || !std::all_of(out.begin(), out.end(), is_target_char)) {
    refuse(target);
  }
  return out;
}

}  // namespace taper::exir
