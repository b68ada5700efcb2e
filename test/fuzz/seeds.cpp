#include "test/fuzz/seeds.h"

#include <fstream>
#include <iterator>

#include "exir/export.h"
#include "tools/backends.h"

namespace taper::fuzz {
namespace {

// Small ones that between them use every container form, dynamic shapes, control flow, state, other
// dtypes and nested inputs.
constexpr const char* kModels[] = {
    "add",       "counter",     "cond",           "cond_twice",    "map",
    "scan",      "while_loop",  "dynamic_batch",  "dynamic_rows",  "nested",
    "float16",   "bfloat16",    "lstm",           "mixed_dtypes",  "in_place_views",
    "untouched", "ring_buffer", "input_mutation", "causal_conv1d", "forms",
    "forms_2_8", "forms_2_6",
};

// Made by ExecuTorch itself.
constexpr const char* kExecuTorchPrograms[] = {"add", "dynamic_batch"};

#if TAPER_XNNPACK
// With delegates: all of the above, these, and ExecuTorch's.
constexpr const char* kDelegatedModels[] = {"vit_tiny",     "inception",   "dynamic_encoder",
                                            "int8_convnet", "int8_layers", "int8_rows"};
constexpr const char* kDelegatedPrograms[] = {"xnnpack_dynamic_batch", "xnnpack_int8_static",
                                              "xnnpack_int8_dynamic", "xnnpack_int4_groups"};
#endif

const std::string kRoot = TAPER_SOURCE_DIR;

std::string model_path(const char* name) { return kRoot + "/test/models/data/" + name + ".pt2"; }

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

std::vector<std::string> pt2_seeds() {
  std::vector<std::string> seeds;
  for (const char* name : kModels) seeds.push_back(contents(model_path(name)));
  return seeds;
}

std::vector<std::string> pte_seeds() {
  std::vector<std::string> seeds;
  const auto add_model = [&](const char* name, const exir::BackendCompiler* backend) {
    exir::ExportRequest request;
    request.methods = {{"forward", model_path(name)}};
    request.lowering.backend = backend;
    request.lowering.delegated = exir::Groups::kAll;
    seeds.push_back(exir::export_program(request).files.pte.joined());
  };
  const auto add_program = [&](const char* name) {
    seeds.push_back(contents(kRoot + "/test/compat/data/" + name + ".pte"));
  };
  for (const char* name : kModels) add_model(name, nullptr);
  for (const char* name : kExecuTorchPrograms) add_program(name);
#if TAPER_XNNPACK
  const exir::BackendCompiler* xnnpack = tools::find_backend_compiler("xnnpack");
  for (const char* name : kModels) add_model(name, xnnpack);
  for (const char* name : kDelegatedModels) add_model(name, xnnpack);
  for (const char* name : kDelegatedPrograms) add_program(name);
#endif
  return seeds;
}

}  // namespace taper::fuzz
