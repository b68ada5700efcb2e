// What the command line asks of the operating system, where that is not the same everywhere and the
// standard library does not hide it. system_posix.cpp and system_windows.cpp are all that differs.
// Paths are UTF-8 on every system. What returns false, or a negative number, sets errno.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace taper::tools::system {

// Descriptors for read(), write() and close() of <unistd.h>.
int open_to_read(const std::string& path);
int open_to_write(const std::string& path);
// Creates a file that does not exist yet. Nobody but this user can read a secret one.
enum class Readers { kAll, kThisUser };
int create_file(const std::string& path, Readers readers);

enum class FileKind { kNone, kRegular, kFolder, kOther };
FileKind kind_of(const std::string& path);
bool may_write(const std::string& path);
// Whether nobody but this user and the system's own users can write the file.
bool is_own(const std::string& path);

// The new file takes the place of one that may be there.
bool rename_file(const std::string& from, const std::string& to);
// May be called by a handler of signals.
void remove_file(const std::string& path);

int process_id();
uint64_t memory_of_machine();

// A library that is opened while the program runs. It is never closed.
struct Library {
  void* handle = nullptr;
  std::string problem = {};  // Why it could not be opened.
};
Library open_library(const std::string& path);
void* find_function(const Library& library, const char* name);  // Null if it has none.
// The path of a file in the folder of this program.
std::string beside_program(const std::string& name);

// The handler is called when Ctrl-C or the like is about to end the program, unless whoever started
// it has chosen otherwise. It ends the program by end_by(), or lets it go on until send_again().
void on_ending(void (*handler)(int signal));
void end_by(int signal);
void send_again(int signal);
[[noreturn]] void wait_forever();
// The handler is called when memory that maps a file has nothing behind it any more, and must end
// the program.
void on_lost_memory(void (*handler)(int signal));

// Standard input and output carry bytes; a terminal shows UTF-8 and colours. A file that grows
// beyond the limit of this process (ulimit -f) is an error of what writes it, and does not end the
// process.
void set_up_streams();

// Between paths in UTF-8 and those of the standard library.
std::filesystem::path as_path(const std::string& path);
std::string as_text(const std::filesystem::path& path);

}  // namespace taper::tools::system
