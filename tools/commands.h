// The sub-commands of `taper`. Each gets its own arguments (argv[0] is its name), prints its result
// on stdout and returns the exit code; it throws InputError or UsageError (tools/error.h) to fail.

#pragma once

namespace taper::tools {

int export_command(int argc, char** argv);
int check_command(int argc, char** argv);
int ops_command(int argc, char** argv);
int run_command(int argc, char** argv);
int inspect_command(int argc, char** argv);
int pack_command(int argc, char** argv);
int bench_command(int argc, char** argv);
int verify_command(int argc, char** argv);
int select_command(int argc, char** argv);
int batch_command(int argc, char** argv);

// A whole command line, argv[1] naming the sub-command. Prints what went wrong; never throws.
int run_taper(int argc, char** argv);

}  // namespace taper::tools
