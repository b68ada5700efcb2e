// Writes the table as C++ and the list of sources as CMake; see write_table.h.

#include "selective_build/write_table.h"

#include <cstdio>
#include <map>

namespace taper::select {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c >= ' ' && c < 0x7f ? c : '?';
  }
  return out + "\"";
}

// "constexpr const char* kNAME[] = {...};", or nothing if there are none.
std::string names_array(const char* name, const std::vector<std::string>& items) {
  if (items.empty()) return "";
  std::string out = std::string("constexpr const char* ") + name + "[] = {";
  for (size_t i = 0; i < items.size(); ++i) out += (i == 0 ? "" : ", ") + quoted(items[i]);
  return out + "};\n";
}

template <typename Map>
std::vector<std::string> keys(const Map& map) {
  std::vector<std::string> out;
  for (const auto& entry : map) out.push_back(entry.first);
  return out;
}

std::string span(const char* name, bool empty) { return empty ? "{}" : name; }

std::string opening(const Selection& selection) {
  std::string out = "// The kernels that these programs use, made by `taper select`:\n//\n";
  for (const std::string& model : selection.needs.models) out += "//   " + model + "\n";
  out += "//\n// Compiled for " + dtype_names(selection.dtypes) + ".\n\n";
  return out +
         "#include \"taper/c_tables.h\"\n#include \"taper/selected_kernels.h\"\n#include "
         "\"taper/taper.h\"\n\n";
}

const char* folder(const SelectedKernel& kernel) {
  return kernel.optimized ? "optimized" : "portable";
}

std::string declarations(const std::vector<SelectedKernel>& kernels, bool optimized) {
  std::string out;
  for (const SelectedKernel& each : kernels) {
    if (each.optimized != optimized) continue;
    if (out.empty()) out = std::string("namespace taper::") + folder(each) + " {\n";
    out += "extern const Kernel " + std::string(each.kernel.variable) + ";\n";
  }
  return out.empty() ? out : out + "}\n\n";
}

std::string table(const std::vector<SelectedKernel>& kernels) {
  if (kernels.empty()) return "KernelTable selected_kernels() { return {}; }\n\n";
  std::string out = "namespace {\nconst Kernel* const kKernels[] = {\n";
  for (const SelectedKernel& each : kernels) {
    out += "    &" + std::string(folder(each)) + "::" + each.kernel.variable + ",\n";
  }
  out += "};\n\n// The same, with the dtypes of their tensors.\n";
  out += "constexpr SelectedOperator kOperators[] = {\n";
  for (const SelectedKernel& each : kernels) {
    out += "    {" + quoted(each.kernel.name) + ", " + dtype_mask(each.need.dtypes) + "},";
    if (each.need.calls != 0) out += "  // " + dtype_names(each.need.dtypes);
    out += "\n";
  }
  out +=
      "};\nstatic_assert(internal::is_kernel_order(kOperators), \"a kernel is listed twice, or out "
      "of order\");\n"
      "static_assert(sizeof(kKernels) / sizeof(*kKernels) == sizeof(kOperators) / "
      "sizeof(*kOperators),\n              \"the two lists differ\");\n"
      "}  // namespace\n\n";
  return out + "KernelTable selected_kernels() { return kKernels; }\n\n";
}

}  // namespace

std::string dtype_mask(DtypeSet set) {
  char text[16];
  std::snprintf(text, sizeof(text), "0x%xu", set);
  return text;
}

std::string table_source(const Selection& selection, const std::vector<std::string>& own) {
  std::vector<std::string> own_names;
  for (const std::string& each : own) own_names.push_back(each.substr(0, each.find('=')));
  const std::vector<std::string> instructions = keys(selection.needs.instructions);
  const std::vector<std::string> backends = keys(selection.needs.backends);
  std::string out = opening(selection);
  out += declarations(selection.kernels, false) + declarations(selection.kernels, true);
  out += "namespace taper {\n\n";
  out += table(selection.kernels);
  out += "namespace {\n";
  out += names_array("kInstructions", instructions);
  out += names_array("kBackends", backends);
  out += names_array("kOwn", own_names);
  out += "const SelectionManifest kManifest = {" + span("kOperators", selection.kernels.empty()) +
         ", " + span("kInstructions", instructions.empty()) + ", " +
         span("kBackends", backends.empty()) + ", " + span("kOwn", own.empty()) + ", " +
         dtype_mask(selection.dtypes) + "};\n";
  out += "}  // namespace\n\n";
  return out + "const SelectionManifest& selection_manifest() { return kManifest; }\n\n" +
         "}  // namespace taper\n\n"
         "extern \"C\" const taper_kernels* taper_selected_kernels(void) {\n"
         "  static constexpr taper_kernels kTable = {" +
         (selection.kernels.empty() ? "{}" : "taper::kKernels") +
         "};\n"
         "  return &kTable;\n"
         "}\n";
}

std::string cmake_fragment(const Selection& selection) {
  // Groups the files by the dtypes that they are compiled for.
  std::map<DtypeSet, std::pair<std::string, std::string>> groups;
  for (const auto& [file, dtypes] : selection.files) groups[dtypes].first += " " + file;
  for (const auto& [file, dtypes] : selection.own_files) {
    groups[dtypes].second += " " + quoted(file);
  }
  std::string out = "# Made by `taper select` for taper_selected_kernels().\n";
  out += "set(TAPER_SELECTED_DTYPES " + dtype_mask(selection.dtypes) + ")\n";
  out += "set(TAPER_SELECTED_DTYPE_NAMES \"" + dtype_names(selection.dtypes) + "\")\n";
  out +=
      std::string("set(TAPER_SELECTED_OPTIMIZED ") + (selection.optimized ? "ON" : "OFF") + ")\n";
  out += "set(TAPER_SELECTED_GROUPS";
  for (const auto& group : groups) out += " " + dtype_mask(group.first);
  out += ")\n";
  for (const auto& [dtypes, files] : groups) {
    out += "set(TAPER_SELECTED_FILES_" + dtype_mask(dtypes) + files.first + ")\n";
    out += "set(TAPER_SELECTED_OWN_FILES_" + dtype_mask(dtypes) + files.second + ")\n";
  }
  return out;
}

}  // namespace taper::select
