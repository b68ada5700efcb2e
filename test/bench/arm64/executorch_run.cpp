// Runs inferences of an ExecuTorch program with one thread, for measure_peers.py: the module of its
// wheel for Python would need the whole of PyTorch.
//
//   executorch_run PROGRAM RUNS OUTPUT [FILE TYPE SIZES]...
//
// An input is a file of numbers, f32 or i64, and its sizes, as in 1x3x224x224. The numbers of the
// first output are written to OUTPUT.

#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

// The wheel has this class, but not its header.
namespace executorch::extension::threadpool {
class ThreadPool {
 public:
  bool _unsafe_reset_threadpool(uint32_t threads);
};
ThreadPool* get_threadpool();
}  // namespace executorch::extension::threadpool

namespace {

using executorch::aten::ScalarType;
using executorch::extension::TensorPtr;

void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "executorch_run: %s\n", what);
  std::exit(1);
}

TensorPtr read_input(const char* path, const std::string& type, const std::string& sizes) {
  std::vector<executorch::aten::SizesType> shape;
  std::stringstream text(sizes);
  for (std::string size; std::getline(text, size, 'x');) shape.push_back(std::stoi(size));
  TensorPtr tensor =
      executorch::extension::empty(shape, type == "i64" ? ScalarType::Long : ScalarType::Float);
  std::ifstream file(path, std::ios::binary);
  check(bool(file.read(static_cast<char*>(tensor->mutable_data_ptr()), tensor->nbytes())),
        "an input cannot be read");
  return tensor;
}

}  // namespace

int main(int count, char** arguments) {
  check(count >= 4 && count % 3 == 1, "usage: PROGRAM RUNS OUTPUT [FILE TYPE SIZES]...");
  executorch::extension::threadpool::get_threadpool()->_unsafe_reset_threadpool(1);
  executorch::extension::Module module(arguments[1]);
  check(module.load_forward() == executorch::runtime::Error::Ok, "the program does not load");
  std::vector<TensorPtr> tensors;
  std::vector<executorch::runtime::EValue> inputs;
  for (int i = 4; i < count; i += 3) {
    tensors.push_back(read_input(arguments[i], arguments[i + 1], arguments[i + 2]));
    inputs.emplace_back(*tensors.back());
  }
  const int runs = std::atoi(arguments[2]);
  for (int run = 0; run < runs; run++) {
    const auto outputs = module.forward(inputs);
    check(outputs.ok(), "the program does not run");
    if (run + 1 < runs) continue;
    const auto tensor = outputs->at(0).toTensor();
    std::ofstream file(arguments[3], std::ios::binary);
    check(bool(file.write(static_cast<const char*>(tensor.const_data_ptr()), tensor.nbytes())),
          "the output cannot be written");
  }
}
