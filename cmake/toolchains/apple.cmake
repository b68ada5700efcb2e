# macOS or iOS on 64-bit ARM, compiled on another system: TAPER_APPLE_TOOLS is a folder of programs
# for one of them, which scripts/macos.sh gets. A Mac needs none of this.

set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_PROCESSOR arm64)
set(TAPER_APPLE_TOOLS "" CACHE PATH "The tools that scripts/macos.sh gets")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TAPER_APPLE_TOOLS)
set(CMAKE_C_COMPILER ${TAPER_APPLE_TOOLS}/clang)
set(CMAKE_CXX_COMPILER ${TAPER_APPLE_TOOLS}/clang++)
set(CMAKE_AR ${TAPER_APPLE_TOOLS}/ar)
set(CMAKE_RANLIB ${TAPER_APPLE_TOOLS}/ranlib)
set(CMAKE_INSTALL_NAME_TOOL false)  # CMake asks that there be one.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)  # There is nothing for iOS to link with.
set(CMAKE_FIND_ROOT_PATH ${TAPER_APPLE_TOOLS})
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
