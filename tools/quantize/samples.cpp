// Reads arrays, finds out what their dimensions mean, and cuts them into samples.

#include "tools/quantize/samples.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "tools/error.h"
#include "tools/npy.h"
#include "tools/system.h"
#include "tools/tensor_bytes.h"

namespace taper::tools {
namespace {

namespace fs = std::filesystem;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "9.npy" before "10.npy".
bool in_natural_order(const std::string& a, const std::string& b) {
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
      continue;
    }
    while (i < a.size() && a[i] == '0') ++i;
    while (j < b.size() && b[j] == '0') ++j;
    size_t end_a = i, end_b = j;
    while (end_a < a.size() && is_digit(a[end_a])) ++end_a;
    while (end_b < b.size() && is_digit(b[end_b])) ++end_b;
    if (end_a - i != end_b - j) return end_a - i < end_b - j;
    if (const int order = a.compare(i, end_a - i, b, j, end_b - j); order != 0) return order < 0;
    i = end_a;
    j = end_b;
  }
  return a.size() - i != b.size() - j ? a.size() - i < b.size() - j : a < b;
}

// The tensors that the program takes.
std::vector<const exir::Value*> inputs_of(const exir::Graph& graph) {
  std::vector<const exir::Value*> inputs;
  for (const exir::Argument& input : graph.inputs) {
    if (input.is_value() && input.value()->kind == exir::ValueKind::kTensor) {
      inputs.push_back(input.value());
    }
  }
  return inputs;
}

std::string expected_text(const exir::Value& input) {
  std::string text = std::string(to_string(input.type.dtype)) + " (";
  for (size_t d = 0; d < input.type.rank(); ++d) {
    text += (d == 0 ? "" : ", ") + input.type.sizes[d].text();
  }
  return text + (input.type.rank() == 1 ? ",)" : ")");
}

[[noreturn]] void refuse_array(const NamedArray& given, const exir::Value& input) {
  throw InputError("sample '" + given.name + "': input '" + input.name + "' is " +
                   expected_text(input) + " or several of them, given " +
                   to_string(given.array.dtype) + " " + shape_text(given.array.shape));
}

void check_finite(const NamedArray& given) {
  if (!is_floating(given.array.dtype)) return;
  const size_t count = given.array.data.size() / element_size(given.array.dtype);
  for (size_t i = 0; i < count; ++i) {
    if (std::isfinite(element_at(given.array.dtype, given.array.data, i))) continue;
    throw InputError("sample '" + given.name + "' holds NaN or infinity at element " +
                     std::to_string(i));
  }
}

// How many samples an array holds, and the sizes of each.
struct Cut {
  size_t count = 0;
  std::vector<int64_t> sizes;
};

// Whether the last sizes of an array, from dimension `from` on, are those of an input.
bool has_sizes(const std::vector<int64_t>& shape, size_t from, const exir::TensorType& type,
               size_t first) {
  for (size_t d = first; d < type.rank(); ++d) {
    const int64_t given = shape[from + d - first];
    if (type.sizes[d].is_int() && type.sizes[d].as_int() != given) return false;
  }
  return true;
}

// Whole inputs, stacked along a dimension of their own.
bool is_stack(const std::vector<int64_t>& shape, const exir::TensorType& type) {
  return shape.size() == type.rank() + 1 && has_sizes(shape, 1, type, 0);
}

Cut cut_of(const NamedArray& given, const exir::Value& input) {
  const exir::TensorType& type = input.type;
  const std::vector<int64_t>& shape = given.array.shape;
  if (given.array.dtype != type.dtype) refuse_array(given, input);
  const bool stacked = is_stack(shape, type);
  const bool fits = shape.size() == type.rank() && (shape.empty() || has_sizes(shape, 1, type, 1));
  if (!stacked && !fits) refuse_array(given, input);
  if (shape.empty()) return {1, shape};
  if (shape[0] == 0) throw InputError("sample '" + given.name + "' is empty");
  if (stacked) return {static_cast<size_t>(shape[0]), {shape.begin() + 1, shape.end()}};
  Cut cut{1, shape};
  if (type.sizes[0].is_int()) {
    const int64_t batch = type.sizes[0].as_int();
    if (batch < 1 || shape[0] % batch != 0) refuse_array(given, input);
    cut.sizes[0] = batch;
    cut.count = static_cast<size_t>(shape[0] / batch);
  } else {
    cut.sizes[0] = 1;  // An open batch: one row is a sample.
    cut.count = static_cast<size_t>(shape[0]);
  }
  return cut;
}

// How the arrays, one for each input, are cut: all into as many samples. Several samples without
// any element are refused: a file of a few bytes could state any number of them.
std::vector<Cut> cuts_of(const std::vector<NamedArray>& arrays,
                         const std::vector<const exir::Value*>& inputs) {
  std::vector<Cut> cuts;
  bool has_elements = false;
  for (size_t i = 0; i < arrays.size(); ++i) {
    const NamedArray& given = arrays[i];
    cuts.push_back(cut_of(given, *inputs[i]));
    check_finite(given);
    has_elements = has_elements || !given.array.data.empty();
    if (cuts[i].count == cuts[0].count) continue;
    throw InputError("sample '" + given.name + "' holds " + std::to_string(cuts[i].count) +
                     " samples, '" + arrays[0].name + "' " + std::to_string(cuts[0].count));
  }
  if (!cuts.empty() && cuts[0].count > 1 && !has_elements) {
    throw InputError("sample '" + arrays[0].name + "' holds no element");
  }
  return cuts;
}

// Adds what the arrays, one for each input, hold.
void add_samples(const std::vector<NamedArray>& arrays,
                 const std::vector<const exir::Value*>& inputs,
                 std::vector<exir::Sample>& samples) {
  if (arrays.size() != inputs.size()) {
    throw InputError("the program takes " + std::to_string(inputs.size()) +
                     " tensors, the samples have " + std::to_string(arrays.size()) + " arrays");
  }
  const std::vector<Cut> cuts = cuts_of(arrays, inputs);
  const size_t first = samples.size();
  if (!cuts.empty()) samples.resize(first + cuts[0].count);
  for (size_t i = 0; i < arrays.size(); ++i) {
    const NpyArray& array = arrays[i].array;
    const size_t bytes = array.data.size() / cuts[i].count;
    for (size_t s = 0; s < cuts[i].count; ++s) {
      samples[first + s].push_back(
          {array.dtype, cuts[i].sizes, array.data.substr(s * bytes, bytes)});
    }
  }
}

// The paths in a folder: files with that extension, or folders if it is none.
std::vector<std::string> entries_of(const std::string& folder, const char* extension) {
  std::vector<std::string> paths;
  std::error_code problem;
  for (fs::directory_iterator at(system::as_path(folder), problem), end; !problem && at != end;
       at.increment(problem)) {
    const bool wanted =
        extension == nullptr ? at->is_directory() : at->path().extension() == extension;
    if (wanted) paths.push_back(system::as_text(at->path()));
  }
  if (problem)
    throw InputError("samples '" + folder + "': " + problem.default_error_condition().message());
  std::sort(paths.begin(), paths.end(), in_natural_order);
  return paths;
}

std::vector<NamedArray> read_files(const std::vector<std::string>& paths) {
  std::vector<NamedArray> arrays;
  for (const std::string& path : paths) arrays.push_back({path, read_npy(path)});
  return arrays;
}

}  // namespace

std::vector<exir::Sample> read_samples(const std::string& path, const exir::Graph& graph) {
  const std::vector<const exir::Value*> inputs = inputs_of(graph);
  std::vector<exir::Sample> samples;
  const auto add = [&](const std::vector<NamedArray>& arrays) {
    add_samples(arrays, inputs, samples);
  };
  if (!fs::is_directory(system::as_path(path))) {
    const std::string extension = system::as_text(system::as_path(path).extension());
    add(extension == ".npy" ? read_files({path}) : read_npz(path, "samples"));
    return samples;
  }
  const std::vector<std::string> files = entries_of(path, ".npy");
  const std::vector<std::string> archives = entries_of(path, ".npz");
  if (!files.empty() && inputs.size() == 1) {
    for (const std::string& file : files) add(read_files({file}));
  } else if (!files.empty()) {
    add(read_files(files));
  } else if (!archives.empty()) {
    for (const std::string& file : archives) add(read_npz(file, "samples"));
  } else {
    for (const std::string& folder : entries_of(path, nullptr)) {
      add(read_files(entries_of(folder, ".npy")));
    }
  }
  if (samples.empty()) throw InputError("samples '" + path + "': there is no .npy or .npz file");
  return samples;
}

std::vector<int64_t> read_labels(const std::string& path) {
  const NpyArray array = read_npy(path);
  if (!is_integral(array.dtype)) {
    throw InputError("labels '" + path + "': expected integers, given " + to_string(array.dtype));
  }
  std::vector<int64_t> labels;
  for (size_t i = 0; i < array.data.size() / element_size(array.dtype); ++i) {
    labels.push_back(static_cast<int64_t>(element_at(array.dtype, array.data, i)));
  }
  return labels;
}

}  // namespace taper::tools
