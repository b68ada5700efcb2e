// Loaders of files: MmapDataLoader maps a file, FileDataLoader reads it into the heap.

#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "taper/data_loader.h"

namespace taper {

// Reads the whole file into one heap block when it is opened. For systems that cannot map files.
class FileDataLoader final : public DataLoader {
 public:
  // Returns kNotFound if there is no such file, kAccessFailed if it cannot be read (a directory, no
  // permission), kMemoryAllocationFailed if the heap has no room.
  static Result<FileDataLoader> open(const char* path);
  FileDataLoader(FileDataLoader&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)), bytes_(std::exchange(other.bytes_, {})) {}
  FileDataLoader& operator=(FileDataLoader&&) = delete;
  ~FileDataLoader();

  uint64_t size() const override { return bytes_.size(); }
  Result<Span<const uint8_t>> load(uint64_t offset, uint64_t size) override;

 private:
  FileDataLoader(void* memory, Span<const uint8_t> bytes) : memory_(memory), bytes_(bytes) {}

  void* memory_;  // The heap block; bytes_ starts at the first multiple of 64 in it.
  Span<const uint8_t> bytes_;
};

// Maps the file, read only and shared: pages are read when they are first used, and several
// processes share them. The file must not shrink while it is mapped.
class MmapDataLoader final : public DataLoader {
 public:
  // Returns kNotFound and kAccessFailed like FileDataLoader; kNotSupported where files cannot be
  // mapped.
  static Result<MmapDataLoader> open(const char* path);
  MmapDataLoader(MmapDataLoader&& other) noexcept
      : bytes_(std::exchange(other.bytes_, {})), version_(other.version_) {}
  MmapDataLoader& operator=(MmapDataLoader&&) = delete;
  ~MmapDataLoader();

  uint64_t size() const override { return bytes_.size(); }
  Result<Span<const uint8_t>> load(uint64_t offset, uint64_t size) override;
  // Releases the pages; if they are read again, they come from the system's page cache or the file.
  void release(Span<const uint8_t> bytes) override;
  // A hash of the file's inode and the time of its last change.
  uint64_t version_of(Span<const uint8_t> bytes) const override;

 private:
  MmapDataLoader(Span<const uint8_t> bytes, uint64_t version) : bytes_(bytes), version_(version) {}

  Span<const uint8_t> bytes_;
  uint64_t version_;
};

}  // namespace taper
