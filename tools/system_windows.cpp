// The command line's questions to Windows.

#include "tools/system.h"

#if defined(_WIN32)
#include <fcntl.h>
#include <io.h>
#include <sys/stat.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

#include "runtime/platform/windows_calls.h"

namespace taper::tools::system {
namespace {

using internal::as_errno;
using internal::WidePath;

constexpr DWORD kNoFile = INVALID_FILE_ATTRIBUTES;

DWORD attributes_of(const std::string& path) {
  return GetFileAttributesW(WidePath(path.c_str()).get());
}

// A descriptor in place of a handle, or -1 with errno if that is none.
int descriptor_of(HANDLE file, const std::string& path, int flags) {
  if (file != INVALID_HANDLE_VALUE) {
    return ::_open_osfhandle(reinterpret_cast<intptr_t>(file), flags | _O_BINARY | _O_NOINHERIT);
  }
  errno = as_errno();
  if (errno == EACCES && kind_of(path) == FileKind::kFolder) errno = EISDIR;
  return -1;
}

// Others may do with the file what they could on other systems, too.
HANDLE open_file(const std::string& path, DWORD access, DWORD how) {
  return CreateFileW(WidePath(path.c_str()).get(), access,
                     FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr, how,
                     FILE_ATTRIBUTE_NORMAL, nullptr);
}

void (*handler_of_endings)(int signal) = nullptr;

// The system calls this on a thread of its own, and ends the program when it returns, which it does
// not if the handler lets the program go on for a while.
BOOL WINAPI on_event(DWORD) {
  handler_of_endings(SIGINT);
  wait_forever();
}

void show_colours(DWORD stream) {
  const HANDLE terminal = GetStdHandle(stream);
  DWORD mode = 0;
  if (GetConsoleMode(terminal, &mode)) {
    SetConsoleMode(terminal, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
  }
}

}  // namespace

int open_to_read(const std::string& path) {
  return descriptor_of(open_file(path, GENERIC_READ, OPEN_EXISTING), path, _O_RDONLY);
}

int open_to_write(const std::string& path) {
  return descriptor_of(open_file(path, GENERIC_WRITE, OPEN_EXISTING), path, _O_WRONLY);
}

// A secret file gets the rights of its folder: a user's own folders are closed to others.
int create_file(const std::string& path, Readers) {
  return descriptor_of(open_file(path, GENERIC_WRITE, CREATE_NEW), path, _O_WRONLY);
}

FileKind kind_of(const std::string& path) {
  const DWORD attributes = attributes_of(path);
  if (attributes != kNoFile && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0) {
    return FileKind::kFolder;
  }
  const internal::OwnHandle file(open_file(path, 0, OPEN_EXISTING));
  if (!file.is_open()) return attributes == kNoFile ? FileKind::kNone : FileKind::kRegular;
  return GetFileType(file.get()) == FILE_TYPE_DISK ? FileKind::kRegular : FileKind::kOther;
}

bool may_write(const std::string& path) {
  const DWORD attributes = attributes_of(path);
  errno = attributes == kNoFile ? as_errno() : EACCES;
  return attributes != kNoFile && (attributes & FILE_ATTRIBUTE_READONLY) == 0;
}

// As for secrets: who may write in a folder is the folder's affair.
bool is_own(const std::string&) { return true; }

bool rename_file(const std::string& from, const std::string& to) {
  if (internal::move_over(WidePath(from.c_str()), WidePath(to.c_str()))) return true;
  errno = as_errno();
  if (errno == EACCES && kind_of(to) == FileKind::kFolder) errno = EISDIR;
  return false;
}

void remove_file(const std::string& path) { DeleteFileW(WidePath(path.c_str()).get()); }

int process_id() { return static_cast<int>(GetCurrentProcessId()); }

uint64_t memory_of_machine() {
  MEMORYSTATUSEX status = {};
  status.dwLength = sizeof(status);
  return GlobalMemoryStatusEx(&status) ? status.ullTotalPhys : uint64_t{1} << 32;
}

void on_ending(void (*handler)(int signal)) {
  handler_of_endings = handler;
  SetConsoleCtrlHandler(on_event, TRUE);
}

// The exit code is the one that Ctrl-C gives a program without a handler.
void end_by(int) { TerminateProcess(GetCurrentProcess(), STATUS_CONTROL_C_EXIT); }

void send_again(int signal) { handler_of_endings(signal); }

void wait_forever() {
  for (;;) Sleep(INFINITE);
}

// Windows lets nobody shorten a file that is mapped.
void on_lost_memory(void (*)(int signal)) {}

void set_up_streams() {
  for (std::FILE* stream : {stdin, stdout, stderr}) ::_setmode(::_fileno(stream), _O_BINARY);
  SetConsoleOutputCP(CP_UTF8);
  for (const DWORD stream : {STD_OUTPUT_HANDLE, STD_ERROR_HANDLE}) show_colours(stream);
}

// The standard library would read bytes as characters of the C locale.
std::filesystem::path as_path(const std::string& path) {
  return std::u8string(path.begin(), path.end());
}

std::string as_text(const std::filesystem::path& path) {
  const std::u8string text = path.u8string();
  return {text.begin(), text.end()};
}

Library open_library(const std::string& path) {
  return {nullptr, "'" + path + "' cannot be opened on Windows"};
}

void* find_function(const Library&, const char*) { return nullptr; }

std::string beside_program(const std::string& name) { return name; }

}  // namespace taper::tools::system
#endif
