// Output files through temporary files and rename(2), and reading whole files.

#include "tools/atomic_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "tools/error.h"
#include "tools/interrupt.h"
#include "tools/system.h"

namespace taper::tools {
namespace {

[[noreturn]] void fail(const char* verb, const std::string& path, int error) {
  throw InputError(std::string("cannot ") + verb + " '" + path + "': " + std::strerror(error));
}

using Pieces = std::vector<std::span<const uint8_t>>;

Pieces as_pieces(std::string_view bytes) {
  return {{reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}};
}

// Returns 0 or an errno value.
int write_piece(int file, std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(file, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : EIO;
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return 0;
}

using OnProgress = std::function<void(uint64_t done, uint64_t total)>;

// Writes everything to an open descriptor and closes it. Returns 0 or an errno value.
int write_all(int file, const Pieces& pieces, const OnProgress& progress = {}) {
  constexpr size_t kBlock = size_t{64} << 20;
  uint64_t done = 0, total = 0;
  for (const std::span<const uint8_t> piece : pieces) total += piece.size();
  int error = 0;
  for (std::span<const uint8_t> piece : pieces) {
    while (!piece.empty() && error == 0) {
      const std::span<const uint8_t> block = piece.first(std::min(piece.size(), kBlock));
      error = write_piece(file, block);
      piece = piece.subspan(block.size());
      done += block.size();
      if (progress) progress(done, total);
    }
  }
  const bool closed = ::close(file) == 0;
  return error != 0 || closed ? error : errno;
}

// The file that a path refers to: a symbolic link is followed, not replaced.
std::string resolve(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path given = system::as_path(path);
  if (!std::filesystem::is_symlink(given, ignored)) return path;
  const auto real = std::filesystem::canonical(given, ignored);
  return ignored ? path : system::as_text(real);
}

}  // namespace

OutputFiles::~OutputFiles() {
  for (const Pending& file : pending_) {
    if (!file.temporary.empty()) system::remove_file(file.temporary);
  }
}

void OutputFiles::add(const std::string& path, std::string_view bytes) {
  add(path, as_pieces(bytes));
}

void OutputFiles::add(const std::string& given, const Pieces& pieces) {
  const std::string path = resolve(given);
  const system::FileKind kind = system::kind_of(path);
  if (kind == system::FileKind::kFolder) fail("write", given, EISDIR);
  if (kind == system::FileKind::kOther) {
    std::string bytes;
    for (const auto piece : pieces) bytes.append(piece.begin(), piece.end());
    pending_.push_back({path, "", std::move(bytes), nullptr});
    return;
  }
  // A read-only file is refused, although renaming over it would succeed.
  if (kind == system::FileKind::kRegular && !system::may_write(path)) fail("write", given, errno);
  for (const Pending& other : pending_) {
    if (is_same_file(other.path, path)) {
      throw InputError("cannot write '" + given + "' twice: two results have this name");
    }
  }
  const std::string temporary =
      path + ".tmp" + std::to_string(system::process_id()) + "_" + std::to_string(pending_.size());
  const int file = create(path, temporary);
  if (file < 0) fail("write", given, errno);
  if (const int error = write_all(file, pieces, progress_)) fail("write", given, error);
}

// Opens the temporary file of a path. Returns a negative number with errno if it cannot.
int OutputFiles::create(const std::string& path, const std::string& temporary) {
  const SignalsWait until_it_is_noted;
  const int file = system::create_file(temporary, system::Readers::kAll);
  if (file < 0) return file;
  pending_.push_back({path, temporary, "", std::make_unique<RemovedOnSignal>(temporary)});
  return file;
}

void OutputFiles::write_direct(const Pending& file) const {
  const int direct = system::open_to_write(file.path);
  if (direct < 0) fail("write", file.path, errno);
  if (const int error = write_all(direct, as_pieces(file.direct_bytes))) {
    fail("write", file.path, error);
  }
}

void OutputFiles::commit() {
  for (const Pending& file : pending_) {
    if (file.temporary.empty()) write_direct(file);
  }
  const SignalsWait all_or_none;
  for (Pending& file : pending_) {
    if (file.temporary.empty()) continue;
    if (!system::rename_file(file.temporary, file.path)) fail("write", file.path, errno);
    file.temporary.clear();
  }
  pending_.clear();
}

bool is_same_file(const std::string& a, const std::string& b) {
  const auto real = [](const std::string& path) {
    std::error_code unknown;
    const std::filesystem::path whole = std::filesystem::absolute(system::as_path(path), unknown);
    const std::filesystem::path found = std::filesystem::weakly_canonical(whole, unknown);
    return unknown ? whole : found;
  };
  std::error_code missing;
  return std::filesystem::equivalent(system::as_path(a), system::as_path(b), missing) ||
         real(a) == real(b);
}

void write_file(const std::string& path, std::string_view bytes) {
  OutputFiles out;
  out.add(path, bytes);
  out.commit();
}

namespace {

std::string read_up_to(const std::string& path, size_t limit) {
  const int file = system::open_to_read(path);
  if (file < 0) fail("read", path, errno);
  std::string bytes;
  std::error_code unknown;
  const uintmax_t size = std::filesystem::file_size(system::as_path(path), unknown);
  if (!unknown) bytes.reserve(static_cast<size_t>(std::min<uintmax_t>(size, limit)));
  char block[1 << 16];
  while (bytes.size() < limit) {
    const ssize_t n = ::read(file, block, std::min(sizeof(block), limit - bytes.size()));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int error = errno;
      ::close(file);
      fail("read", path, error);
    }
    if (n == 0) break;
    bytes.append(block, static_cast<size_t>(n));
  }
  ::close(file);
  // Files that the system makes up as they are read state no size.
  if (!unknown && bytes.size() < std::min<uintmax_t>(size, limit)) {
    throw InputError("cannot read '" + path + "': it has become shorter meanwhile");
  }
  return bytes;
}

}  // namespace

std::string read_file(const std::string& path) { return read_up_to(path, SIZE_MAX); }

std::string read_head(const std::string& path) { return read_up_to(path, 64); }

}  // namespace taper::tools
