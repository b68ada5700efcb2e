// The core runtime without kernels.

#include "test/size/load_and_run.h"

int main(int argc, char**) { return taper::size::load_and_run(argc, {}); }
