# Linux on 64-bit ARM with Debian's cross compiler (g++-aarch64-linux-gnu); programs run under
# qemu-aarch64 when that is installed.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
find_program(TAPER_QEMU qemu-aarch64)
if(TAPER_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${TAPER_QEMU})
endif()
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
