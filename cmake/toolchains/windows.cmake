# Windows on x86-64 with clang 14, lld, and the headers and libraries of Debian's mingw-w64
# (scripts/deps.sh windows); programs run under wine. gcc does not align vectors of 32 bytes on the
# stack of this system (its bug 54412), so it must not compile code for AVX.

set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(triple x86_64-w64-mingw32)
set(gcc /usr/lib/gcc/${triple}/12-posix)  # Has the C++ library.
set(CMAKE_C_COMPILER clang-14)
set(CMAKE_CXX_COMPILER clang++-14)
set(CMAKE_ASM_COMPILER clang-14)
foreach(language C CXX ASM)
  set(CMAKE_${language}_COMPILER_TARGET ${triple})
endforeach()
set(CMAKE_AR ${triple}-ar)
set(CMAKE_RANLIB ${triple}-ranlib)
set(CMAKE_RC_COMPILER ${triple}-windres)

# What gcc compiled keeps variables of a thread where -femulated-tls finds them.
set(CMAKE_C_FLAGS_INIT "-femulated-tls")
set(CMAKE_CXX_FLAGS_INIT "-femulated-tls -nostdinc++ -isystem ${gcc}/include/c++")
string(APPEND CMAKE_CXX_FLAGS_INIT " -isystem ${gcc}/include/c++/${triple}")
string(APPEND CMAKE_CXX_FLAGS_INIT " -isystem ${gcc}/include/c++/backward")
# The C++ library and threads are linked into each program: Windows has neither.
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT "-fuse-ld=lld-14 -static -L${gcc} -B${gcc} -lpthread")
endforeach()

set(TAPER_WINDOWS_ROOT "" CACHE PATH "The libraries that scripts/windows_libraries.sh builds")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TAPER_WINDOWS_ROOT)
if(TAPER_WINDOWS_ROOT)
  set(ENV{PKG_CONFIG_LIBDIR} ${TAPER_WINDOWS_ROOT}/lib/pkgconfig)
endif()
find_program(TAPER_WINE NAMES wine64 PATHS /usr/lib/wine)
if(TAPER_WINE)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${TAPER_WINE})
endif()
set(CMAKE_FIND_ROOT_PATH ${TAPER_WINDOWS_ROOT} /usr/${triple})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
