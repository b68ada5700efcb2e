// The core runtime and the kernels that one model uses, as in a trimmed application.

#include "taper/selected_kernels.h"
#include "test/size/load_and_run.h"

int main(int argc, char**) {
  const taper::KernelTable tables[] = {taper::selected_kernels()};
  return taper::size::load_and_run(argc, tables);
}
