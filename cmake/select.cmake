# taper_selected_kernels(TARGET app [MODELS a.pte...] [OPERATORS name...] [OPERATOR_LIST file] [ALL]
#                        [EXCLUDE name...] [OWN name[=file.cpp]...] [BACKENDS name...]
#                        [DTYPES all|used|name...] [OPTIMIZED])
#
# Gives `app` only the kernels that its models use: a table (taper/selected_kernels.h) and the
# kernels, each compiled for the dtypes that are passed to its operators (DTYPES used, which is the
# default), for all dtypes, or for those named; with OPTIMIZED, the fast version of each kernel that
# has one. If the selection lacks anything that a model needs, configuring fails with the whole
# list. It is repeated when a model changes. The target <app>_sizes prints the bill of materials:
# bytes by operator, by dtype and by part.
#
# The `taper` command is found beside the package, in build/release, in the PATH, or where
# TAPER_COMMAND says.

# The folder of the kernels' sources and headers: this tree, or share/taper of the package.
if(NOT TAPER_PREFIX_DIR)
  get_filename_component(here ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
  set(TAPER_SELECT_ROOT ${here} CACHE INTERNAL "The folder that holds kernels_portable/" FORCE)
endif()

# Runs `taper select` and, if it fails, stops the configuration with its message.
function(taper_run_select target fragment)
  find_program(TAPER_COMMAND taper HINTS ${TAPER_PREFIX_DIR}/bin ${TAPER_SELECT_ROOT}/build/release/bin
               DOC "The taper command line, which chooses kernels")
  if(NOT TAPER_COMMAND)
    message(FATAL_ERROR "taper_selected_kernels(${target}): the taper command is missing; build it "
      "for this machine (make build) and set TAPER_COMMAND to it")
  endif()
  execute_process(COMMAND ${TAPER_COMMAND} select ${ARGN} RESULT_VARIABLE failed
                  OUTPUT_QUIET ERROR_VARIABLE said)
  if(failed)
    message(FATAL_ERROR "taper_selected_kernels(${target}):\n${said}")
  endif()
endfunction()

# Sets what all kernel libraries have in common.
function(taper_set_up_kernels name dtypes)
  target_compile_features(${name} PRIVATE cxx_std_17)
  target_include_directories(${name} PRIVATE ${TAPER_SELECT_ROOT})
  target_link_libraries(${name} PUBLIC taper::runtime PRIVATE taper::freestanding taper::fast_loops)
  target_compile_definitions(${name} PRIVATE TAPER_DTYPES=${dtypes})
  # Without a build type kernels would be many times slower and larger.
  target_compile_options(${name} PRIVATE "$<$<CONFIG:>:-O2;-DNDEBUG>")
endfunction()

# Called after the folder's CMakeLists.txt: warns if a trimmed target still links all kernels.
function(taper_check_links target)
  get_target_property(linked ${target} LINK_LIBRARIES)
  foreach(all taper::kernels_portable taper::kernels_optimized)
    if("${all}" IN_LIST linked)
      message(WARNING "${target} links ${all}, which holds every kernel, beside the kernels that "
        "taper_selected_kernels() gives it: leave it out of target_link_libraries()")
    endif()
  endforeach()
endfunction()

# Adds the library of the selected kernels, each compiled for the dtypes of its operators, and of
# the code that they share, compiled for the dtypes of all. Uses the variables that `taper select`
# wrote.
function(taper_add_kernel_library name target)
  set(folder ${TAPER_SELECT_ROOT}/kernels_portable)
  file(GLOB_RECURSE sources ${folder}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "(_test|/kernel_table|/op_[a-z0-9_]*)\\.cpp$")
  foreach(dtypes IN LISTS TAPER_SELECTED_GROUPS)
    set(files)
    foreach(file IN LISTS TAPER_SELECTED_FILES_${dtypes})
      list(APPEND files ${folder}/${file}.cpp)
    endforeach()
    foreach(file IN LISTS TAPER_SELECTED_OWN_FILES_${dtypes})
      get_filename_component(file ${file} ABSOLUTE)
      list(APPEND files ${file})
    endforeach()
    if(dtypes STREQUAL TAPER_SELECTED_DTYPES)
      list(APPEND sources ${files})
    else()
      add_library(${name}_${dtypes} OBJECT ${files})
      taper_set_up_kernels(${name}_${dtypes} ${dtypes})
      target_include_directories(${name}_${dtypes} PRIVATE
        $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
      list(APPEND sources $<TARGET_OBJECTS:${name}_${dtypes}>)
    endif()
  endforeach()
  add_library(${name} STATIC ${sources})
  taper_set_up_kernels(${name} ${TAPER_SELECTED_DTYPES})
  target_include_directories(${name} PRIVATE $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
  target_compile_definitions(${name} INTERFACE TAPER_DTYPES=${TAPER_SELECTED_DTYPES})
endfunction()

# Finds the headers of Highway: sets TAPER_HIGHWAY_INCLUDE to their folder, or to something false.
macro(taper_find_highway)
  find_path(TAPER_HIGHWAY_INCLUDE hwy/highway.h NO_CMAKE_FIND_ROOT_PATH
            DOC "The folder with hwy/highway.h")
  if(CMAKE_CROSSCOMPILING AND TAPER_HIGHWAY_INCLUDE
     AND NOT TAPER_HIGHWAY_INCLUDE STREQUAL "${CMAKE_BINARY_DIR}/headers")
    # Highway's headers alone: the host's other headers must not be found.
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/headers)
    file(CREATE_LINK ${TAPER_HIGHWAY_INCLUDE}/hwy ${CMAKE_BINARY_DIR}/headers/hwy SYMBOLIC)
    set(TAPER_HIGHWAY_INCLUDE ${CMAKE_BINARY_DIR}/headers)
  endif()
endmacro()

# Adds the library of fast kernels; calls that they do not support go to the kernels in `portable`.
function(taper_add_optimized_library name portable)
  taper_find_highway()
  if(NOT TAPER_HIGHWAY_INCLUDE)
    message(FATAL_ERROR "taper_selected_kernels(OPTIMIZED): Highway's headers are missing; install "
      "libhwy-dev, or set TAPER_HIGHWAY_INCLUDE to the folder with hwy/highway.h")
  endif()
  file(GLOB_RECURSE sources ${TAPER_SELECT_ROOT}/kernels_optimized/*.cpp)
  list(FILTER sources EXCLUDE REGEX "(_test|/kernel_table|/fast_kernels)\\.cpp$")
  add_library(${name} STATIC ${sources})
  taper_set_up_kernels(${name} ${TAPER_SELECTED_DTYPES})
  target_include_directories(${name} SYSTEM PRIVATE ${TAPER_HIGHWAY_INCLUDE})
  target_link_libraries(${name} PUBLIC ${portable})
endfunction()

function(taper_selected_kernels)
  cmake_parse_arguments(ARG "ALL;OPTIMIZED" "TARGET;OPERATOR_LIST"
    "MODELS;OPERATORS;EXCLUDE;OWN;BACKENDS;DTYPES" ${ARGN})
  if(NOT TARGET "${ARG_TARGET}")
    message(FATAL_ERROR "taper_selected_kernels: TARGET '${ARG_TARGET}' is not a target")
  elseif(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR
      "taper_selected_kernels(${ARG_TARGET}): unknown arguments '${ARG_UNPARSED_ARGUMENTS}'")
  endif()
  set(arguments)
  foreach(model IN LISTS ARG_MODELS)
    get_filename_component(model ${model} ABSOLUTE)
    list(APPEND arguments ${model})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${model})
  endforeach()
  if(ARG_OPERATOR_LIST)
    get_filename_component(list ${ARG_OPERATOR_LIST} ABSOLUTE)
    list(APPEND arguments --operator-list ${list})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  endif()
  foreach(name OPERATORS EXCLUDE OWN BACKENDS DTYPES)
    if(ARG_${name})
      string(TOLOWER ${name} option)
      string(REPLACE ";" "," value "${ARG_${name}}")
      list(APPEND arguments --${option} ${value})
    endif()
  endforeach()
  if(ARG_ALL)
    list(APPEND arguments --all)
  endif()
  if(ARG_OPTIMIZED)
    list(APPEND arguments --optimized)
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${ARG_TARGET}_kernels)
  file(MAKE_DIRECTORY ${folder})
  taper_run_select(${ARG_TARGET} ${folder} ${arguments} --output ${folder}/kernels.cpp
                   --cmake ${folder}/kernels.cmake)
  include(${folder}/kernels.cmake)
  message(STATUS "${ARG_TARGET}: kernels for ${TAPER_SELECTED_DTYPE_NAMES}")
  set(library ${ARG_TARGET}_taper_kernels)
  taper_add_kernel_library(${library} ${ARG_TARGET})
  if(TAPER_SELECTED_OPTIMIZED)
    taper_add_optimized_library(${library}_optimized ${library})
    target_link_libraries(${ARG_TARGET} PRIVATE ${library}_optimized)
  endif()
  cmake_language(EVAL CODE "cmake_language(DEFER CALL taper_check_links [[${ARG_TARGET}]])")
  target_sources(${ARG_TARGET} PRIVATE ${folder}/kernels.cpp)
  target_link_libraries(${ARG_TARGET} PRIVATE ${library})
  if(APPLE)  # Apple's linker writes a map in another format.
    target_link_options(${ARG_TARGET} PRIVATE -Wl,-dead_strip)
    return()
  endif()
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "wasm32")  # So does the linker for WebAssembly.
    target_link_options(${ARG_TARGET} PRIVATE -Wl,--gc-sections)
    return()
  endif()
  target_link_options(${ARG_TARGET} PRIVATE -Wl,--gc-sections -Wl,-Map=${folder}/link.map,--cref)
  add_custom_target(${ARG_TARGET}_sizes
    COMMAND ${TAPER_COMMAND} select ${arguments} --report --map ${folder}/link.map
    DEPENDS ${ARG_TARGET} VERBATIM USES_TERMINAL)
endfunction()
