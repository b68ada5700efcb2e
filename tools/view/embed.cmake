# Writes files as a table of texts in C++: cmake -D OUT=page_files.cpp -D FILES="a;b" -P embed.cmake

set(rows)
foreach(file IN LISTS FILES)
  file(READ ${file} text)
  get_filename_component(name ${file} NAME)
  string(APPEND rows "    {\"${name}\", R\"page(${text})page\"},\n")
endforeach()
file(WRITE ${OUT} "// Made by tools/view/embed.cmake.

#include \"tools/view/page.h\"

namespace taper::tools {

static constexpr PageFile kFiles[] = {
${rows}};

std::span<const PageFile> page_files() { return kFiles; }

}  // namespace taper::tools
")
