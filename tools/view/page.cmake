# Compiles the sources of the page that `taper view` writes into the command line.

file(GLOB page_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/view/page/*.html
     ${PROJECT_SOURCE_DIR}/tools/view/page/*.css ${PROJECT_SOURCE_DIR}/tools/view/page/*.js)
set(page_files ${PROJECT_BINARY_DIR}/generated/tools/view/page_files.cpp)
set(embed ${PROJECT_SOURCE_DIR}/tools/view/embed.cmake)
add_custom_command(
  OUTPUT ${page_files}
  COMMAND ${CMAKE_COMMAND} -D OUT=${page_files} "-DFILES=${page_sources}" -P ${embed}
  DEPENDS ${page_sources} ${embed}
  COMMENT "Embedding the page of taper view"
  VERBATIM)
target_sources(taper_tools PRIVATE ${page_files})
