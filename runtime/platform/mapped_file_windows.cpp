// Mapping files with Windows' calls.

#include "runtime/platform/mapped_file.h"
#include "runtime/platform/windows_calls.h"

#if defined(_WIN32)
#include <cerrno>

namespace taper::internal {
namespace {

// As kTooYoungSeconds elsewhere: a later change could get the same time.
constexpr uint64_t kTooYoung = uint64_t{3} * 10'000'000;

// File systems without a time of change say 0: on them a file has no version.
uint64_t version_of(const FileFacts& facts) {
  if (facts.changed == 0 || facts.changed + kTooYoung > file_time_now()) return 0;
  const uint64_t words[] = {facts.volume, facts.number, facts.size, facts.changed, facts.modified};
  return hash_of_facts(words);
}

Result<Span<const uint8_t>> map_handle(HANDLE file, uint64_t* version) {
  FileFacts facts;
  errno = 0;
  TAPER_REQUIRE(GetFileType(file) == FILE_TYPE_DISK, Error::kAccessFailed,
                "this is not a regular file");
  if (!file_facts(file, &facts)) {
    errno = as_errno();
    return Status(Error::kAccessFailed, "the file cannot be read");
  }
  if (version != nullptr) *version = version_of(facts);
  if (facts.size == 0) return Span<const uint8_t>();
  const OwnHandle section(CreateFileMappingW(file, nullptr, PAGE_READONLY, 0, 0, nullptr));
  const void* memory =
      section.is_open() ? MapViewOfFile(section.get(), FILE_MAP_READ, 0, 0, 0) : nullptr;
  if (memory == nullptr) {
    errno = as_errno();
    return Status(Error::kAccessFailed, "the file cannot be mapped");
  }
  return Span<const uint8_t>(static_cast<const uint8_t*>(memory), static_cast<size_t>(facts.size));
}

}  // namespace

Result<Span<const uint8_t>> map_file(const char* path, uint64_t* version) {
  const OwnHandle file(open_shared(WidePath(path)));
  if (file.is_open()) return map_handle(file.get(), version);
  errno = as_errno();
  TAPER_REQUIRE(errno != ENOENT, Error::kNotFound, "there is no such file");
  if (!is_directory(path)) return Status(Error::kAccessFailed, "the file cannot be opened");
  errno = EISDIR;
  return Status(Error::kAccessFailed, "this is not a regular file");
}

void unmap_file(Span<const uint8_t> bytes) {
  if (!bytes.empty()) UnmapViewOfFile(bytes.data());
}

void release_mapped(Span<const uint8_t> whole, Span<const uint8_t> bytes) {
  if (bytes.empty() || !contains(whole, bytes)) return;
  // Unlocking pages that are not locked takes them out of the memory that the process uses.
  VirtualUnlock(const_cast<uint8_t*>(bytes.data()), bytes.size());
}

bool is_directory(const char* path) {
  const DWORD attributes = GetFileAttributesW(WidePath(path).get());
  return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

std::FILE* open_to_read(const char* path) { return _wfopen(WidePath(path).get(), L"rb"); }

int64_t size_of(std::FILE* file) {
  return _fseeki64(file, 0, SEEK_END) == 0 ? _ftelli64(file) : -1;
}

}  // namespace taper::internal
#endif
