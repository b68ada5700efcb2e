// The sub-commands of `taper`. Each receives its own arguments (argv[0] is its name), prints its
// result to stdout and returns the exit code. It throws InputError or UsageError (tools/error.h) to
// report failure.

#pragma once

namespace taper::tools {

int export_command(int argc, char** argv);
int check_command(int argc, char** argv);
int quantize_command(int argc, char** argv);
int ops_command(int argc, char** argv);
int run_command(int argc, char** argv);
int inspect_command(int argc, char** argv);
int pack_command(int argc, char** argv);
int bench_command(int argc, char** argv);
int profile_command(int argc, char** argv);
int trace_command(int argc, char** argv);
int compare_command(int argc, char** argv);
int bundle_command(int argc, char** argv);
int verify_command(int argc, char** argv);
int sign_command(int argc, char** argv);
int view_command(int argc, char** argv);
int select_command(int argc, char** argv);
int batch_command(int argc, char** argv);

// Runs a whole command line, in which argv[1] is the sub-command. Prints any error; never throws.
int run_taper(int argc, char** argv);

}  // namespace taper::tools
