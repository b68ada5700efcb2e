// The entry point of the `taper` command line.

#include <cstdio>
#include <cstring>

#include "tools/commands.h"
#include "tools/interrupt.h"
#include "tools/system.h"

int main(int argc, char** argv) {
  taper::tools::system::set_up_streams();
  taper::tools::end_when_a_file_shrinks();
  if (argc > 1 && std::strcmp(argv[1], "--version") == 0) {
    std::printf("taper %s\n", TAPER_VERSION);
    return 0;
  }
  return taper::tools::run_taper(argc, argv);
}
