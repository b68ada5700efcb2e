# taper::schema: C++ accessors and verifiers generated from schema/*.fbs. They are included as
# "schema/program_generated.h". FlatBuffers is headers only here; nothing is linked.

find_program(TAPER_FLATC flatc)
if(NOT TAPER_FLATC)
  message(FATAL_ERROR "flatc is missing: run scripts/deps.sh")
endif()

set(generated_dir ${PROJECT_BINARY_DIR}/generated)
file(GLOB schemas CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/schema/*.fbs)
set(generated)
foreach(schema IN LISTS schemas)
  get_filename_component(base ${schema} NAME_WE)
  set(header ${generated_dir}/schema/${base}_generated.h)
  add_custom_command(
    OUTPUT ${header}
    COMMAND ${TAPER_FLATC} --cpp --scoped-enums --cpp-std c++17 --include-prefix schema
            -I ${PROJECT_SOURCE_DIR}/schema -I ${PROJECT_SOURCE_DIR}
            -o ${generated_dir}/schema ${schema}
    DEPENDS ${schemas}
    COMMENT "Generating schema/${base}_generated.h"
    VERBATIM)
  list(APPEND generated ${header})
endforeach()

add_library(taper_schema INTERFACE)
add_library(taper::schema ALIAS taper_schema)
add_custom_target(taper_schema_headers DEPENDS ${generated})
add_dependencies(taper_schema taper_schema_headers)
target_include_directories(taper_schema SYSTEM INTERFACE $<BUILD_INTERFACE:${generated_dir}>)
