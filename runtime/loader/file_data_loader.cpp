// FileDataLoader and MmapDataLoader: read or map the whole file once, then serve it as a buffer.

#include "taper/file_data_loader.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "runtime/platform/mapped_file.h"

namespace taper {
namespace {

constexpr size_t kAlignment = 64;

Status read_all(FILE* file, void** memory, Span<const uint8_t>* bytes) {
  std::setvbuf(file, nullptr, _IONBF, 0);  // All goes to its place in one piece.
  const int64_t end = internal::size_of(file);
  TAPER_REQUIRE(end >= 0 && std::fseek(file, 0, SEEK_SET) == 0, Error::kAccessFailed,
                "the file cannot be read");
  const size_t size = static_cast<size_t>(end);
  void* block = std::malloc(size + kAlignment);
  TAPER_REQUIRE(block != nullptr, Error::kMemoryAllocationFailed,
                "the file does not fit into memory");
  const uintptr_t start = (reinterpret_cast<uintptr_t>(block) + kAlignment - 1) & ~(kAlignment - 1);
  uint8_t* data = reinterpret_cast<uint8_t*>(start);
  if (std::fread(data, 1, size, file) != size) {
    std::free(block);
    return Status(Error::kAccessFailed, "the file cannot be read to its end");
  }
  *memory = block;
  *bytes = {data, size};
  return {};
}

}  // namespace

Result<FileDataLoader> FileDataLoader::open(const char* path) {
  TAPER_REQUIRE(!internal::is_directory(path), Error::kAccessFailed, "this is not a regular file");
  errno = 0;
  FILE* file = internal::open_to_read(path);
  TAPER_REQUIRE(file != nullptr || errno != ENOENT, Error::kNotFound, "there is no such file");
  TAPER_REQUIRE(file != nullptr || errno != ENOMEM, Error::kMemoryAllocationFailed,
                "there is no memory to open the file");
  TAPER_REQUIRE(file != nullptr, Error::kAccessFailed, "the file cannot be opened");
  void* memory = nullptr;
  Span<const uint8_t> bytes;
  const Status status = read_all(file, &memory, &bytes);
  std::fclose(file);
  if (!status.ok()) return status;
  return FileDataLoader(memory, bytes);
}

FileDataLoader::~FileDataLoader() { std::free(memory_); }

Result<Span<const uint8_t>> FileDataLoader::load(uint64_t offset, uint64_t size) {
  return BufferDataLoader(bytes_.data(), bytes_.size()).load(offset, size);
}

Result<MmapDataLoader> MmapDataLoader::open(const char* path) {
  uint64_t version = 0;
  Result<Span<const uint8_t>> bytes = internal::map_file(path, &version);
  if (!bytes.ok()) return bytes.status();
  return MmapDataLoader(*bytes, version);
}

MmapDataLoader::~MmapDataLoader() { internal::unmap_file(bytes_); }

Result<Span<const uint8_t>> MmapDataLoader::load(uint64_t offset, uint64_t size) {
  return BufferDataLoader(bytes_.data(), bytes_.size()).load(offset, size);
}

uint64_t MmapDataLoader::version_of(Span<const uint8_t> bytes) const {
  return internal::contains(bytes_, bytes) ? version_ : 0;
}

void MmapDataLoader::release(Span<const uint8_t> bytes) { internal::release_mapped(bytes_, bytes); }

}  // namespace taper
