// Writes planned methods as a .pte file and, if weights go outside, a .ptd file.
//
//     .pte   flatbuffer with the header inserted | pad to 128 | constants | mutable data | named data
//
// Constants start at multiples of 16 in their segment, segments at multiples of 128 in the file.
// Weights are not copied: a file is a list of pieces that point at them.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exir/emit/method_emitter.h"

namespace taper::exir {

// A copy of a file in memory, aligned to 64 bytes; the runtime asks for 16.
class FileInMemory {
 public:
  FileInMemory() = default;  // Of no file: data() is null.
  explicit FileInMemory(std::span<const std::span<const uint8_t>> pieces);
  explicit FileInMemory(std::string_view bytes);

  const uint8_t* data() const { return reinterpret_cast<const uint8_t*>(lines_.get()); }
  size_t size() const { return size_; }

 private:
  struct alignas(64) Line {
    uint8_t bytes[64];
  };
  std::unique_ptr<Line[]> lines_;
  size_t size_ = 0;
};

// A file as a list of pieces. Owns those passed to add_owned(); the bytes of the others must
// outlive it.
class FilePieces {
 public:
  void add(std::span<const uint8_t> bytes);
  void add_owned(std::vector<uint8_t> bytes);
  // Appends zeros up to a multiple of `alignment`.
  void pad(uint64_t alignment);
  uint64_t size() const { return size_; }
  const std::vector<std::span<const uint8_t>>& pieces() const { return pieces_; }
  std::string joined() const;
  FileInMemory aligned() const { return FileInMemory(pieces_); }

 private:
  std::vector<std::span<const uint8_t>> pieces_;
  std::vector<std::vector<uint8_t>> owned_;
  uint64_t size_ = 0;
};

struct ProgramFiles {
  FilePieces pte;
  FilePieces ptd;  // Empty unless weights go outside.
};

// Where instructions come from (debug_info.h): not written, written where it is at most 3 % of the
// program and its weights, or written in any case.
enum class DebugLevel : uint8_t { kNone, kIfSmall, kFull };

struct EmitOptions {
  bool weights_outside = false;
  DebugLevel debug = DebugLevel::kNone;
};

// `methods` may have any order; they are written sorted by name. Throws Failure if the file would
// exceed the limits of the format.
ProgramFiles emit_program(std::vector<const PlannedMethod*> methods, const EmitOptions& options);

}  // namespace taper::exir
