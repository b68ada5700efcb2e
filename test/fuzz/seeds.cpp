// Reads and exports the seeds of the fuzzers.

#include "test/fuzz/seeds.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "exir/export.h"
#include "test/fuzz/backend_hooks.h"
#include "test/fuzz/pair.h"
#include "tools/backends.h"
#include "tools/packing.h"
#include "tools/temporary_file.h"

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

// Small ones with layers whose weights become integers.
constexpr const char* kLayered[] = {"dynamic_batch", "causal_conv1d", "lstm",
                                    "forms",         "forms_2_6",     "nested"};

// Programs lowered by ExecuTorch.
constexpr const char* kExecuTorchPrograms[] = {"add", "dynamic_batch"};

const std::string kRoot = TAPER_SOURCE_DIR;

std::string model_path(const char* name) { return kRoot + "/test/models/data/" + name + ".pt2"; }

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

exir::ExportResult exported(const char* name, const std::string& backend,
                            bool weights_outside = false) {
  exir::ExportRequest request;
  request.methods = {{"forward", model_path(name)}};
  request.weights_outside = weights_outside;
  request.lowering.backends = tools::compilers_of(backend);
  request.lowering.delegated = exir::Groups::kAll;
  return exir::export_program(request);
}

std::string program_of(const char* name, const std::string& backend) {
  return exported(name, backend).files.pte.joined();
}

std::string scratch_path() {
  return (std::filesystem::temp_directory_path() / "taper_fuzz_seed").string();
}

// Programs with weights that a backend packs.
std::vector<std::string> packable_programs() {
  std::vector<std::string> programs;
  for (const BackendHooks* hooks : backend_hooks()) {
    if (hooks->seal_packed == nullptr) continue;
    for (const char* name : {"dynamic_encoder", "groups", "int8_convnet"}) {
      programs.push_back(program_of(name, hooks->name));
    }
  }
  return programs;
}

}  // namespace

std::vector<std::string> pt2_seeds() {
  std::vector<std::string> seeds;
  for (const char* name : kModels) seeds.push_back(contents(model_path(name)));
  return seeds;
}

std::vector<std::string> pte_seeds() {
  std::vector<std::string> seeds;
  const auto add_program = [&](const char* name) {
    seeds.push_back(contents(kRoot + "/test/compat/data/" + name + ".pte"));
  };
  for (const char* name : kModels) seeds.push_back(program_of(name, "portable"));
  for (const char* name : kExecuTorchPrograms) add_program(name);
  for (const BackendHooks* hooks : backend_hooks()) {
    for (const char* name : kModels) seeds.push_back(program_of(name, hooks->name));
    for (const char* name : hooks->models) seeds.push_back(program_of(name, hooks->name));
    for (const char* name : hooks->programs) add_program(name);
  }
  for (const std::string& program : packable_programs()) {
    seeds.push_back(tools::with_packed_weights(program, "a seed", "", scratch_path()).program);
  }
  return seeds;
}

std::vector<std::string> ptd_seeds() {
  std::vector<std::string> seeds;
  for (const char* name : {"dynamic_batch", "mixed_dtypes", "lstm"}) {
    for (const std::string& backend : {std::string("portable"), tools::first_backend()}) {
      const exir::ExportResult result = exported(name, backend, true);
      seeds.push_back(join_pair(result.files.pte.joined(), result.files.ptd.joined()));
    }
  }
  return seeds;
}

std::vector<std::string> packed_seeds() {
  std::vector<std::string> seeds;
  for (const std::string& program : packable_programs()) {
    for (const BackendHooks* hooks : backend_hooks()) {
      if (hooks->seal_packed == nullptr) continue;
      const tools::TemporaryFile file(scratch_path());
      const std::string packed = tools::packed_weights_of(exir::FileInMemory(program), "a seed", "",
                                                          hooks->name, file.path);
      seeds.push_back(join_pair(program, packed));
    }
  }
  return seeds;
}

std::vector<std::string> quantize_seeds() {
  std::vector<std::string> seeds;
  for (const char* name : kLayered) seeds.push_back(contents(model_path(name)));
  return seeds;
}

std::vector<std::string> bpte_seeds() { return {contents(kRoot + "/test/compat/data/mlp.bpte")}; }

std::vector<std::string> etdp_seeds() {
  return {contents(kRoot + "/test/compat/data/mlp.etdp"),
          contents(kRoot + "/test/compat/data/mlp_delegate.etdp")};
}

}  // namespace taper::fuzz
