# Build type, compiler cache, and the flags that every target takes through interface targets:
#
#   taper::warnings      warnings are errors
#   taper::freestanding  the device half: no exceptions, no RTTI, one section per function; in a
#                        MinSizeRel build no tables for unwinding either, a tenth of the bytes
#   taper::host          the compiler and the command line: their time goes into memory and the standard
#                        library, and -O1 compiles a quarter faster
#   taper::fast_loops    the vectoriser on, for kernels whose loops are the product; they read
#                        neither errno nor the floating-point exception flags

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug, MinSizeRel or RelWithDebInfo" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_SANITIZE "-O1")  # The build type of the asan preset: compiles fast, runs well.
set(CMAKE_EXE_LINKER_FLAGS_SANITIZE "")
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

find_program(TAPER_CCACHE ccache)
if(TAPER_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # The sloppiness is what ccache asks for before it caches sources with precompiled headers.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${TAPER_CCACHE})
endif()

if(TAPER_SANITIZE)
  add_compile_options(-fsanitize=${TAPER_SANITIZE} -fno-sanitize=vptr
                      -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TAPER_SANITIZE})
endif()
# Under sanitizers gcc 12 takes the internals of std::regex, which cxxopts uses, for uninitialised.
function(taper_quiet_regex)
  if(TAPER_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -Wno-maybe-uninitialized)
  endif()
endfunction()

if(TAPER_LIBFUZZER)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

add_library(taper_warnings INTERFACE)
add_library(taper::warnings ALIAS taper_warnings)
target_compile_options(taper_warnings INTERFACE -Wall -Wextra -Wpedantic -Werror)

add_library(taper_freestanding INTERFACE)
add_library(taper::freestanding ALIAS taper_freestanding)
target_compile_options(taper_freestanding INTERFACE
  -fno-exceptions -fno-rtti -ffunction-sections -fdata-sections
  "$<$<CONFIG:MinSizeRel>:-fno-asynchronous-unwind-tables;-fno-unwind-tables>")

# Standard headers that most files of the host read, precompiled. What a file forgets to include shows
# where they are not: in the asan and clang presets.
option(TAPER_PRECOMPILED_HEADERS "Precompile the standard headers of the host" ON)
function(taper_precompile target)
  if(TAPER_PRECOMPILED_HEADERS)
    target_precompile_headers(${target} PRIVATE <algorithm> <array> <cmath> <cstdint> <cstring>
      <functional> <map> <memory> <optional> <set> <stdexcept> <string> <string_view>
      <unordered_map> <unordered_set> <utility> <variant> <vector>)
  endif()
endfunction()

add_library(taper_host INTERFACE)
add_library(taper::host ALIAS taper_host)
target_compile_options(taper_host INTERFACE $<$<CONFIG:Release>:-O1>)

add_library(taper_fast_loops INTERFACE)
add_library(taper::fast_loops ALIAS taper_fast_loops)
target_compile_options(taper_fast_loops INTERFACE
  $<$<CONFIG:Release>:-O3> -fno-math-errno -fno-trapping-math)
