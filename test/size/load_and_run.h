// What all measured programs do, like a device: open a program in memory, load a method into static
// memory, and execute it. It is inlined into main(), so that it adds no function.

#pragma once

#include "taper/data_loader.h"
#include "taper/method.h"
#include "taper/program.h"

namespace taper::size {

alignas(64) static unsigned char file[65536];
alignas(64) static unsigned char method_block[65536];
alignas(64) static unsigned char arena[65536];

// `unknown` prevents the compiler from deducing anything about the file or the result.
[[gnu::always_inline]] inline int load_and_run(int unknown, Span<const KernelTable> tables) {
  file[0] = static_cast<unsigned char>(unknown);
  BufferDataLoader loader(file, sizeof(file));
  Result<Program> program = Program::open(loader);
  if (!program.ok()) return 1;
  const Span<uint8_t> planned[] = {{arena, sizeof(arena)}};
  const MemoryManager memory = {
      {method_block, sizeof(method_block)}, HierarchicalAllocator(planned), {}};
  MethodOptions options;
  options.kernels = tables;
  Result<Method> method = Method::load(*program, "forward", memory, options);
  if (!method.ok()) return 1;
  if (!method->set_input(0, EValue(int64_t{unknown})).ok()) return 1;
  if (!method->execute().ok()) return 1;
  const Result<EValue> output = method->get_output(0);
  return output.ok() && output->is_int() ? static_cast<int>(output->to_int()) : 1;
}

}  // namespace taper::size
