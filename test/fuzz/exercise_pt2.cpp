// Exercises an archive as `taper export` would, then the runtime with the result.

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "exir/export.h"
#include "test/fuzz/exercise.h"

namespace taper::fuzz {
namespace {

// A file in memory that has a path.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : file_(::memfd_create("mutant", MFD_CLOEXEC)) {
    while (!bytes.empty()) {
      const ssize_t n = ::write(file_, bytes.data(), bytes.size());
      if (n <= 0) std::abort();
      bytes.remove_prefix(static_cast<size_t>(n));
    }
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(file_); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

}  // namespace

bool exercise_pt2(std::string_view file) {
  const MemoryFile archive(file);
  exir::ExportRequest request;
  request.methods = {{"forward", archive.path()}};
  std::string program;
  try {
    program = exir::export_program(request).files.pte.joined();
  } catch (const exir::Failure&) {
    return false;
  }
  return exercise_pte(program);
}

}  // namespace taper::fuzz
