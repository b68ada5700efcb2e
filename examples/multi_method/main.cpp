// Several methods in one file: prints the inputs and outputs of each and runs it on tensors of
// ones.

#include <cstdio>
#include <memory>
#include <vector>

#include "kernels_portable/kernel_table.h"
#include "taper/module.h"

using namespace taper;

namespace {

// Runs method `name` on float tensors of ones. Returns false after an error.
bool run_on_ones(Module& module, const std::string& name) {
  const Result<MethodMeta> meta = module.method_meta(name);
  if (!meta.ok()) return false;
  std::vector<std::unique_ptr<OwnedTensor>> tensors;
  std::vector<EValue> inputs;
  for (size_t i = 0; i < meta->num_inputs(); ++i) {
    const Result<TensorInfo> info = meta->input_tensor_meta(i);
    if (!info.ok() || info->scalar_type() != ScalarType::kFloat) continue;
    tensors.push_back(std::make_unique<OwnedTensor>(ScalarType::kFloat, info->sizes()));
    float* data = tensors.back()->data_as<float>();
    for (int64_t k = 0; k < tensors.back()->tensor()->numel(); ++k) data[k] = 1;
    inputs.emplace_back(tensors.back()->tensor());
  }
  const auto outputs = module.execute(name, inputs);
  if (!outputs.ok()) return false;
  std::printf("%s: %zu inputs, %zu outputs, %zu bytes for the method,", name.c_str(),
              meta->num_inputs(), meta->num_outputs(), meta->method_bytes());
  const Tensor& first = outputs.value()[0].to_tensor();
  std::printf(" first output %g\n", static_cast<double>(first.const_data_ptr<float>()[0]));
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: multi_method MODEL.pte\n"), 2;
  const KernelTable tables[] = {portable::portable_kernels()};
  ModuleOptions options;
  options.kernels = tables;
  Module module(argv[1], options);
  for (const std::string& name : module.method_names()) {
    if (!run_on_ones(module, name)) break;
  }
  if (module.last_error_text().empty()) return 0;
  return std::fprintf(stderr, "%s\n", module.last_error_text().c_str()), 1;
}
