// The entry point of the `taper` command line.

#include <cstdio>
#include <cstring>

#include "tools/commands.h"

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--version") == 0) {
    std::printf("taper %s\n", TAPER_VERSION);
    return 0;
  }
  return taper::tools::run_taper(argc, argv);
}
