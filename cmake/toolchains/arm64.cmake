# Linux on 64-bit ARM with Debian's cross compiler (g++-aarch64-linux-gnu); programs run under
# qemu-aarch64 when that is installed.

set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(arm_triple aarch64-linux-gnu)
set(arm_qemu qemu-aarch64)
include(${CMAKE_CURRENT_LIST_DIR}/arm_linux.cmake)
