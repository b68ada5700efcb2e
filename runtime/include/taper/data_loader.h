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

// Derive from it to load from flash, an archive, a network mount.
//
// Threads: size() and load() may be called from several threads at once.
class DataLoader {
 public:
  // Bytes in the whole file.
  virtual uint64_t size() const = 0;

  // The bytes [offset, offset + size). They stay in place and unchanged until the loader dies,
  // which must outlive every Program and Method made from it. The byte at a file offset that is a
  // multiple of 16 lies at an address that is a multiple of 16. Returns kInvalidArgument if the
  // range leaves the file; kAccessFailed if reading fails.
  virtual Result<Span<const uint8_t>> load(uint64_t offset, uint64_t size) = 0;

  // Says that bytes of load() will hardly be read again, so that memory may be given back for them.
  // They stay as valid as before. Does nothing with bytes of others.
  virtual void release(Span<const uint8_t>) {}

  // A number that stands for all that the file of these bytes holds: it is another one after every
  // change, as far as the system notes changes. 0 if it cannot be known, or not yet because the
  // last change is only seconds old, or if the bytes are not of load().
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
