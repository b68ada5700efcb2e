// taper select: finds the kernels that a binary needs for its programs, writes them as a table to
// compile, and reports what each of them costs in a linked binary.

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
      "Writes a C++ table of the kernels that programs use, for a binary that contains only\n"
      "those: operators, the dtypes of each, instruction kinds, backends. It is called by the\n"
      "CMake function taper_selected_kernels(). If the selection lacks something that a program\n"
      "needs, it fails and lists all that is missing.\n",
      "[FILE.pte...] [OPTIONS]",
      {{"Select",
        {{"o,output", "Write the table to this C++ source file", "KERNELS.cpp"},
         {"cmake", "Write the kernels' source files and dtypes for CMake's include()", "F.cmake"},
         {"operators", "Additional operators to include", "NAMES"},
         {"operator-list", "The same from a file, one per line; # begins a comment", "FILE"},
         {"all", "Include every portable kernel"},
         {"optimized", "Use the optimized form of a kernel where there is one"},
         {"exclude", "Operators to leave out", "NAMES"},
         {"own", "Operators with kernels of your own; NAME=x.cpp to compile with the others",
          "NAMES"},
         {"backends", "Backends that the application links", "NAMES"},
         {"dtypes", "all, used (those that the programs use), or names: float32,int64", "DTYPES",
          "used"},
         {"report", "Print the bill of materials"},
         {"map", "With --report: the linker map of the binary, made with -Wl,-Map=M,--cref",
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
      throw UsageError("--dtypes: '" + name + "' is not a dtype; use all, used or names");
    }
    set |= dtype_bit(*type);
  }
  return set;
}

// The lines of a file, without comments, blank lines and surrounding blanks.
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

// A backend may be given by name or by delegate id. Other names are the application's own backends.
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

const exir::CompilerDescriptor* backend_of(std::string_view delegate_id) {
  for (const exir::CompilerDescriptor* each : backend_compilers()) {
    if (each->identity.delegate_id == delegate_id) return each;
  }
  return nullptr;
}

std::set<std::string> parts_of(std::string_view delegate_id, std::span<const uint8_t> payload,
                               CompileSpecs specs) {
  const exir::CompilerDescriptor* backend = backend_of(delegate_id);
  if (backend == nullptr || backend->parts == nullptr) return {};
  return backend->parts(payload, specs);
}

// The sources that link the parts of backends that the programs need. A program for any payload
// links all of them.
std::string link_parts(const select::Selection& selection, bool links_all) {
  std::string sources;
  for (const auto& [id, need] : selection.needs.backends) {
    const exir::CompilerDescriptor* backend = backend_of(id);
    if (links_all || backend == nullptr || backend->link_parts == nullptr) continue;
    sources += "\n" + backend->link_parts(need.parts);
  }
  return sources;
}

select::Selection select_or_fail(const CommandLine& line, const select::Request& request) {
  std::vector<std::string> problems;
  select::Needs needs;
  for (const std::string& path : line.files()) {
    const std::string problem = select::add_needs(read_file(path), path, &needs, parts_of);
    if (!problem.empty()) problems.push_back(problem);
  }
  select::Selection selection = select::select(needs, request, &problems);
  if (problems.empty()) return selection;
  if (problems.size() == 1) throw InputError(problems[0]);
  for (const std::string& problem : problems) std::fprintf(stderr, "  %s\n", problem.c_str());
  throw InputError("the selection has " + std::to_string(problems.size()) +
                   " problems; the first: " + problems[0]);
}

// The library names that identify backends' objects in a linker map.
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
    out.add(line.text("output"),
            select::table_source(selection, request.own) + link_parts(selection, request.all));
  }
  if (line.given("cmake")) out.add(line.text("cmake"), select::cmake_fragment(selection));
  out.commit();
  if (line.given("report") || !line.given("output")) {
    std::printf("%s", select::selection_report(selection).c_str());
  }
  if (!line.given("map")) return 0;
  select::LinkMap map;
  if (!select::read_link_map(read_file(line.text("map")), &map)) {
    throw InputError(line.text("map") + ": not a linker map; link with -Wl,-Map=FILE,--cref");
  }
  std::printf("\n%s",
              select::bill_report(select::make_bill(map, selection, backend_objects())).c_str());
  return 0;
}

}  // namespace taper::tools
