// The core runtime and every portable kernel.

#include "kernels_portable/kernel_table.h"
#include "test/size/load_and_run.h"

int main(int argc, char**) {
  const taper::KernelTable tables[] = {taper::portable::portable_kernels()};
  return taper::size::load_and_run(argc, tables);
}
