// Errors: Error (a code), Status (a code and constant text), Result (a value or a Status).
//
// Texts are string constants. With TAPER_ERROR_TEXT=0 they are not compiled in, and message() is
// "". Nothing here allocates, locks or aborts; every type may be used from any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#ifndef TAPER_ERROR_TEXT
#define TAPER_ERROR_TEXT 1
#endif

namespace taper {

// Codes keep ExecuTorch's numbers where they mean the same.
enum class Error : uint32_t {
  kOk = 0x00,
  kInternal = 0x01,      // A defect in Taper itself.
  kInvalidState = 0x02,  // A call at the wrong time, such as execute() before the inputs are set.
  kEndOfMethod = 0x03,
  kNotSupported = 0x10,  // Well formed, but not supported by this build or kernel.
  kNotImplemented = 0x11,
  kInvalidArgument = 0x12,         // The caller's argument does not fit (shape, count, name).
  kInvalidType = 0x13,             // The caller's argument has another type or dtype.
  kOperatorMissing = 0x14,         // The kernel tables lack an operator that the program uses.
  kNotFound = 0x20,                // There is no such name, key or file.
  kMemoryAllocationFailed = 0x21,  // A buffer is too small, or memory is exhausted.
  kAccessFailed = 0x22,            // The file could not be opened, read or mapped.
  kInvalidProgram = 0x23,          // The .pte breaks a rule of the format.
  kInvalidExternalData = 0x24,     // The .ptd breaks a rule of the format or lacks a key.
  kOutOfResources = 0x25,
  kDelegateInvalidCompatibility = 0x30,
  kDelegateMemoryAllocationFailed = 0x31,
  kDelegateInvalidHandle = 0x32,
};

// The name of a code, such as "InvalidProgram"; "Unknown" for a number that is not a code.
const char* to_string(Error error);

class [[nodiscard]] Status {
 public:
  constexpr Status() = default;
#if TAPER_ERROR_TEXT
  constexpr Status(Error error, const char* message) : error_(error), message_(message) {}
  constexpr const char* message() const { return message_; }
#else
  constexpr Status(Error error, const char*) : error_(error) {}
  constexpr const char* message() const { return ""; }
#endif
  constexpr bool ok() const { return error_ == Error::kOk; }
  constexpr Error error() const { return error_; }

 private:
  Error error_ = Error::kOk;
#if TAPER_ERROR_TEXT
  const char* message_ = "";
#endif
};

// A T, or the Status that says why there is none.
//
//   Result<Program> program = Program::open(loader);
//   if (!program.ok()) return program.status();
//   program->num_methods();
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : status_() { new (&storage_) T(std::move(value)); }
  Result(Status status)
      : status_(status.ok() ? Status(Error::kInternal, "a Result without a value") : status) {}
  Result(Result&& other) noexcept : status_(other.status_) {
    if (ok()) new (&storage_) T(std::move(*other));
  }
  Result& operator=(Result&&) = delete;
  ~Result() {
    if (ok()) value().~T();
  }

  bool ok() const { return status_.ok(); }
  Status status() const { return status_; }
  Error error() const { return status_.error(); }

  // REQUIRES: ok().
  T& value() { return *std::launder(reinterpret_cast<T*>(&storage_)); }
  const T& value() const { return *std::launder(reinterpret_cast<const T*>(&storage_)); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  Status status_;
  alignas(T) unsigned char storage_[sizeof(T)];
};

}  // namespace taper

// Returns `error` with `text` from the enclosing function unless `condition` holds.
#define TAPER_REQUIRE(condition, error, text)              \
  do {                                                     \
    if (!(condition)) return ::taper::Status(error, text); \
  } while (false)

// Returns the Status of `expression` from the enclosing function unless it is ok.
#define TAPER_TRY(expression)                              \
  do {                                                     \
    const ::taper::Status taper_try_status = (expression); \
    if (!taper_try_status.ok()) return taper_try_status;   \
  } while (false)
