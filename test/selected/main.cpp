// A trimmed application: runs the committed models that it was built for on their inputs and
// compares the outputs with PyTorch's. Arguments: the folder of the .pte files, and their names. It
// has the backends that it is linked with.

#include <cstdio>
#include <deque>
#include <stdexcept>

#include "backends/devices.h"
#include "taper/module.h"
#include "taper/selected_kernels.h"
#include "test/e2e/model_cases.h"
#include "tools/compare.h"
#include "tools/npy.h"
#include "tools/tensor_bytes.h"

namespace taper::test {
namespace {

constexpr uint64_t kMaxBytes = uint64_t{1} << 30;

tools::NpyArray array_of(const Tensor& tensor) {
  tools::NpyArray array;
  array.dtype = tensor.scalar_type();
  array.shape = tools::shape_of(tensor.sizes());
  array.data = tools::row_major_bytes(tensor);
  return array;
}

// Runs one step. Returns false if outputs are missing; throws if they differ from PyTorch's.
bool run_step(Module& module, const ModelCase& c, size_t step) {
  const Result<MethodMeta> meta = module.method_meta("forward");
  if (!meta.ok()) throw std::runtime_error(module.last_error_text());
  std::deque<tools::HeldTensor> held;
  std::vector<EValue> inputs;
  const std::vector<tools::NpyArray> arrays = tools::read_all(c.input_paths(step));
  for (size_t i = 0, next = 0; i < meta->num_inputs() && next < arrays.size(); ++i) {
    if (*meta->input_tag(i) != Tag::kTensor) continue;
    const tools::NpyArray& array = arrays[next++];
    const std::vector<int32_t> sizes(array.shape.begin(), array.shape.end());
    const TensorInfo info = *meta->input_tensor_meta(i);
    held.emplace_back(array.dtype, sizes, info.dim_order(), kMaxBytes).set_row_major(array.data);
    inputs.emplace_back(&held.back().tensor());
  }
  const Result<std::vector<EValue>> outputs = module.forward(inputs);
  if (!outputs.ok()) throw std::runtime_error(module.last_error_text());
  const std::vector<tools::NpyArray> expected = tools::read_all(c.output_paths(step));
  size_t k = 0;
  for (const EValue& output : *outputs) {
    if (!output.is_tensor()) continue;
    if (k == expected.size()) throw std::runtime_error("more outputs than expected");
    const tools::Comparison result =
        tools::compare(array_of(output.to_tensor()), expected[k++], c.tolerance());
    if (!result.equal) throw std::runtime_error(result.text);
  }
  return k == expected.size();
}

int run(const std::string& folder, const std::vector<std::string>& names) {
  static const KernelTable tables[] = {selected_kernels()};
  ModuleOptions options;
  options.kernels = tables;
  std::vector<std::unique_ptr<Device>> devices;
  std::vector<Backend> backends;
  for (const DeviceDescriptor* each : backend_devices()) {
    devices.push_back(each->make({}));
    backends.push_back({each->identity.delegate_id, &devices.back()->interface()});
  }
  options.backends = {backends.data(), backends.size()};
  int cases = 0;
  for (const std::string& name : names) {
    for (const ModelCase& c : model_cases()) {
      if (c.file != name + ".pt2") continue;
      Module module(folder + "/" + name + ".pte", options);
      for (size_t step = 0; step < c.steps; ++step) {
        if (!run_step(module, c, step)) throw std::runtime_error(name + ": outputs are missing");
      }
      ++cases;
    }
  }
  std::printf("%d cases match\n", cases);
  return cases == 0 ? 1 : 0;
}

}  // namespace
}  // namespace taper::test

int main(int argc, char** argv) {
  try {
    return taper::test::run(argv[1], {argv + 2, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
