// Whether this program is built with AddressSanitizer or ThreadSanitizer, which bring a heap of
// their own and handle signals: TAPER_SANITIZED is 1 or 0.

#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TAPER_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TAPER_SANITIZED 1
#endif
#endif
#if !defined(TAPER_SANITIZED)
#define TAPER_SANITIZED 0
#endif
