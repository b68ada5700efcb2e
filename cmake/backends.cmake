# Backends, as backends/backends.cmake lists them. Each becomes two libraries, taper_NAME_aot for the
# compiler and taper_NAME for the device; the latter only where what it needs is there.
#
#   taper_backends, taper_backends_aot            the tables of all of them, for programs that take any
#   taper_test_backends, taper_test_backends_aot  the same with those for tests

include(check_backends)
taper_check_backends(${PROJECT_SOURCE_DIR} backends "${TAPER_BACKEND_FOLDERS}")
taper_check_backends(${PROJECT_SOURCE_DIR} test/support/backends "${TAPER_TEST_BACKEND_FOLDERS}")

set(TAPER_BACKENDS AUTO CACHE STRING
  "Device halves to build: AUTO for those whose libraries are found, NONE, or names")

# taper_backend_device([LINK t...] [EXCLUDE p...] [TARGETS t...] [ARCHIVES a...] [PACKAGES p...]
#                      [HEADERS h...] [LIBRARY_HEADERS h...])
# Called by a backend.cmake: the device half can be built. It links LINK and leaves out files that
# match EXCLUDE. An installed package besides has the targets, archives and headers, and finds the
# packages. LIBRARY_HEADERS, on one line, are for test/tidy: nobody else may include those.
macro(taper_backend_device)
  cmake_parse_arguments(DEVICE "" "" "LINK;EXCLUDE;TARGETS;ARCHIVES;PACKAGES;HEADERS;LIBRARY_HEADERS" ${ARGN})
  taper_library(taper_${backend} FOLDERS ${backend_folder}/runtime EXCLUDE ${DEVICE_EXCLUDE}
    LINK PRIVATE taper::freestanding ${DEVICE_LINK} PUBLIC taper_runtime ${backend_planner}
    STANDARD 17)
  foreach(property LINK TARGETS ARCHIVES PACKAGES HEADERS)
    set(TAPER_${backend}_${property} ${DEVICE_${property}})
  endforeach()
  message(STATUS "With ${backend}")
endmacro()

# taper_backend_missing(WHAT): called by a backend.cmake in place of that. An error if the backend was
# asked for by name.
function(taper_backend_missing what)
  if(backend IN_LIST TAPER_BACKENDS)
    message(FATAL_ERROR "${backend}: ${what}")
  endif()
  message(STATUS "Without ${backend}: ${what}")
endfunction()

# A source file with FUNCTION(), the table of the TYPE called CONSTANT of each of the backends in ARGN.
function(taper_backend_table file header type constant result function)
  set(declarations)
  set(lines)
  foreach(name IN LISTS ARGN)
    string(APPEND declarations "namespace ${name} {\nextern const ${type} ${constant};\n}\n")
    string(APPEND lines "    &${name}::${constant},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${file} @ONLY CONTENT "// Made by cmake/backends.cmake.

#include \"@header@\"

namespace taper {

@declarations@
namespace {

constexpr const @type@* kTable[] = {
@lines@    nullptr,
};

}  // namespace

@result@ @function@() { return {kTable, sizeof(kTable) / sizeof(*kTable) - 1}; }

}  // namespace taper
")
endfunction()

# taper_backend_tables(NAME backend...): the libraries NAME and NAME_aot.
function(taper_backend_tables name)
  set(folder ${PROJECT_BINARY_DIR}/generated/${name})
  set(devices)
  foreach(backend IN LISTS ARGN)
    if(TARGET taper_${backend})
      list(APPEND devices ${backend})
    endif()
  endforeach()
  taper_backend_table(${folder}/devices.cpp backends/devices.h DeviceDescriptor kDevice
    "Span<const DeviceDescriptor* const>" backend_devices ${devices})
  list(TRANSFORM devices PREPEND taper_)
  add_library(${name} STATIC ${folder}/devices.cpp backends/devices.cpp backends/c_backends.cpp)
  target_compile_features(${name} PUBLIC cxx_std_17)
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  target_link_libraries(${name} PUBLIC taper_runtime ${devices}
    PRIVATE $<BUILD_INTERFACE:taper::warnings> taper::freestanding)
  if(NOT TAPER_HOST)
    return()
  endif()
  taper_backend_table(${folder}/compilers.cpp backends/compilers.h exir::CompilerDescriptor kCompiler
    "exir::CompilerTable" backend_compilers ${ARGN})
  list(TRANSFORM ARGN REPLACE "(.+)" "taper_\\1_aot" OUTPUT_VARIABLE compilers)
  add_library(${name}_aot STATIC ${folder}/compilers.cpp)
  target_link_libraries(${name}_aot PUBLIC taper_exir ${compilers} PRIVATE taper::warnings)
endfunction()

# Both halves of the backends in the folders; their names are put into `out`.
macro(taper_add_backends out)
  set(${out})
  foreach(backend_folder ${ARGN})
    get_filename_component(backend ${backend_folder} NAME)
    list(APPEND ${out} ${backend})
    set(backend_planner)  # Optional: what both halves compute, without the backend's library.
    if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/${backend_folder}/planner)
      set(backend_planner taper_${backend}_planner)
      taper_library(${backend_planner} FOLDERS ${backend_folder}/planner
        LINK PRIVATE taper::freestanding taper::schema PUBLIC taper_runtime STANDARD 17)
      set_target_properties(${backend_planner} PROPERTIES POSITION_INDEPENDENT_CODE ON
        CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
    endif()
    if(TAPER_BACKENDS STREQUAL "AUTO" OR backend IN_LIST TAPER_BACKENDS)
      include(${PROJECT_SOURCE_DIR}/${backend_folder}/backend.cmake)
    endif()
    if(TAPER_HOST)  # Compiler halves need no libraries: programs are compiled for any device.
      taper_library(taper_${backend}_aot FOLDERS ${backend_folder}/aot
        LINK PUBLIC taper_exir ${backend_planner} STANDARD 20)
    endif()
  endforeach()
endmacro()

taper_add_backends(TAPER_BACKEND_NAMES ${TAPER_BACKEND_FOLDERS})
set(TAPER_DEVICE_TARGETS)  # The device halves that are built.
foreach(backend IN LISTS TAPER_BACKEND_NAMES)
  if(TARGET taper_${backend})
    list(APPEND TAPER_DEVICE_TARGETS taper_${backend})
  endif()
endforeach()
foreach(backend IN LISTS TAPER_BACKENDS)
  if(NOT backend MATCHES "^(AUTO|NONE)$" AND NOT backend IN_LIST TAPER_BACKEND_NAMES)
    message(FATAL_ERROR "TAPER_BACKENDS: no backend ${backend}; there are: ${TAPER_BACKEND_NAMES}")
  endif()
endforeach()
taper_backend_tables(taper_backends ${TAPER_BACKEND_NAMES})
if(TAPER_TESTS)
  taper_add_backends(TAPER_TEST_BACKEND_NAMES ${TAPER_TEST_BACKEND_FOLDERS})
  taper_backend_tables(taper_test_backends ${TAPER_BACKEND_NAMES} ${TAPER_TEST_BACKEND_NAMES})
endif()
