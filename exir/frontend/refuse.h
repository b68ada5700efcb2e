// How the front end refuses a file, and how much memory a file may claim.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "exir/ir/failure.h"

namespace taper::exir {

// Throws a Failure with one diagnostic; what() is "where: message [source]; remedy". All of them
// may contain text from the file: control characters are masked and the length is limited.
[[noreturn]] void refuse(std::string_view id, std::string_view message, std::string_view where = {},
                         std::string_view remedy = {}, std::string_view source = {});

// The same for a diagnostic with more fields set.
[[noreturn]] void refuse(Diagnostic diagnostic);

// Calls it; failures begin with the path.
template <typename Read>
auto naming(const std::string& path, const Read& read) {
  try {
    return read();
  } catch (const Failure& failure) {
    throw Failure(path + ": " + failure.what(), failure.diagnostics());
  }
}

// `name` between quotes, shortened to what fits a message.
std::string in_quotes(std::string_view name);

// Limits what one file may make the front end allocate, in proportion to the file's size: inflated
// members and copied tensors draw on `bytes`, decoded arguments and pickled objects on `items`.
// Both functions throw Failure when nothing is left.
class Budget {
 public:
  explicit Budget(uint64_t file_bytes);
  void take_bytes(uint64_t bytes, std::string_view where);
  void take_items(uint64_t items, std::string_view where);
  // The largest size in bytes to which a compressed JSON or pickle member may unpack.
  uint64_t text_limit() const { return text_limit_; }

 private:
  uint64_t bytes_left_;
  uint64_t items_left_;
  uint64_t text_limit_;
};

}  // namespace taper::exir
