// Throws the front end's failures with text from the file made safe to print, and keeps its budget.

#include "exir/frontend/refuse.h"

namespace taper::exir {
namespace {

constexpr size_t kLongestPart = 600;
constexpr size_t kLongestName = 80;

constexpr uint64_t kMiB = 1 << 20;

std::string printable(std::string_view text) {
  std::string out(text.substr(0, kLongestPart));
  if (text.size() > kLongestPart) out += "...";
  for (char& c : out) {
    if (c < 0x20 || c == 0x7f) c = '?';
  }
  return out;
}

}  // namespace

void refuse(std::string_view id, std::string_view message, std::string_view where,
            std::string_view remedy, std::string_view source) {
  refuse(Diagnostic{std::string(id), std::string(message), std::string(where), std::string(source),
                    std::string(remedy)});
}

void refuse(Diagnostic diagnostic) {
  for (std::string* part : {&diagnostic.message, &diagnostic.where, &diagnostic.source,
                            &diagnostic.remedy, &diagnostic.expected, &diagnostic.actual}) {
    *part = printable(*part);
  }
  std::string summary = diagnostic.message;
  if (!diagnostic.where.empty()) summary = diagnostic.where + ": " + summary;
  if (!diagnostic.source.empty()) summary += " [" + diagnostic.source + "]";
  if (!diagnostic.remedy.empty()) summary += "; " + diagnostic.remedy;
  throw Failure(summary, {diagnostic});
}

std::string in_quotes(std::string_view name) {
  std::string out = "'" + std::string(name.substr(0, kLongestName));
  return out + (name.size() > kLongestName ? "...'" : "'");
}

Budget::Budget(uint64_t file_bytes)
    : bytes_left_(16 * kMiB + 16 * file_bytes),
      items_left_(kMiB / 4 + file_bytes),
      text_limit_(3 * kMiB + 4 * file_bytes) {}

void Budget::take_bytes(uint64_t bytes, std::string_view where) {
  if (bytes > bytes_left_) {
    refuse("decompression-bomb", "unpacks to far more than a file of this size may hold", where);
  }
  bytes_left_ -= bytes;
}

void Budget::take_items(uint64_t items, std::string_view where) {
  if (items > items_left_) {
    refuse("too-many-items", "holds more entries than a file of this size may", where);
  }
  items_left_ -= items;
}

}  // namespace taper::exir
