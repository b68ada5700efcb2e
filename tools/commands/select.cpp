// taper select: which kernels a binary needs for its programs, as a table to compile, and what
// each of them costs in a binary that is linked.

#include <cstdio>

#include "backends/compilers.h"
#include "selective_build/bill.h"
#include "selective_build/selection.h"
#include "selective_build/write_table.h"
#include "tools/atomic_file.h"
#include "tools/commands.h"
#include "tools/error.h"
#include "tools/options.h"

namespace taper::tools {
namespace {

CommandLine describe() {
  return {
      "taper select",
      "Writes a C++ table of the kernels that programs use, for a binary that holds nothing\n"
      "else: operators, the dtypes that each sees, instruction kinds, backends. CMake's\n"
      "taper_selected_kernels() calls it. Fails with the whole list when the selection lacks\n"
      "what a program needs.\n",
      "[FILE.pte...] [OPTIONS]",
      {{"Select",
        {{"o,output", "The table, a C++ source file", "KERNELS.cpp"},
         {"cmake", "Also the kernels' source files and dtypes, to include() in CMake", "F.cmake"},
         {"operators", "Operators to hold besides", "NAMES"},
         {"operator-list", "The same from a file, one a line; # begins a comment", "FILE"},
         {"all", "Hold every portable kernel"},
         {"optimized", "Take the fast form of a kernel where there is one"},
         {"exclude", "Operators that must stay out", "NAMES"},
         {"own", "Operators whose kernels are your own; NAME=x.cpp to compile with the others",
          "NAMES"},
         {"backends", "Backends that the application links", "NAMES"},
         {"dtypes", "all, used (as the programs do), or names: float32,int64", "DTYPES", "used"},
         {"report", "Print the bill of materials"},
         {"map", "With --report: the linker's map of the binary, made with -Wl,-Map=M,--cref",
          "M.map"}}}}};
}

std::optional<DtypeSet> dtypes_asked(const CommandLine& line) {
  const std::string text = line.text("dtypes");
  if (text == "used") return std::nullopt;
  if (text == "all") return kAllDtypes;
  DtypeSet set = 0;
  for (const std::string& name : split_list(text)) {
    const std::optional<ScalarType> type = select::dtype_of_name(name);
    if (!type.has_value()) {
      throw UsageError("--dtypes: '" + name + "' is no dtype; say all, used or names as float32");
    }
    set |= dtype_bit(*type);
  }
  return set;
}

// The lines of a file, without comments and blanks.
std::vector<std::string> names_in(const std::string& path) {
  std::vector<std::string> names;
  for (std::string line : split_list(read_file(path), '\n')) {
    line = line.substr(0, line.find('#'));
    const size_t first = line.find_first_not_of(" \t\r");
    if (first == line.npos) continue;
    names.push_back(line.substr(first, line.find_last_not_of(" \t\r") - first + 1));
  }
  return names;
}

// A backend may be given by its name or by the delegate id; the application may have its own.
std::vector<std::string> delegate_ids(std::vector<std::string> names) {
  for (std::string& name : names) {
    for (const exir::CompilerDescriptor* each : backend_compilers()) {
      if (name == each->identity.name) name = each->identity.delegate_id;
    }
  }
  return names;
}

select::Request request_of(const CommandLine& line) {
  select::Request request;
  request.all = line.given("all");
  request.optimized = line.given("optimized");
  request.names = line.list("operators");
  if (line.given("operator-list")) {
    for (std::string& name : names_in(line.text("operator-list"))) {
      request.names.push_back(std::move(name));
    }
  }
  request.without = line.list("exclude");
  request.own = line.list("own");
  request.backends = delegate_ids(line.list("backends"));
  request.dtypes = dtypes_asked(line);
  return request;
}

select::Selection select_or_fail(const CommandLine& line, const select::Request& request) {
  std::vector<std::string> problems;
  select::Needs needs;
  for (const std::string& path : line.files()) {
    const std::string problem = select::add_needs(read_file(path), path, &needs);
    if (!problem.empty()) problems.push_back(problem);
  }
  select::Selection selection = select::select(needs, request, &problems);
  if (problems.empty()) return selection;
  if (problems.size() == 1) throw InputError(problems[0]);
  for (const std::string& problem : problems) std::fprintf(stderr, "  %s\n", problem.c_str());
  throw InputError("the selection lacks these " + std::to_string(problems.size()) +
                   " things; the first: " + problems[0]);
}

// By which a linker's map tells the objects of backends.
std::vector<std::string> backend_objects() {
  std::vector<std::string> names = {"taper_backends"};
  for (const exir::CompilerDescriptor* each : backend_compilers()) {
    names.push_back(std::string("taper_") + each->identity.name);
    names.insert(names.end(), each->libraries.begin(), each->libraries.end());
  }
  return names;
}

}  // namespace

int select_command(int argc, char** argv) {
  CommandLine line = describe();
  if (!line.parse(argc, argv)) return 0;
  const select::Request request = request_of(line);
  if (line.files().empty() && request.names.empty() && !request.all) {
    throw UsageError("no file given");
  }
  if (line.given("map") && !line.given("report")) throw UsageError("--map needs --report");
  const select::Selection selection = select_or_fail(line, request);
  OutputFiles out;
  if (line.given("output")) {
    out.add(line.text("output"), select::table_source(selection, request.own));
  }
  if (line.given("cmake")) out.add(line.text("cmake"), select::cmake_fragment(selection));
  out.commit();
  if (line.given("report") || !line.given("output")) {
    std::printf("%s", select::selection_report(selection).c_str());
  }
  if (!line.given("map")) return 0;
  select::LinkMap map;
  if (!select::read_link_map(read_file(line.text("map")), &map)) {
    throw InputError(line.text("map") + ": no linker's map; link with -Wl,-Map=FILE,--cref");
  }
  std::printf("\n%s",
              select::bill_report(select::make_bill(map, selection, backend_objects())).c_str());
  return 0;
}

}  // namespace taper::tools
