// Output for people: colour, and progress on stderr. Both are omitted if the stream is not a
// terminal, so that logs and pipes stay plain.

#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

namespace taper::tools {

bool is_terminal(std::FILE* stream);

// `text` in bold or in a colour if `stream` is a terminal and NO_COLOR is not set, else `text`.
enum class Colour { kBold, kGreen, kRed, kDim };
std::string coloured(std::FILE* stream, Colour colour, const std::string& text);

// Prints "taper: note: ..." to stderr; prints nothing for an empty text.
void print_note(const std::string& text);

// A line on stderr that counts up, and is erased on destruction.
class Progress {
 public:
  Progress(std::string label, size_t total);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();
  void step();

 private:
  std::string label_;
  size_t total_, done_ = 0;
  int shown_ = -1;
  bool on_;
};

// Formats bytes with units of 1000: "512 B", "3.4 KB", "14.0 MB".
std::string bytes_text(double bytes);
// Formats a time: "850 ns", "3.4 us", "12.0 ms", "1.25 s".
std::string time_text(double seconds);

}  // namespace taper::tools
