# Functions that make a target of a folder.

# Collects the sources of some folders into `out`: everything but tests and files that match an
# EXCLUDE pattern (a path from the project root).
function(taper_sources out)
  cmake_parse_arguments(ARG "" "" "FOLDERS;EXCLUDE" ${ARGN})
  set(found)
  foreach(folder IN LISTS ARG_FOLDERS)
    file(GLOB_RECURSE files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
    list(APPEND found ${files})
  endforeach()
  list(FILTER found EXCLUDE REGEX "_test\\.cpp$")
  foreach(pattern IN LISTS ARG_EXCLUDE)
    list(FILTER found EXCLUDE REGEX "^${PROJECT_SOURCE_DIR}/${pattern}")
  endforeach()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# taper_library(NAME FOLDERS f... [EXCLUDE p...] [FILES f...] STANDARD 17|20
#               LINK [PRIVATE t...] [PUBLIC t...])
# Adds a static library of the folders' sources, with an alias taper::NAME without the prefix
# taper_.
function(taper_library name)
  cmake_parse_arguments(ARG "" "STANDARD" "FOLDERS;EXCLUDE;FILES;LINK" ${ARGN})
  cmake_parse_arguments(LINK "" "" "PRIVATE;PUBLIC" ${ARG_LINK})
  taper_sources(sources FOLDERS ${ARG_FOLDERS} EXCLUDE ${ARG_EXCLUDE})
  list(TRANSFORM ARG_FILES PREPEND ${PROJECT_SOURCE_DIR}/)
  list(APPEND sources ${ARG_FILES})
  if(sources)
    add_library(${name} STATIC ${sources})
    target_compile_features(${name} PUBLIC cxx_std_${ARG_STANDARD})
    target_link_libraries(${name} PUBLIC ${LINK_PUBLIC}
      PRIVATE $<BUILD_INTERFACE:taper::warnings> ${LINK_PRIVATE})
    if(ARG_STANDARD EQUAL 20)
      target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:taper::host>)
      set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
      taper_precompile(${name})
    endif()
    set(scope PUBLIC)
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE ${LINK_PUBLIC})
    set(scope INTERFACE)
  endif()
  string(REPLACE "taper_" "" short ${name})
  add_library(taper::${short} ALIAS ${name})
  target_include_directories(${name} ${scope}
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/runtime/include>
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
endfunction()

# taper_vectorise(FOLDER): compiles the folder's sources as taper::fast_loops says, within a library
# that is compiled otherwise.
function(taper_vectorise folder)
  taper_sources(sources FOLDERS ${folder})
  get_target_property(options taper_fast_loops INTERFACE_COMPILE_OPTIONS)
  set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS "${options}"
    SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# taper_utf8(NAME): on Windows the arguments of the program and the names of its files are UTF-8, and
# paths may be long.
if(WIN32)
  add_library(taper_manifest OBJECT ${PROJECT_SOURCE_DIR}/cmake/windows/program.rc)
endif()
function(taper_utf8 name)
  if(WIN32)
    target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:$<TARGET_OBJECTS:taper_manifest>>)
  endif()
endfunction()

# taper_exports(NAME MAP): a shared library shows the symbols that the headers of C declare, which
# cmake/MAP lists, and nothing else.
function(taper_exports name map)
  set_target_properties(${name} PROPERTIES CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  if(APPLE)  # What is not hidden is what the headers declare.
    target_link_options(${name} PRIVATE -Wl,-dead_strip)
    return()
  endif()
  target_link_options(${name} PRIVATE -Wl,--gc-sections)
  if(WIN32)
    target_compile_definitions(${name} PRIVATE TAPER_EXPORTS)
    return()
  endif()
  set(map ${PROJECT_SOURCE_DIR}/cmake/${map})
  target_link_options(${name} PRIVATE -Wl,-z,max-page-size=16384 -Wl,--version-script=${map})
  set_target_properties(${name} PROPERTIES LINK_DEPENDS ${map})
endfunction()

# taper_program(NAME FILES f... | FOLDERS f... LINK t...): an executable in bin/.
function(taper_program name)
  cmake_parse_arguments(ARG "" "" "FILES;FOLDERS;LINK" ${ARGN})
  taper_sources(sources FOLDERS ${ARG_FOLDERS})
  foreach(file IN LISTS ARG_FILES)
    if(EXISTS ${PROJECT_SOURCE_DIR}/${file})
      list(APPEND sources ${PROJECT_SOURCE_DIR}/${file})
    endif()
  endforeach()
  if(NOT sources)
    return()
  endif()
  add_executable(${name} ${sources})
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE taper::warnings ${ARG_LINK})
  taper_utf8(${name})
endfunction()

# taper_tests(FOLDER [HELPERS] LINK t...): one GoogleTest program of every *_test.cpp under FOLDER,
# named after the folder, and one CTest entry with the folder as its label. With HELPERS the program
# also contains the folder's other sources.
function(taper_tests folder)
  cmake_parse_arguments(ARG "HELPERS" "" "LINK" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*_test.cpp)
  if(NOT sources)
    return()
  endif()
  if(ARG_HELPERS)
    taper_sources(helpers FOLDERS ${folder})
    list(APPEND sources ${helpers})
  endif()
  string(REPLACE "/" "_" name ${folder})
  set(name ${name}_test)
  add_executable(${name} ${sources})
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_compile_options(${name} PRIVATE -O0)  # Compiles fast; the code under test is optimised.
  target_precompile_headers(${name} PRIVATE <gtest/gtest.h>)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${name} PRIVATE
    TAPER_SOURCE_DIR="${PROJECT_SOURCE_DIR}" TAPER_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  target_link_libraries(${name} PRIVATE taper::warnings ${ARG_LINK}
    GTest::gtest GTest::gtest_main)
  taper_utf8(${name})
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1 WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
  set_tests_properties(${name} PROPERTIES LABELS ${folder})
endfunction()
