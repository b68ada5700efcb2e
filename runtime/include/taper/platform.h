// What the runtime's surroundings provide: a log, a clock, a way to stop. An application replaces
// the table to send them elsewhere.
//
// The libraries never print and never abort. Only applications and the tools call these hooks.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace taper {

enum class LogLevel : uint8_t { kDebug, kInfo, kError, kFatal };

struct Platform {
  void (*log)(LogLevel level, std::string_view line);
  uint64_t (*now_ns)();  // Monotonic.
  void (*abort)();       // Does not return.
};

// The table in use. At first: lines to stderr, the steady clock and std::abort on POSIX systems; on
// others nothing, 0 and an endless loop.
const Platform& platform();

// Replaces the table for the whole process; `table` must outlive all use. Not thread safe: call it
// before anything else.
void set_platform(const Platform& table);

}  // namespace taper
