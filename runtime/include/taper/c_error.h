// How functions of the C API report: a code, and a taper_error that says what is wrong and where.
// For code that implements such functions.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "taper/status.h"
#include "taper/taper.h"

namespace taper {
namespace internal {

// Copies as much as there is room for, in one line.
template <size_t kSize>
void put_line(char (&to)[kSize], std::string_view text) {
  const size_t length = std::min(text.size(), kSize - 1);
  std::memcpy(to, text.data(), length);
  std::replace(to, to + length, '\n', ';');
  to[length] = '\0';
}

}  // namespace internal

// Fills in `error` unless it is null, and returns the code. A lack of memory is one code, whoever
// lacks it.
inline taper_code report(taper_error* error, Error what, std::string_view site,
                         std::string_view message) {
  if (what == Error::kDelegateMemoryAllocationFailed) what = Error::kMemoryAllocationFailed;
  const auto code = static_cast<taper_code>(what);
  if (error != nullptr) {
    error->code = code;
    internal::put_line(error->message, message);
    internal::put_line(error->site, site);
  }
  return code;
}

// The same for a status; the site is named only for an error.
inline taper_code report(taper_error* error, Status status, std::string_view site) {
  return report(error, status.error(), status.ok() ? "" : site, status.message());
}

}  // namespace taper
