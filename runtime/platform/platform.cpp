// The platform table: POSIX functions at first, or ones that do nothing.

#include "taper/platform.h"

#if defined(__unix__) || defined(__APPLE__)
#define TAPER_POSIX 1
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#else
#define TAPER_POSIX 0
#endif

namespace taper {
namespace {

#if TAPER_POSIX

void log_line(LogLevel level, std::string_view line) {
  static constexpr char kLetters[] = {'D', 'I', 'E', 'F'};
  const size_t index = static_cast<size_t>(level);
  fprintf(stderr, "%c taper: %.*s\n", index < sizeof(kLetters) ? kLetters[index] : '?',
          static_cast<int>(line.size()), line.data());
}

uint64_t now_ns() {
  struct timespec now;
  if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) return 0;
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

constexpr Platform kDefault = {log_line, now_ns, abort};

#else

void log_line(LogLevel, std::string_view) {}
uint64_t now_ns() { return 0; }
void stop() {
  for (;;) {
  }
}

constexpr Platform kDefault = {log_line, now_ns, stop};

#endif

const Platform* current = &kDefault;

}  // namespace

const Platform& platform() { return *current; }

void set_platform(const Platform& table) { current = &table; }

}  // namespace taper
