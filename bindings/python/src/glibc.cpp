// Lets the wheel run on glibc 2.28 although it is linked with a newer one. Of each function that
// has a newer version there, this file defines one of the same name, which the linker takes for the
// whole wheel (its static libraries, too) and which calls the version that old systems have; for
// those that have moved to another library since, glibc.cmake has a list. scripts/python.sh looks
// for others: what a library begins to use needs a line here.

#include <cstdlib>  // Says whether this is glibc.

#ifdef __GLIBC__

#include <dlfcn.h>
#include <malloc.h>
#include <sys/random.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>

#include <cstdint>

// The version of the functions that were there when glibc came to the processor, and the layout of
// struct stat that its functions of that time are told.
#if defined(__x86_64__)
#define OLDEST "GLIBC_2.2.5"
static constexpr int kStatLayout = 1;
#elif defined(__aarch64__)
#define OLDEST "GLIBC_2.17"
static constexpr int kStatLayout = 0;
#else
#error "the oldest version of glibc for this processor is missing here"
#endif

// Declares old_NAME, the function NAME in its oldest version.
#define OLD(type, name, ...)             \
  type old_##name(__VA_ARGS__) noexcept; \
  __asm__(".symver old_" #name ", " #name "@" OLDEST)

extern "C" {

OLD(double, exp, double);
OLD(double, log, double);
OLD(double, log2, double);
OLD(double, pow, double, double);
OLD(double, hypot, double, double);
OLD(struct mallinfo, mallinfo, void);
OLD(int, __xstat, int, const char*, struct stat*);
OLD(int, __lxstat, int, const char*, struct stat*);
OLD(int, __fxstat, int, int, struct stat*);

double exp(double x) noexcept { return old_exp(x); }
double log(double x) noexcept { return old_log(x); }
double log2(double x) noexcept { return old_log2(x); }
double pow(double x, double y) noexcept { return old_pow(x, y); }
double hypot(double x, double y) noexcept { return old_hypot(x, y); }

int stat(const char* path, struct stat* to) noexcept { return old___xstat(kStatLayout, path, to); }
int lstat(const char* path, struct stat* to) noexcept {
  return old___lxstat(kStatLayout, path, to);
}
int fstat(int file, struct stat* to) noexcept { return old___fxstat(kStatLayout, file, to); }
int fstat64(int file, struct stat64* to) noexcept {
  static_assert(sizeof(struct stat) == sizeof(struct stat64));
  return old___fxstat(kStatLayout, file, reinterpret_cast<struct stat*>(to));
}

// Where it is missing, the older function counts to 4 GiB.
struct mallinfo2 mallinfo2() noexcept {
  using Function = struct mallinfo2();
  if (auto* const found = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, "mallinfo2"))) {
    return found();
  }
  const struct mallinfo old = old_mallinfo();
  struct mallinfo2 info = {};
  info.uordblks = static_cast<unsigned>(old.uordblks);
  info.hblkhd = static_cast<unsigned>(old.hblkhd);
  return info;
}

// Says that there may be other threads, which is always right.
char __libc_single_threaded = 0;

// What the C++ library makes random numbers of, in a part that the wheel leaves out.
uint32_t arc4random(void) noexcept {
  uint32_t number = 0;
  (void)!getrandom(&number, sizeof(number), 0);
  return number;
}

}  // extern "C"

#endif
