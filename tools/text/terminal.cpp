// ANSI colours, progress, and numbers with units.

#include "tools/text/terminal.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace taper::tools {

bool is_terminal(std::FILE* stream) { return ::isatty(::fileno(stream)) == 1; }

std::string coloured(std::FILE* stream, Colour colour, const std::string& text) {
  const char* no_colour = std::getenv("NO_COLOR");
  if (!is_terminal(stream) || (no_colour != nullptr && *no_colour != '\0')) return text;
  const char* codes[] = {"1", "32", "31", "2"};
  return std::string("\x1b[") + codes[static_cast<int>(colour)] + "m" + text + "\x1b[0m";
}

std::string one_line(std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      line += c;
    } else {
      line += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return line;
}

void print_note(const std::string& text) {
  if (!text.empty()) std::fprintf(stderr, "taper: note: %s\n", one_line(text).c_str());
}

Progress::~Progress() {
  if (percent_ >= 0) std::fputs("\r\x1b[K", stderr);
}

void Progress::show(std::string_view label, uint64_t done, uint64_t total) {
  constexpr std::chrono::milliseconds kSilent(300);
  if (!on_ || label.empty()) return;
  const double part = total == 0 ? 1 : static_cast<double>(done) / static_cast<double>(total);
  const int percent = static_cast<int>(100 * std::min(part, 1.0));
  if (percent == percent_ && label == label_) return;
  if (std::chrono::steady_clock::now() - start_ < kSilent) return;
  percent_ = percent;
  label_ = label;
  std::fprintf(stderr, "\r\x1b[K%s %3d %%", label_.c_str(), percent);
}

namespace {

std::string scaled(double value, const char* format, const char* unit) {
  char text[64];
  std::snprintf(text, sizeof(text), format, value, unit);
  return text;
}

}  // namespace

std::string bytes_text(double bytes) {
  if (bytes < 1e3) return scaled(bytes, "%.0f %s", "B");
  if (bytes < 1e6) return scaled(bytes / 1e3, "%.1f %s", "KB");
  if (bytes < 1e9) return scaled(bytes / 1e6, "%.1f %s", "MB");
  return scaled(bytes / 1e9, "%.1f %s", "GB");
}

std::string time_text(double seconds) {
  if (seconds < 1e-6) return scaled(seconds * 1e9, "%.0f %s", "ns");
  if (seconds < 1e-3) return scaled(seconds * 1e6, "%.1f %s", "us");
  if (seconds < 1) return scaled(seconds * 1e3, "%.2f %s", "ms");
  return scaled(seconds, "%.2f %s", "s");
}

}  // namespace taper::tools
