# Finds glslc, the Vulkan headers and volk, which opens the loader at run time, and compiles the
# shaders to SPIR-V.

find_program(TAPER_GLSLC glslc)
find_path(TAPER_VULKAN_INCLUDE vulkan/vulkan.h)
find_path(TAPER_VOLK_INCLUDE volk.h)
if(NOT TAPER_GLSLC OR NOT TAPER_VULKAN_INCLUDE OR NOT TAPER_VOLK_INCLUDE)
  taper_backend_missing("glslc, the Vulkan headers or volk are not there: run scripts/deps.sh vulkan")
  return()
endif()

taper_component(volk MIT https://github.com/zeux/volk DEBIAN libvulkan-volk-dev)
taper_component(vulkan-headers Apache-2.0 https://github.com/KhronosGroup/Vulkan-Headers
  DEBIAN libvulkan-dev)

# Shaders for matrix units need a newer compiler than Debian 12 has. Without it, or with
# TAPER_VULKAN_MATRIX_UNITS=OFF, the backend has none.
option(TAPER_VULKAN_MATRIX_UNITS "Compile the Vulkan backend's shaders for matrix units" ON)
set(matrix_compiler)
if(TAPER_VULKAN_MATRIX_UNITS)
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/glslang.sh where
    OUTPUT_VARIABLE matrix_compiler OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT matrix_compiler)
    message(STATUS "Vulkan without matrix units: glslang is missing: run scripts/deps.sh vulkan")
  endif()
endif()

# Every shader is a source of its own, so that a program links those that its table names: all, or,
# if `taper select` wrote a table, those that its payloads need.
set(shader_folder ${PROJECT_SOURCE_DIR}/${backend_folder}/shaders)
set(shader_out ${PROJECT_BINARY_DIR}/generated/${backend_folder}/shaders)
file(MAKE_DIRECTORY ${shader_out})
file(GLOB shaders CONFIGURE_DEPENDS ${shader_folder}/*.comp)
file(GLOB shader_headers CONFIGURE_DEPENDS ${shader_folder}/*.glsl)
set(shader_sources ${shader_out}/shader_table.cpp)
set(shader_declarations)
set(shader_rows)
foreach(shader IN LISTS shaders)
  get_filename_component(name ${shader} NAME_WE)
  set(compile ${TAPER_GLSLC} --target-env=vulkan1.1 -O -Werror -mfmt=num)
  if(name MATCHES "_units$")
    set(compile ${matrix_compiler} -V --target-env vulkan1.2 -g0 -x --quiet)
    if(NOT matrix_compiler)  # A shader of no words.
      file(CONFIGURE OUTPUT ${shader_out}/${name}.cpp @ONLY CONTENT "// Made by backends/vulkan/backend.cmake.

#include \"backends/vulkan/runtime/shader_code.h\"

namespace taper::vulkan::shaders {

extern const ShaderCode @name@;
const ShaderCode @name@ = {\"@name@\", 0, {}};

}  // namespace taper::vulkan::shaders
")
      list(APPEND shader_sources ${shader_out}/${name}.cpp)
      string(APPEND shader_declarations "extern const ShaderCode ${name};\n")
      string(APPEND shader_rows "    &shaders::${name},\n")
      continue()
    endif()
  endif()
  add_custom_command(
    OUTPUT ${shader_out}/${name}.inc
    COMMAND ${compile} -I${shader_folder} -o ${shader_out}/${name}.inc ${shader}
    DEPENDS ${shader} ${shader_headers}
    COMMENT "Compiling shader ${name}"
    VERBATIM)
  file(CONFIGURE OUTPUT ${shader_out}/${name}.cpp @ONLY CONTENT "// Made by backends/vulkan/backend.cmake.

#include \"backends/vulkan/runtime/shader_code.h\"

namespace taper::vulkan::shaders {
namespace {

constexpr uint32_t kWords[] = {
#include \"@name@.inc\"
};
constexpr auto kPacked = packing::packed<packing::packed_size(kWords)>(kWords);

}  // namespace

extern const ShaderCode @name@;
const ShaderCode @name@ = {\"@name@\", sizeof(kWords) / 4, kPacked.bytes};

}  // namespace taper::vulkan::shaders
")
  set_source_files_properties(${shader_out}/${name}.cpp PROPERTIES
    OBJECT_DEPENDS ${shader_out}/${name}.inc
    COMPILE_OPTIONS "$<$<CXX_COMPILER_ID:Clang,AppleClang>:-fconstexpr-steps=100000000>")
  list(APPEND shader_sources ${shader_out}/${name}.cpp)
  string(APPEND shader_declarations "extern const ShaderCode ${name};\n")
  string(APPEND shader_rows "    &shaders::${name},\n")
endforeach()
file(CONFIGURE OUTPUT ${shader_out}/shader_table.cpp @ONLY CONTENT "// Made by backends/vulkan/backend.cmake.

#include \"backends/vulkan/runtime/shader_code.h\"

namespace taper::vulkan {

namespace shaders {
@shader_declarations@}  // namespace shaders

namespace {

constexpr const ShaderCode* kShaders[] = {
@shader_rows@};

}  // namespace

Span<const ShaderCode* const> shader_code() { return kShaders; }

}  // namespace taper::vulkan
")
add_library(taper_vulkan_shaders STATIC ${shader_sources})
set_target_properties(taper_vulkan_shaders PROPERTIES POSITION_INDEPENDENT_CODE ON
  CXX_VISIBILITY_PRESET hidden)
target_compile_features(taper_vulkan_shaders PUBLIC cxx_std_17)
target_include_directories(taper_vulkan_shaders PRIVATE ${shader_out} ${PROJECT_SOURCE_DIR})
target_link_libraries(taper_vulkan_shaders PUBLIC taper_runtime
  PRIVATE $<BUILD_INTERFACE:taper::warnings> taper::freestanding)

add_library(taper_vulkan_library INTERFACE)
target_include_directories(taper_vulkan_library SYSTEM INTERFACE
  $<BUILD_INTERFACE:${TAPER_VULKAN_INCLUDE}> $<BUILD_INTERFACE:${TAPER_VOLK_INCLUDE}>)
target_link_libraries(taper_vulkan_library INTERFACE ${CMAKE_DL_LIBS})

# The conformance suite also runs on lavapipe, a driver that computes on the processor.
find_file(TAPER_LAVAPIPE NAMES lvp_icd.x86_64.json lvp_icd.aarch64.json lvp_icd.json
  PATHS /usr/share/vulkan/icd.d NO_DEFAULT_PATH)
set(lavapipe)
if(TAPER_LAVAPIPE)
  set(lavapipe TEST_ENVIRONMENT TAPER_VULKAN_DEVICE=llvmpipe)
endif()

# Without a GPU, what ExecuTorch's exporter fuses is computed by what kernels have in common.
taper_backend_device(${lavapipe} LINK taper_vulkan_library taper_vulkan_shaders taper_kernels_portable
  TARGETS taper_vulkan_library taper_vulkan_shaders taper_vulkan_planner
  LIBRARY_HEADERS volk.h vulkan.h
  HEADERS descriptor.h runtime/vulkan_backend.h)
