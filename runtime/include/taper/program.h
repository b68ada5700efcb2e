// Program: a .pte file, verified.
//
//   BufferDataLoader loader(bytes, size);
//   Result<Program> program = Program::open(loader);
//   if (!program.ok()) return program.status();
//   Result<MethodMeta> meta = program->method_meta("forward");

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "taper/data_loader.h"
#include "taper/diagnostics.h"
#include "taper/method_meta.h"
#include "taper/span.h"
#include "taper/status.h"

namespace taper {

namespace wire {
struct Program;
}

// What kind of file the first bytes indicate.
enum class HeaderStatus : uint8_t {
  kCompatible,    // A .pte that this runtime reads.
  kIncompatible,  // A .pte of another version of the format.
  kNotPresent,    // Not a .pte.
  kShortData,     // Fewer than Program::kMinHeadBytes.
};

// Immutable once opened: any number of threads may use it and load methods from it.
class Program {
 public:
  static constexpr size_t kMinHeadBytes = 64;

  // Checks only the identifier.
  static HeaderStatus check_header(const void* data, size_t size);

  // Verifies the whole file once: the flatbuffer's structure, every offset, size, type, index,
  // shape, memory range and jump target. An accepted file can be loaded and run without further
  // checks. `loader` must outlive the Program. Allocates nothing; takes time linear in the size of
  // the file without its segments.
  //
  // Returns kInvalidProgram    a rule of the format is broken; the text names it, and `diagnostics`
  //                            the method, value or instruction
  //         kNotSupported      well formed, but of a newer version, or in need of an unknown
  //                            feature
  //         kInvalidArgument   the loader's memory is not aligned to 16
  //         the loader's error otherwise
  static Result<Program> open(DataLoader& loader, Diagnostics diagnostics = {});

  size_t num_methods() const;
  // REQUIRES: i < num_methods().
  std::string_view method_name(size_t i) const;
  // Returns kNotFound if no method has that name.
  Result<MethodMeta> method_meta(std::string_view name) const;

  // The bytes stored for backends under a name; kNotFound if there are none. Takes linear time.
  Result<Span<const uint8_t>> named_data(std::string_view key) const;
  size_t num_named_data() const;
  // REQUIRES: i < num_named_data().
  std::string_view named_data_key(size_t i) const;

  // Hints that bytes of the file will hardly be read again; see DataLoader::release().
  void release(Span<const uint8_t> bytes) const { loader_->release(bytes); }
  // Identifies the content of the file; see DataLoader::version_of().
  uint64_t version_of(Span<const uint8_t> bytes) const { return loader_->version_of(bytes); }

  // For Taper's own executor and tools: the flatbuffer, and segments by index, which is checked.
  const wire::Program& wire() const { return *root_; }
  Result<Span<const uint8_t>> segment(size_t i) const;
  // The bytes from the start of constant `i` to the end of the constant segment.
  Span<const uint8_t> constant(size_t i) const;

 private:
  Program() = default;
  Status load_constants();

  DataLoader* loader_ = nullptr;
  const wire::Program* root_ = nullptr;
  uint64_t segment_base_ = 0;
  Span<const uint8_t> constants_;
};

}  // namespace taper
