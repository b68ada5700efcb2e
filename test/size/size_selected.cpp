// The core runtime and the kernels that one model uses: what a trimmed application carries.

#include "taper/data_loader.h"
#include "taper/method.h"
#include "taper/program.h"
#include "taper/selected_kernels.h"

namespace {

alignas(64) unsigned char file[65536];
alignas(64) unsigned char method_block[65536];
alignas(64) unsigned char arena[65536];

}  // namespace

int main(int argc, char**) {
  using namespace taper;
  file[0] = static_cast<unsigned char>(argc);  // So that nothing is known at compile time.
  BufferDataLoader loader(file, sizeof(file));
  Result<Program> program = Program::open(loader);
  if (!program.ok()) return 1;
  const Span<uint8_t> planned[] = {{arena, sizeof(arena)}};
  const MemoryManager memory = {
      {method_block, sizeof(method_block)}, HierarchicalAllocator(planned), {}};
  const KernelTable tables[] = {selected_kernels()};
  MethodOptions options;
  options.kernels = tables;
  Result<Method> method = Method::load(*program, "forward", memory, options);
  if (!method.ok()) return 1;
  if (!method->set_input(0, EValue(int64_t{argc})).ok()) return 1;
  if (!method->execute().ok()) return 1;
  const Result<EValue> output = method->get_output(0);
  return output.ok() && output->is_int() ? static_cast<int>(output->to_int()) : 1;
}
