// DataLoader: where the bytes of a .pte or .ptd come from.
//
// BufferDataLoader here serves bytes that are already in memory. FileDataLoader and MmapDataLoader
// (taper/file_data_loader.h) serve files.

#pragma once

#include <cstddef>
#include <cstdint>

#include "taper/span.h"
#include "taper/status.h"

namespace taper {

// A source of bytes. Derive from it to load from flash, an archive or a network mount.
//
// Threads: size() and load() may be called from several threads at once.
class DataLoader {
 public:
  // The size of the whole file in bytes.
  virtual uint64_t size() const = 0;

  // The bytes [offset, offset + size). They stay in place and unchanged until the loader is
  // destroyed, which must outlive every Program and Method made from it. A file offset that is a
  // multiple of 16 must be at an address that is a multiple of 16. Returns kInvalidArgument if the
  // range exceeds the file; kAccessFailed if reading fails.
  virtual Result<Span<const uint8_t>> load(uint64_t offset, uint64_t size) = 0;

  // Hints that bytes returned by load() will hardly be read again, so that their memory may be
  // released. They stay valid. Does nothing for bytes that are not from load().
  virtual void release(Span<const uint8_t>) {}

  // A number that identifies the content of the file that these bytes are from: it differs after
  // every change, as far as the system records changes. 0 if it is not known, if the last change is
  // only seconds old, or if the bytes are not from load().
  virtual uint64_t version_of(Span<const uint8_t>) const { return 0; }

 protected:
  ~DataLoader() = default;
};

// Serves caller-owned memory, without a copy. `data` must be aligned to 16; Program::open refuses
// it otherwise.
class BufferDataLoader final : public DataLoader {
 public:
  BufferDataLoader(const void* data, size_t size)
      : bytes_(static_cast<const uint8_t*>(data), size) {}

  uint64_t size() const override { return bytes_.size(); }
  Result<Span<const uint8_t>> load(uint64_t offset, uint64_t size) override;

 private:
  Span<const uint8_t> bytes_;
};

}  // namespace taper
