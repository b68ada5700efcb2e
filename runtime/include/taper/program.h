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

// What the first bytes of a file say it is.
enum class HeaderStatus : uint8_t {
  kCompatible,    // A .pte that this runtime reads.
  kIncompatible,  // A .pte of another version of the format.
  kNotPresent,    // No .pte.
  kShortData,     // Fewer than Program::kMinHeadBytes.
};

// Immutable once opened: any number of threads may use it and load methods from it.
class Program {
 public:
  static constexpr size_t kMinHeadBytes = 64;

  // Looks at the identifier only.
  static HeaderStatus check_header(const void* data, size_t size);

  // Verifies the whole file once: the flatbuffer's structure, every offset, size, type, index,
  // shape, memory range and jump target. What is accepted can be loaded and run without a further
  // look. `loader` must outlive the Program. Allocates nothing; time is linear in the file's
  // program part.
  //
  // Returns kInvalidProgram    a rule of the format is broken; the text names it, and `diagnostics`
  //                            the method, value or instruction
  //         kNotSupported      well formed, but of a newer version, or uses what this runtime lacks
  //         kInvalidArgument   the loader's memory is not aligned to 16
  //         the loader's error otherwise
  static Result<Program> open(DataLoader& loader, Diagnostics diagnostics = {});

  size_t num_methods() const;
  // REQUIRES: i < num_methods().
  std::string_view method_name(size_t i) const;
  // Returns kNotFound if no method has that name.
  Result<MethodMeta> method_meta(std::string_view name) const;

  // Bytes stored under a name for backends. kNotFound if there are none. Linear in their number.
  Result<Span<const uint8_t>> named_data(std::string_view key) const;
  size_t num_named_data() const;
  // REQUIRES: i < num_named_data().
  std::string_view named_data_key(size_t i) const;

  // Says that bytes of the file will hardly be read again: DataLoader::release().
  void release(Span<const uint8_t> bytes) const { loader_->release(bytes); }
  // DataLoader::version_of().
  uint64_t version_of(Span<const uint8_t> bytes) const { return loader_->version_of(bytes); }

  // For the executor and tools inside Taper: the flatbuffer, and segments by index (checked).
  const wire::Program& wire() const { return *root_; }
  Result<Span<const uint8_t>> segment(size_t i) const;
  // Bytes of constant `i`, from its start to the end of the constant segment.
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
