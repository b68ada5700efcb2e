// The core runtime and one kernel, aten::add.out, in a hand-written table.

#include "test/size/load_and_run.h"

namespace taper::portable {
extern const Kernel kAddOut;
}

int main(int argc, char**) {
  static const taper::Kernel* const kernels[] = {&taper::portable::kAddOut};
  const taper::KernelTable tables[] = {kernels};
  return taper::size::load_and_run(argc, tables);
}
