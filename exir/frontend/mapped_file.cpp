// map_file() over mmap(2).

#include "exir/frontend/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "exir/frontend/refuse.h"

namespace taper::exir {
namespace {

[[noreturn]] void refuse_errno(int error) {
  refuse("unreadable-file", std::string("cannot be read: ") + std::strerror(error));
}

class Descriptor {
 public:
  explicit Descriptor(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) refuse_errno(errno);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { ::close(fd_); }
  int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

Blob map_file(const std::string& path) {
  const Descriptor file(path);
  struct stat facts = {};
  if (::fstat(file.get(), &facts) != 0) refuse_errno(errno);
  if (S_ISDIR(facts.st_mode)) refuse_errno(EISDIR);
  if (!S_ISREG(facts.st_mode)) refuse("unreadable-file", "is not a regular file");
  if (facts.st_size == 0) refuse("empty-file", "is empty");
  const size_t size = static_cast<size_t>(facts.st_size);
  void* start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (start == MAP_FAILED) refuse_errno(errno);
  std::shared_ptr<const void> owner(start, [size](void* p) { ::munmap(p, size); });
  return {{static_cast<const uint8_t*>(start), size}, std::move(owner), 0};
}

}  // namespace taper::exir
