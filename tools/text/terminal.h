// Output for people: colour, and progress on stderr. Both are omitted if the stream is not a
// terminal, so that logs and pipes stay plain.

#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

namespace taper::tools {

bool is_terminal(std::FILE* stream);

// `text` in bold or in a colour if `stream` is a terminal and NO_COLOR is not set, else `text`.
enum class Colour { kBold, kGreen, kRed, kDim };
std::string coloured(std::FILE* stream, Colour colour, const std::string& text);

// `text` with its control characters written as \xNN: a name out of a damaged or hostile file must
// neither end the line nor speak to the terminal.
std::string one_line(std::string_view text);

// Prints "taper: note: ..." to stderr in one line; prints nothing for an empty text.
void print_note(const std::string& text);

// What every command shows of long work: a line on stderr that counts up, and is erased on
// destruction. Work that is done at once shows none.
class Progress {
 public:
  Progress() = default;
  // For work of `total` steps.
  Progress(std::string label, uint64_t total) : steps_(std::move(label)), total_(total) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();
  // One more step is done.
  void step() { show(steps_, ++done_, total_); }
  // For work in phases, each with a label: how much is done of the phase.
  void show(std::string_view label, uint64_t done, uint64_t total);

 private:
  const bool on_ = is_terminal(stderr);
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  const std::string steps_;
  const uint64_t total_ = 0;
  uint64_t done_ = 0;
  std::string label_;  // What the line says; percent_ is negative as long as there is none.
  int percent_ = -1;
};

// Formats bytes with units of 1000: "512 B", "3.4 KB", "14.0 MB".
std::string bytes_text(double bytes);
// Formats a time: "850 ns", "3.4 us", "12.0 ms", "1.25 s".
std::string time_text(double seconds);

}  // namespace taper::tools
