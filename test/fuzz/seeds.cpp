// Reads and exports the seeds of the fuzzers.

#include "test/fuzz/seeds.h"

#include <fstream>
#include <iterator>

#include "exir/export.h"
#include "test/fuzz/backend_hooks.h"
#include "tools/backends.h"

namespace taper::fuzz {
namespace {

// Small models that together cover every container form, dynamic shapes, control flow, state,
// various dtypes and nested inputs.
constexpr const char* kModels[] = {
    "add",       "counter",     "cond",           "cond_twice",    "map",
    "scan",      "while_loop",  "dynamic_batch",  "dynamic_rows",  "nested",
    "float16",   "bfloat16",    "lstm",           "mixed_dtypes",  "in_place_views",
    "untouched", "ring_buffer", "input_mutation", "causal_conv1d", "forms",
    "forms_2_8", "forms_2_6",
};

// Programs lowered by ExecuTorch.
constexpr const char* kExecuTorchPrograms[] = {"add", "dynamic_batch"};

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
  const auto add_model = [&](const char* name, const char* backend) {
    exir::ExportRequest request;
    request.methods = {{"forward", model_path(name)}};
    request.lowering.backends = tools::compilers_of(backend);
    request.lowering.delegated = exir::Groups::kAll;
    seeds.push_back(exir::export_program(request).files.pte.joined());
  };
  const auto add_program = [&](const char* name) {
    seeds.push_back(contents(kRoot + "/test/compat/data/" + name + ".pte"));
  };
  for (const char* name : kModels) add_model(name, "portable");
  for (const char* name : kExecuTorchPrograms) add_program(name);
  for (const BackendHooks* hooks : backend_hooks()) {
    for (const char* name : kModels) add_model(name, hooks->name);
    for (const char* name : hooks->models) add_model(name, hooks->name);
    for (const char* name : hooks->programs) add_program(name);
  }
  return seeds;
}

std::vector<std::string> bpte_seeds() { return {contents(kRoot + "/test/compat/data/mlp.bpte")}; }

std::vector<std::string> etdp_seeds() {
  return {contents(kRoot + "/test/compat/data/mlp.etdp"),
          contents(kRoot + "/test/compat/data/mlp_delegate.etdp")};
}

}  // namespace taper::fuzz
