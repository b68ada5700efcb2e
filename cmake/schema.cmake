# taper::schema: C++ accessors and verifiers generated from schema/*.fbs and from each backend's
# schema.fbs. They are included as "schema/program_generated.h". Only FlatBuffers' headers are used.

find_program(TAPER_FLATC flatc)
if(NOT TAPER_FLATC)
  message(FATAL_ERROR "flatc is missing: run scripts/deps.sh")
endif()

get_filename_component(flatc_dir ${TAPER_FLATC} DIRECTORY)
find_path(TAPER_FLATBUFFERS_INCLUDE flatbuffers/flatbuffers.h HINTS ${flatc_dir}/../include
          NO_CMAKE_FIND_ROOT_PATH REQUIRED DOC "The folder with flatbuffers/flatbuffers.h")

taper_component(flatbuffers Apache-2.0 https://github.com/google/flatbuffers
  DEBIAN libflatbuffers-dev)

set(generated_dir ${PROJECT_BINARY_DIR}/generated)
set(generated)
# Generates the headers of one folder's schemas, which may include each other.
function(taper_generate folder)
  file(GLOB schemas CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.fbs)
  foreach(schema IN LISTS schemas)
    get_filename_component(base ${schema} NAME_WE)
    set(header ${generated_dir}/${folder}/${base}_generated.h)
    add_custom_command(
      OUTPUT ${header}
      COMMAND ${TAPER_FLATC} --cpp --scoped-enums --cpp-std c++17 --include-prefix ${folder}
              -I ${PROJECT_SOURCE_DIR}/${folder} -I ${PROJECT_SOURCE_DIR}
              -o ${generated_dir}/${folder} ${schema}
      DEPENDS ${schemas}
      COMMENT "Generating ${folder}/${base}_generated.h"
      VERBATIM)
    list(APPEND generated ${header})
  endforeach()
  set(generated ${generated} PARENT_SCOPE)
endfunction()
taper_generate(schema)
foreach(folder IN LISTS TAPER_BACKEND_FOLDERS TAPER_TEST_BACKEND_FOLDERS)
  taper_generate(${folder})
endforeach()

add_library(taper_schema INTERFACE)
add_library(taper::schema ALIAS taper_schema)
add_custom_target(taper_schema_headers DEPENDS ${generated})
add_dependencies(taper_schema taper_schema_headers)
target_include_directories(taper_schema SYSTEM INTERFACE $<BUILD_INTERFACE:${generated_dir}>)
if(CMAKE_CROSSCOMPILING)  # FlatBuffers' headers alone: the host's other headers must not be found.
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/headers)
  file(CREATE_LINK ${TAPER_FLATBUFFERS_INCLUDE}/flatbuffers ${PROJECT_BINARY_DIR}/headers/flatbuffers
       SYMBOLIC)
  target_include_directories(taper_schema SYSTEM INTERFACE
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/headers>)
endif()
