// The part that an object file belongs to is recognised by its name, the dtype that a function is
// instantiated for by the types in its mangled name.

#include "selective_build/bill.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace taper::select {
namespace {

bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

// "op_add" from ".../op_add.cpp.o" or "libx.a(op_add.cpp.o)".
std::string stem_of(const std::string& object) {
  size_t first = object.find_last_of("/(");
  first = first == object.npos ? 0 : first + 1;
  return object.substr(first, object.find('.', first) - first);
}

bool is_kernel(const std::string& object) {
  for (const char* part : {"kernels_portable", "kernels_optimized", "_taper_kernels"}) {
    if (contains(object, part)) return true;
  }
  return false;
}

const char* part_of(const std::string& object, const std::vector<std::string>& backends) {
  if (object == "padding") return "padding";
  if (contains(object, "kernels_optimized")) return "kernels: optimized";
  if (is_kernel(object)) {
    return stem_of(object).rfind("op_", 0) == 0 ? "kernels: operators" : "kernels: shared";
  }
  for (const std::string& name : backends) {
    if (contains(object, name)) return "backends";
  }
  for (const char* name : {"taper_runtime", "taper_module", "libtaper"}) {
    if (contains(object, name)) return "runtime";
  }
  return object.rfind("/usr/", 0) == 0 || contains(object, "/lib/gcc") ? "libraries"
                                                                       : "application";
}

// The text between the first '<' and the '>' that closes it; empty if there is none.
std::string_view template_arguments(std::string_view name) {
  const size_t first = name.find('<');
  int depth = 0;
  for (size_t i = first; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>' && --depth == 0) return name.substr(first, i - first + 1);
  }
  return {};
}

// The narrowest dtype in the template arguments of a function; "any" if there is none.
std::string dtype_of(const std::string& section) {
  const size_t at = section.find("_Z");
  if (at == section.npos) return "any";
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(section.c_str() + at, nullptr, nullptr, &status), std::free);
  if (status != 0 || name == nullptr) return "any";
  const std::string_view arguments = template_arguments(name.get());
  constexpr std::pair<const char*, const char*> kNames[] = {{"bool", "bool"},
                                                            {"unsigned char", "uint8"},
                                                            {"signed char", "int8"},
                                                            {"BFloat16", "bfloat16"},
                                                            {"Half", "float16"},
                                                            {"unsigned short", "uint16"},
                                                            {"short", "int16"},
                                                            {"float", "float32"},
                                                            {"unsigned int", "uint32"},
                                                            {"int,", "int32"},
                                                            {"int>", "int32"},
                                                            {"double", "float64"},
                                                            {"unsigned long", "uint64"},
                                                            {"long", "int64"}};
  for (const auto& [part, dtype] : kNames) {
    if (contains(arguments, part)) return dtype;
  }
  return "any";
}

// The dtypes of accumulators and indices, which kernels use whatever they are compiled for.
constexpr DtypeSet kComputed = dtype_bit(ScalarType::kDouble) | dtype_bit(ScalarType::kLong);

using Links = std::map<std::string, std::set<std::string>>;

// The objects that can be reached from those of the application without going through `avoided`.
std::set<std::string> reached(const Links& graph, const std::string& avoided) {
  std::vector<std::string> next;
  for (const auto& entry : graph) {
    if (!is_kernel(entry.first)) next.push_back(entry.first);
  }
  std::set<std::string> seen;
  while (!next.empty()) {
    const std::string object = next.back();
    next.pop_back();
    if (object == avoided || !seen.insert(object).second) continue;
    const auto found = graph.find(object);
    if (found == graph.end()) continue;
    next.insert(next.end(), found->second.begin(), found->second.end());
  }
  return seen;
}

std::string columns(uint64_t bytes, const std::string& text) {
  const std::string number = std::to_string(bytes);
  return std::string(number.size() < 10 ? 10 - number.size() : 1, ' ') + number + "  " + text +
         "\n";
}

std::string joined(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text;
}

}  // namespace

Bill make_bill(const LinkMap& map, const Selection& selection,
               const std::vector<std::string>& backends) {
  Bill bill;
  bill.zeroed = map.zeroed;
  std::map<std::string, uint64_t> objects;
  std::map<std::string, std::map<std::string, uint64_t>> dtypes_of_objects;
  for (const Piece& piece : map.pieces) {
    bill.total += piece.bytes;
    bill.parts[part_of(piece.object, backends)] += piece.bytes;
    if (!is_kernel(piece.object)) continue;
    objects[piece.object] += piece.bytes;
    std::string dtype = dtype_of(piece.section);
    const std::optional<ScalarType> type = dtype_of_name(dtype);
    // A type that no tensor here has is not that of elements but, for example, of a size in bytes.
    if (type.has_value() && ((selection.dtypes | kComputed) & dtype_bit(*type)) == 0) dtype = "any";
    bill.by_dtype[dtype] += piece.bytes;
    dtypes_of_objects[piece.object][dtype] += piece.bytes;
  }
  const std::set<std::string> everything = reached(map.references, "");
  for (const auto& [object, bytes] : objects) {
    const std::string stem = stem_of(object);
    if (stem.rfind("op_", 0) != 0) {
      bill.shared[stem] += bytes;
      continue;
    }
    OperatorBill line = {stem, bytes, bytes, {}, dtypes_of_objects[object]};
    const std::set<std::string> rest = reached(map.references, object);
    for (const auto& [other, size] : objects) {
      if (other != object && everything.count(other) && !rest.count(other)) line.saved += size;
    }
    for (const SelectedKernel& each : selection.kernels) {
      if (stem == stem_of(each.kernel.file)) line.names.push_back(each.kernel.name);
    }
    bill.operators.push_back(std::move(line));
  }
  std::sort(bill.operators.begin(), bill.operators.end(), [](const auto& a, const auto& b) {
    return a.saved != b.saved ? a.saved > b.saved : a.file < b.file;
  });
  return bill;
}

std::string selection_report(const Selection& selection) {
  std::string out = std::to_string(selection.kernels.size()) + " kernels in " +
                    std::to_string(selection.files.size()) + " files, compiled for " +
                    dtype_names(selection.dtypes) + "\n";
  for (const SelectedKernel& each : selection.kernels) {
    out += "  " + std::string(each.kernel.name);
    if (each.need.calls == 0) {
      out += "  (asked for)\n";
      continue;
    }
    out += "  " + std::to_string(each.need.calls) + " calls  " + dtype_names(each.need.dtypes) +
           (each.optimized ? "  fast" : "") + "  by " +
           joined({each.need.models.begin(), each.need.models.end()}) + "\n";
  }
  for (const auto& [name, need] : selection.needs.backends) {
    out += "  backend " + name + "  " + std::to_string(need.calls) + " calls  " +
           std::to_string(need.payload_bytes) + " bytes of payload\n";
    if (!need.parts.empty())
      out += "    parts: " + joined({need.parts.begin(), need.parts.end()}) + "\n";
  }
  for (const auto& [kind, count] : selection.needs.instructions) {
    out += "  instruction " + kind + "  " + std::to_string(count) + "\n";
  }
  return out;
}

std::string bill_report(const Bill& bill) {
  std::string out = columns(
      bill.total, "bytes are loaded, and " + std::to_string(bill.zeroed) + " of zeroed memory");
  for (const auto& [part, bytes] : bill.parts) out += columns(bytes, part);
  out += "\nwhat each operator costs, and what goes at least when it goes\n";
  for (const OperatorBill& line : bill.operators) {
    std::string text = "saves " + std::to_string(line.saved) + "  " + line.file;
    for (const auto& [dtype, bytes] : line.by_dtype) {
      text += (dtype == line.by_dtype.begin()->first ? " (" : ", ") + std::to_string(bytes) + " " +
              dtype;
    }
    out += columns(line.own, text + ")  " + joined(line.names));
  }
  out += "\nwhat several operators stand on\n";
  for (const auto& [file, bytes] : bill.shared) out += columns(bytes, file);
  out +=
      "\nkernels by the type of number that code is compiled for (sums and positions take float64 "
      "and\nint64 whatever the dtype); what goes at most with a dtype\n";
  for (const auto& [dtype, bytes] : bill.by_dtype) out += columns(bytes, dtype);
  return out;
}

}  // namespace taper::select
