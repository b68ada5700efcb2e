# Linux on 32-bit ARM (ARMv7 with Neon and fused multiplication, as from Cortex-A7 on) with Debian's
# cross compiler (g++-arm-linux-gnueabihf); programs run under qemu-arm when that is installed.

set(CMAKE_SYSTEM_PROCESSOR armv7)
set(arm_triple arm-linux-gnueabihf)
set(arm_qemu qemu-arm)
set(CMAKE_C_FLAGS_INIT "-march=armv7-a -mfpu=neon-vfpv4 -mfp16-format=ieee -Wno-psabi")
set(CMAKE_CXX_FLAGS_INIT "-march=armv7-a -mfpu=neon-vfpv4 -mfp16-format=ieee -Wno-psabi")
include(${CMAKE_CURRENT_LIST_DIR}/arm_linux.cmake)
