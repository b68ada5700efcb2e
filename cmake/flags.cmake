# Build type, compiler cache, and the flags that targets get through interface targets:
#
#   taper::warnings      warnings are errors
#   taper::freestanding  the device half: no exceptions, no RTTI, one section per function; in a
#                        MinSizeRel build and in a wheel for Linux also no unwind tables, which are
#                        a tenth of the bytes
#   taper::on_heap       what of the device half uses the heap: as taper::freestanding, but compiled
#                        with exceptions, so that a failed allocation ends at the boundary of the
#                        part (taper/out_of_memory.h)
#   taper::host          the compiler and the command line, which spend their time on memory and in
#                        the standard library: small, and what nothing calls can be left out
#   taper::fast_loops    enables the vectoriser, for kernels; they read neither errno nor the
#                        floating-point exception flags

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug, MinSizeRel or RelWithDebInfo" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_SANITIZE "-O1")  # For the asan preset: compiles and runs fast.
set(CMAKE_EXE_LINKER_FLAGS_SANITIZE "")
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

if(CMAKE_SIZEOF_VOID_P EQUAL 4 AND UNIX)
  add_compile_definitions(_FILE_OFFSET_BITS=64)  # Files may be larger than memory.
endif()

find_program(TAPER_CCACHE ccache)
if(TAPER_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # ccache caches sources with precompiled headers only with this sloppiness.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${TAPER_CCACHE})
endif()

if(TAPER_SANITIZE)
  add_compile_options(-fsanitize=${TAPER_SANITIZE} -fno-sanitize=vptr
                      -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TAPER_SANITIZE})
endif()
# With sanitizers, gcc 12 warns falsely that internals of std::regex, which cxxopts uses, may be
# uninitialised.
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

set(taper_is_wheel OFF)
if(TAPER_PYTHON AND CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT TAPER_SANITIZE)
  set(taper_is_wheel ON)
endif()
add_library(taper_freestanding INTERFACE)
add_library(taper::freestanding ALIAS taper_freestanding)
target_compile_options(taper_freestanding INTERFACE
  -fno-exceptions -fno-rtti -ffunction-sections -fdata-sections
  "$<$<OR:$<CONFIG:MinSizeRel>,$<BOOL:${taper_is_wheel}>>:-fno-asynchronous-unwind-tables;-fno-unwind-tables>")

option(TAPER_EXCEPTIONS "Whether a failed allocation in Module and backends is an error, or ends the process" ON)
add_library(taper_on_heap INTERFACE)
add_library(taper::on_heap ALIAS taper_on_heap)
if(TAPER_EXCEPTIONS)
  target_compile_options(taper_on_heap INTERFACE -fno-rtti -ffunction-sections -fdata-sections)
else()
  target_link_libraries(taper_on_heap INTERFACE taper_freestanding)
endif()

# Standard headers that most files of the host include. A missing #include shows only in the presets
# that do not precompile them: asan and clang.
option(TAPER_PRECOMPILED_HEADERS "Precompile the standard headers of the host" ON)
function(taper_precompile target)
  if(NOT TAPER_PRECOMPILED_HEADERS)
    return()
  endif()
  # clang takes precompiled headers only where symbols are as visible as they were then.
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  get_property(first GLOBAL PROPERTY TAPER_HOST_HEADERS)
  if(first)  # Precompiled once for all targets, whose flags are the same.
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    set_property(GLOBAL PROPERTY TAPER_HOST_HEADERS ${target})
    target_precompile_headers(${target} PRIVATE <algorithm> <array> <cmath> <cstdint> <cstring>
      <functional> <map> <memory> <optional> <set> <stdexcept> <string> <string_view>
      <unordered_map> <unordered_set> <utility> <variant> <vector>)
  endif()
endfunction()

add_library(taper_host INTERFACE)
add_library(taper::host ALIAS taper_host)
target_compile_options(taper_host INTERFACE
  "$<$<CONFIG:Release>:-Os;-ffunction-sections;-fdata-sections>")

add_library(taper_fast_loops INTERFACE)
add_library(taper::fast_loops ALIAS taper_fast_loops)
target_compile_options(taper_fast_loops INTERFACE
  $<$<CONFIG:Release>:-O3> -fno-math-errno -fno-trapping-math
  # With -Os clang vectorises loops, gcc does not.
  $<$<AND:$<CONFIG:MinSizeRel>,$<CXX_COMPILER_ID:Clang>>:-fno-vectorize>)
