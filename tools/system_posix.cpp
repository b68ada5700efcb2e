// The command line's questions to a POSIX system.

#include "tools/system.h"

#if !defined(_WIN32)
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

namespace taper::tools::system {

int open_to_read(const std::string& path) { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }

int open_to_write(const std::string& path) { return ::open(path.c_str(), O_WRONLY | O_CLOEXEC); }

int create_file(const std::string& path, Readers readers) {
  const mode_t mode = readers == Readers::kThisUser ? 0600 : 0666;
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
}

FileKind kind_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return FileKind::kNone;
  if (S_ISREG(info.st_mode)) return FileKind::kRegular;
  return S_ISDIR(info.st_mode) ? FileKind::kFolder : FileKind::kOther;
}

bool may_write(const std::string& path) { return ::access(path.c_str(), W_OK) == 0; }

bool is_own(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && (info.st_uid == ::geteuid() || info.st_uid == 0) &&
         (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool rename_file(const std::string& from, const std::string& to) {
  return std::rename(from.c_str(), to.c_str()) == 0;
}

void remove_file(const std::string& path) { ::unlink(path.c_str()); }

int process_id() { return ::getpid(); }

uint64_t memory_of_machine() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(page)
                               : uint64_t{1} << 32;
}

void on_ending(void (*handler)(int signal)) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action.sa_handler = handler;
    ::sigaction(signal, &action, nullptr);
  }
}

void end_by(int signal) {
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

void send_again(int signal) { ::raise(signal); }

void wait_forever() {
  for (;;) ::pause();
}

// A sanitizer that waits for the signal keeps it.
void on_lost_memory(void (*handler)(int signal)) {
  struct sigaction action {};
  if (::sigaction(SIGBUS, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) return;
  action.sa_handler = handler;
  ::sigaction(SIGBUS, &action, nullptr);
}

void set_up_streams() { ::signal(SIGXFSZ, SIG_IGN); }

std::filesystem::path as_path(const std::string& path) { return path; }

std::string as_text(const std::filesystem::path& path) { return path.string(); }

Library open_library(const std::string& path) {
  Library library{dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)};
  if (library.handle == nullptr) {
    const char* problem = dlerror();
    library.problem = problem == nullptr ? "'" + path + "' cannot be opened" : problem;
  }
  return library;
}

void* find_function(const Library& library, const char* name) {
  return dlsym(library.handle, name);
}

std::string beside_program(const std::string& name) {
  std::error_code unknown;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", unknown);
  return unknown ? name : as_text(program.parent_path() / name);
}

}  // namespace taper::tools::system
#endif
