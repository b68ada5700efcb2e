// What is shown to a person: colour, and progress on stderr. Both vanish when the stream is no
// terminal, so logs and pipes stay plain.

#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

namespace taper::tools {

bool is_terminal(std::FILE* stream);

// `text` in bold, green or red when `stream` is a terminal that wants colour, else `text`.
enum class Colour { kBold, kGreen, kRed, kDim };
std::string coloured(std::FILE* stream, Colour colour, const std::string& text);

// "taper: note: ..." on stderr; nothing for an empty text.
void print_note(const std::string& text);

// One line on stderr that counts up; erased at the end.
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

// "512 B", "3.4 KB", "14.0 MB": powers of 1000.
std::string bytes_text(double bytes);
// "850 ns", "3.4 us", "12.0 ms", "1.25 s".
std::string time_text(double seconds);

}  // namespace taper::tools
