// Writes model.h, model.cpp, program.cpp and kernels.cpp; CMakeLists.txt, which compiles them with
// the runtime and the kernels that they need; and sources.txt, the list of these for other build
// systems.

#include "selective_build/firmware.h"

#include <set>

#include "selective_build/aligned_copy.h"
#include "selective_build/firmware_method.h"
#include "selective_build/firmware_source.h"
#include "selective_build/write_table.h"
#include "taper/program.h"

namespace taper::select {
namespace {

std::string define(const std::string& name, const std::string& value) {
  return "#define " + name + " " + value + "\n";
}

// "{4, 40}"; "{0}" if there are no ports, because an array in C has at least one element.
std::string bytes_of(const std::vector<FirmwarePort>& ports) {
  std::string text;
  for (const FirmwarePort& port : ports) {
    text += (text.empty() ? "{" : ", ") + std::to_string(port.bytes);
  }
  return text.empty() ? "{0}" : text + "}";
}

// The declarations of one method: comments on inputs and outputs, sizes, and functions.
std::string declarations(const FirmwareMethod& method, bool several) {
  std::string out = several ? "\n// ---- " + method.id + " ----\n\n" : "\n";
  for (const auto* ports : {&method.inputs, &method.outputs}) {
    for (const FirmwarePort& port : *ports) out += "// " + port.name + ": " + port.text + "\n";
  }
  for (const std::string& line : method.ranges) out += "//   " + line + "\n";
  out += define(method.macro + "INPUTS", std::to_string(method.inputs.size()));
  out += define(method.macro + "OUTPUTS", std::to_string(method.outputs.size()));
  out += define(method.macro + "INPUT_BYTES", bytes_of(method.inputs));
  out += define(method.macro + "OUTPUT_BYTES", bytes_of(method.outputs));
  out += "#if UINTPTR_MAX == UINT32_MAX\n" +
         define(method.macro + "BLOCK_BYTES", std::to_string(method.block_bytes_on_32_bits)) +
         "#else\n" + define(method.macro + "BLOCK_BYTES", std::to_string(method.block_bytes)) +
         "#endif\n";
  const std::string function = "int32_t " + method.prefix;
  return out + "\n" + function + "init(void);\n" + function + "run(" + firmware_parameters(method) +
         ");\n" + function +
         "run_all(const void* const* inputs, const int32_t* const* input_sizes,\n"
         "    void* const* outputs, int32_t* const* output_sizes);\n" +
         function + "reset(void);\n";
}

bool is_dynamic(const std::vector<FirmwareMethod>& methods) {
  for (const FirmwareMethod& method : methods) {
    for (const FirmwarePort& port : method.inputs) {
      if (port.dynamic) return true;
    }
    for (const FirmwarePort& port : method.outputs) {
      if (port.dynamic) return true;
    }
  }
  return false;
}

std::string header(const std::vector<FirmwareMethod>& methods, size_t program_bytes,
                   const std::vector<std::string>& own) {
  std::string out =
      "// A model, made by `taper export --format=c`. It uses no heap, files or operating system.\n"
      "//\n"
      "//   _init     verifies the program and binds the method's kernels, once; _run does it if "
      "needed\n"
      "//   _run      computes the outputs from the inputs; the caller provides memory for "
      "outputs\n"
      "//   _run_all  the same with all pointers in arrays; a list of sizes may be null\n"
      "//   _reset    sets the method's state back to its initial values\n//\n"
      "// Each returns 0 or a code of taper/taper.h. One call at a time: they share memory.\n";
  if (is_dynamic(methods)) {
    out +=
        "//\n// If sizes are dynamic, the caller passes those of an input (null: the upper bounds) "
        "and receives\n// those of an output; memory for outputs must have MODEL_OUTPUT_BYTES.\n";
  }
  if (!own.empty()) {
    out +=
        "//\n// The application defines taper::KernelTable model_own_kernels(), a table of its "
        "kernels\n// (taper/kernel.h, sorted by name), for:\n";
    for (const std::string& name : own) out += "//   " + name + "\n";
  }
  out += "\n#pragma once\n\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  out += "// The exact size of the memory that is used besides the program of " +
         std::to_string(program_bytes) +
         " bytes: the\n// planned buffers and the block of each method.\n" +
         define("MODEL_ARENA_BYTES", std::to_string(firmware_arena_bytes(methods)));
  for (const FirmwareMethod& method : methods) out += declarations(method, methods.size() > 1);
  return out +
         "\n// The error text of the last call; empty if the runtime is built without texts.\n"
         "const char* model_error(void);\n\n#ifdef __cplusplus\n}\n#endif\n";
}

std::string program_source(std::string_view pte) {
  std::string out =
      "// The program's file; made by `taper export --format=c`.\n\n#include <stddef.h>\n\n"
      "extern \"C\" {\nextern const size_t model_program_bytes;\n"
      "extern const unsigned char model_program[];\n"
      "const size_t model_program_bytes = " +
      std::to_string(pte.size()) + ";\nalignas(64) const unsigned char model_program[] = {";
  for (size_t i = 0; i < pte.size(); ++i) {
    out += (i % 24 == 0 ? "\n" : "") + std::to_string(static_cast<unsigned char>(pte[i])) + ",";
  }
  return out + "\n};\n}\n";
}

std::string sources(const Selection& selection) {
  std::string out =
      "# What CMakeLists.txt compiles, for other build systems. All of it is in share/taper of an\n"
      "# installed Taper: include that folder and its runtime/include. The runtime is\n"
      "# runtime/core, runtime/program and runtime/executor. Compile the files of "
      "kernels_portable\n"
      "# that do not begin with op_, except kernel_table.cpp, with -DTAPER_DTYPES=" +
      dtype_mask(selection.dtypes) + ", and\n# these with the option beside them.\n";
  for (const auto& [file, dtypes] : selection.files) {
    out += file + ".cpp -DTAPER_DTYPES=" + dtype_mask(dtypes) + "\n";
  }
  return out;
}

constexpr const char* kProject =
    R"(# The model as a static library; made by `taper export --format=c`.
#
#   add_subdirectory(MODEL_DIR)
#   target_link_libraries(app PRIVATE model)
#
# TAPER_SOURCES is share/taper of an installed Taper, or a copy of that folder. MODEL_FLAGS and
# MODEL_DEFINITIONS, if set before, replace what is below for a device without files or system.

cmake_minimum_required(VERSION 3.22)
project(model LANGUAGES CXX)

find_path(TAPER_SOURCES schema/program_generated.h PATH_SUFFIXES share/taper NO_CMAKE_FIND_ROOT_PATH
          DOC "share/taper of an installed Taper")
if(NOT TAPER_SOURCES)
  message(FATAL_ERROR "Taper's sources are not found; give -DTAPER_SOURCES=PREFIX/share/taper")
endif()
if(NOT DEFINED MODEL_FLAGS)
  set(MODEL_FLAGS -Os -DNDEBUG -ffreestanding -fno-exceptions -fno-rtti -fno-threadsafe-statics
    -ffunction-sections -fdata-sections -fno-math-errno -fno-trapping-math)
endif()
if(NOT DEFINED MODEL_DEFINITIONS)
  set(MODEL_DEFINITIONS TAPER_ERROR_TEXT=0)  # Empty: model_error() has texts.
endif()

set(runtime ${TAPER_SOURCES}/runtime)
set(kernels ${TAPER_SOURCES}/kernels_portable)
file(GLOB sources ${runtime}/core/*.cpp ${runtime}/program/*.cpp ${runtime}/executor/*.cpp)
file(GLOB_RECURSE shared ${kernels}/*.cpp)
list(FILTER shared EXCLUDE REGEX "/(op_[a-z0-9_]*|kernel_table)\\.cpp$")
list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
list(FILTER shared EXCLUDE REGEX "_test\\.cpp$")
set_property(SOURCE ${shared} PROPERTY COMPILE_DEFINITIONS TAPER_DTYPES=$ALL)
# kernel(FILE DTYPES): adds an operator, compiled for the dtypes that are passed to it.
function(kernel file dtypes)
  target_sources(model PRIVATE ${kernels}/${file}.cpp)
  set_property(SOURCE ${kernels}/${file}.cpp PROPERTY COMPILE_DEFINITIONS TAPER_DTYPES=${dtypes})
endfunction()

add_library(model STATIC model.cpp kernels.cpp program.cpp ${sources} ${shared})
target_compile_features(model PRIVATE cxx_std_17)
target_compile_options(model PRIVATE ${MODEL_FLAGS})
# The application's own kernels are compiled with the same definitions.
target_compile_definitions(model PUBLIC ${MODEL_DEFINITIONS})
target_include_directories(model PUBLIC ${CMAKE_CURRENT_SOURCE_DIR} ${runtime}/include)
target_include_directories(model SYSTEM PRIVATE ${TAPER_SOURCES})
)";

std::string project(const Selection& selection) {
  std::string out = kProject;
  const std::string all = "$ALL";
  out.replace(out.find(all), all.size(), dtype_mask(selection.dtypes));
  for (const auto& [file, dtypes] : selection.files) {
    out += "kernel(" + file + " " + dtype_mask(dtypes) + ")\n";
  }
  return out;
}

}  // namespace

FirmwareFiles firmware_files(std::string_view pte, const Selection& selection,
                             const std::vector<std::string>& own) {
  const AlignedCopy copy(pte);
  BufferDataLoader loader(copy.data(), copy.size());
  const Result<Program> program = Program::open(loader);
  if (!program.ok()) return {{}, {program.status().message()}};
  FirmwareFiles out;
  const std::vector<FirmwareMethod> methods = firmware_methods(*program, &out.problems);
  if (!out.problems.empty()) return out;
  out.files = {{"model.h", header(methods, pte.size(), own)},
               {"model.cpp", firmware_source(methods, !own.empty())},
               {"program.cpp", program_source(pte)},
               {"kernels.cpp", table_source(selection, own)},
               {"CMakeLists.txt", project(selection)},
               {"sources.txt", sources(selection)}};
  return out;
}

}  // namespace taper::select
