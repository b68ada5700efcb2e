// Loads one method of a .pte, checks and sets its inputs, and runs it.

#include "tools/program_runner.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "backends/compilers.h"
#include "kernels_portable/kernel_table.h"
#if TAPER_OPTIMIZED
#include "kernels_optimized/kernel_table.h"
#endif
#include "tools/atomic_file.h"
#include "tools/error.h"
#include "tools/system.h"

namespace taper::tools {

Span<const KernelTable> kernel_tables([[maybe_unused]] bool optimized) {
#if TAPER_OPTIMIZED
  static const KernelTable tables[] = {optimized::optimized_kernels(),
                                       portable::portable_kernels()};
  return {tables + (optimized ? 0 : 1), optimized ? size_t{2} : size_t{1}};
#else
  static const KernelTable tables[] = {portable::portable_kernels()};
  return tables;
#endif
}

namespace {

PublicKey read_key(const std::string& path) {
  if (path.empty()) return {};
  const Result<PublicKey> key = read_public_key(read_file(path));
  if (!key.ok()) throw InputError("'" + path + "': " + key.status().message());
  return *key;
}

std::vector<KernelTable> all_tables(const RunnerOptions& options) {
  const Span<const KernelTable> own = kernel_tables(options.optimized);
  std::vector<KernelTable> tables(own.begin(), own.end());
  if (!options.aten.empty()) tables.push_back(options.aten);
  return tables;
}

ModuleOptions module_options(const RunnerOptions& options, Span<const KernelTable> tables,
                             const PublicKey& key, const Backends& backends) {
  ModuleOptions result;
  result.kernels = tables;
  result.backends = options.wrap_backends ? options.wrap_backends(backends) : backends.table();
  result.pool = backends.thread_pool();
  if (options.wrap_threads) result.pool = options.wrap_threads(result.pool);
  result.temp_bytes *= std::min(result.pool.threads, uint32_t{64});
  result.data_path = options.data_path;
  result.load_mode = options.map_files ? LoadMode::kMmap : LoadMode::kFile;
  if (!options.key_path.empty()) result.check = signed_by(&key);
  result.max_memory_bytes = system::memory_of_machine();
  return result;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string pick_method(Module& module, const std::string& wanted, const std::string& path) {
  const std::vector<std::string> names = module.method_names();
  std::string list;
  for (const std::string& name : names) {
    if (name == (wanted.empty() ? "forward" : wanted)) return name;
    list += (list.empty() ? "" : ", ") + name;
  }
  if (wanted.empty() && names.size() == 1) return names[0];
  throw InputError("'" + path + "' has no method '" + (wanted.empty() ? "forward" : wanted) +
                   "'; it has " + list);
}

MethodMeta open(Module& module, const RunnerOptions& options, double* seconds) {
  if (options.enter) options.enter(kOpenPhase);
  const auto start = std::chrono::steady_clock::now();
  const Status status = module.load();
  *seconds = seconds_since(start);
  if (options.enter) options.enter("");
  if (!status.ok()) throw InputError(load_problem(module, status, options.path));
  return module.method_meta(pick_method(module, options.method, options.path)).value();
}

// REQUIRES: the device keeps something.
std::string packed_path_of(const std::string& program, const DeviceDescriptor& device) {
  return system::as_text(system::as_path(program).replace_extension(device.packed_suffix));
}

// Why a file beside the program, which nobody has asked for, is not used; empty if it is.
std::string doubt_about(const DeviceDescriptor& device, const std::string& path) {
  if (device.packed_is_code) return "it holds code";
  return system::is_own(path) ? "" : "another user can write it";
}

// The files beside the program that are used without being asked for; `note` tells of one that is
// not. They are mapped, and no signature covers them.
std::map<std::string, std::string> files_beside(const RunnerOptions& options, std::string* note) {
  std::map<std::string, std::string> files;
  if (!options.map_files || !options.key_path.empty()) return files;
  for (const DeviceDescriptor* device : backend_devices()) {
    if (device->packed_suffix == nullptr) continue;
    const std::string path = packed_path_of(options.path, *device);
    if (system::kind_of(path) == system::FileKind::kNone) continue;
    const std::string doubt = doubt_about(*device, path);
    if (doubt.empty()) {
      files[device->identity.name] = path;
    } else {
      *note = "'" + path + "' is not used: " + doubt + "; --cache uses it nevertheless";
    }
  }
  return files;
}

BackendOptions backend_options(const RunnerOptions& options, std::string* note) {
  if (options.make_cache && !options.map_files)
    throw UsageError("--cache and --no-mmap exclude each other: the file of a cache is mapped");
  if (options.make_cache && !options.key_path.empty())
    throw UsageError("--cache and --key exclude each other: no key signs the file of a cache");
  BackendOptions result = {options.threads, {}, options.profiler, options.numbers};
  if (options.packed_paths) {
    result.packed_paths = *options.packed_paths;
  } else if (options.make_cache) {
    result.packed_paths = packed_paths_of(options.path);
  } else {
    result.packed_paths = files_beside(options, note);
  }
  return result;
}

Module make_module(const std::string& path, const BundleFile* bundle,
                   const ModuleOptions& options) {
  if (bundle == nullptr) return Module(path, options);
  return Module(bundle->bundle().program(), options);
}

std::string count_text(size_t n, const char* what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

}  // namespace

ProgramRunner::ProgramRunner(const RunnerOptions& options)
    : path_(options.path),
      file_(BundleFile::open(options.path)),
      key_(read_key(options.key_path)),
      backends_(backend_options(options, &cache_note_)),
      tables_(all_tables(options)),
      options_(module_options(options, {tables_.data(), tables_.size()}, key_, backends_)),
      module_(make_module(options.path, file_.get(), options_)),
      meta_(open(module_, options, &open_seconds_)) {
  if (options.enter) options.enter(kLoadPhase);
  const auto start = std::chrono::steady_clock::now();
  const Status status = module_.load_method(meta_.name());
  load_seconds_ = seconds_since(start);
  if (options.enter) options.enter("");
  if (!status.ok()) fail(status);
  method_ = module_.method(meta_.name());
  const std::string saved = backends_.save_packed(path_);
  if (!saved.empty()) cache_note_ = saved;
}

void ProgramRunner::fail(const Status& status) {
  throw InputError(load_problem(module_, status, path_));
}

void ProgramRunner::add_input(size_t i, const NpyArray* array, const std::string& where) {
  const TensorInfo info = meta_.input_tensor_meta(i).value();
  std::vector<int32_t> sizes(info.sizes().begin(), info.sizes().end());
  if (array != nullptr) {
    check_array(*array, info, where);
    for (size_t d = 0; d < sizes.size(); ++d) sizes[d] = static_cast<int32_t>(array->shape[d]);
  }
  HeldTensor& held =
      tensors_.emplace_back(info.scalar_type(), sizes, info.dim_order(), options_.max_memory_bytes);
  if (array != nullptr) {
    held.set_row_major(array->data);
  } else {
    held.set_ones();
  }
  inputs_.push_back(EValue(&held.tensor()));
}

EValue ProgramRunner::number_input(size_t i, const NpyArray& array,
                                   const std::string& where) const {
  const Tag tag = meta_.input_tag(i).value();
  const ScalarType dtype = tag == Tag::kInt    ? ScalarType::kLong
                           : tag == Tag::kBool ? ScalarType::kBool
                                               : ScalarType::kDouble;
  if (array.dtype != dtype || !array.shape.empty()) {
    throw InputError(where + ": expected a number of " + to_string(dtype) + ", given " +
                     to_string(array.dtype) + " " + shape_text(array.shape));
  }
  if (tag == Tag::kBool) return EValue(array.data[0] != 0);
  if (tag == Tag::kDouble) return EValue(element_at(dtype, array.data, 0));
  int64_t integer;
  std::memcpy(&integer, array.data.data(), sizeof(integer));
  return EValue(integer);
}

void ProgramRunner::set_inputs(const std::vector<NpyArray>& arrays,
                               const std::vector<std::string>& names) {
  const size_t tensors = tensor_inputs(meta_), numbers = varying_numbers();
  if (arrays.size() != tensors && arrays.size() != tensors + numbers) {
    const std::string also =
        numbers == 0 ? "" : ", or these and " + count_text(numbers, "number") + " between them";
    throw InputError("method '" + std::string(meta_.name()) + "' takes " +
                     count_text(tensors, "tensor input") + also + ", given " +
                     std::to_string(arrays.size()));
  }
  inputs_.clear();
  tensors_.clear();
  size_t k = 0;
  for (size_t i = 0; i < meta_.num_inputs(); ++i) {
    const bool is_tensor = meta_.input_tag(i).value() == Tag::kTensor;
    if (!is_tensor && (arrays.size() == tensors || !method_->input_varies(i))) {
      inputs_.push_back(meta_.input_value(i).value());
      continue;
    }
    const std::string where = "input " + std::to_string(k) + " ('" + names[k] + "')";
    if (is_tensor) {
      add_input(i, &arrays[k], where);
    } else {
      inputs_.push_back(number_input(i, arrays[k], where));
    }
    ++k;
  }
}

size_t ProgramRunner::varying_numbers() const {
  size_t count = 0;
  for (size_t i = 0; i < meta_.num_inputs(); ++i) count += method_->input_varies(i);
  return count;
}

void ProgramRunner::set_ones() {
  inputs_.clear();
  tensors_.clear();
  for (size_t i = 0; i < meta_.num_inputs(); ++i) {
    if (meta_.input_tag(i).value() == Tag::kTensor) {
      add_input(i, nullptr, "");
    } else {
      inputs_.push_back(meta_.input_value(i).value());
    }
  }
}

void ProgramRunner::set_case(size_t number) {
  if (bundle() == nullptr) throw InputError("'" + path_ + "' has no test cases: it is no .bpte");
  const size_t cases = bundle()->num_cases(meta_.name());
  const auto test = bundle()->test_case(meta_.name(), number);
  if (!test.ok()) {
    throw InputError("'" + path_ + "' has " + count_text(cases, "test case") + " for method '" +
                     std::string(meta_.name()) + "', no number " + std::to_string(number));
  }
  if (test->num_inputs() != meta_.num_inputs()) {
    throw InputError("'" + path_ + "': test case " + std::to_string(number) + " has " +
                     count_text(test->num_inputs(), "input") + ", the method takes " +
                     std::to_string(meta_.num_inputs()));
  }
  tensors_.clear();
  case_ = std::make_unique<BundledInputs>(*test);
  inputs_.assign(case_->values().begin(), case_->values().end());
}

void ProgramRunner::set_default_inputs() {
  if (bundle() != nullptr && bundle()->num_cases(meta_.name()) != 0) {
    set_case(0);
  } else {
    set_ones();
  }
}

void ProgramRunner::overwrite_input(size_t i, std::string_view row_major) {
  tensors_[i].set_row_major(row_major);
}

// Says which sizes were given: most conditions are about them.
void ProgramRunner::refuse_inputs(const Status& status, std::string_view condition) const {
  std::string text = status.message() + (": " + std::string(condition));
  for (char& c : text) c = static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  const char* before = "; given ";
  for (const EValue& input : inputs_) {
    if (!input.is_tensor()) continue;
    text += before + shape_text(shape_of(input.to_tensor().sizes()));
    before = ", ";
  }
  throw InputError("'" + path_ + "': " + text);
}

exir::DebugInfo ProgramRunner::origins() { return origins_in(*module_.program(), meta_.name()); }

exir::DebugInfo origins_in(const Program& program, std::string_view method) {
  const auto text = program.named_data(std::string(exir::kDebugKey) + std::string(method));
  if (!text.ok()) return {};
  return exir::read_debug_text({reinterpret_cast<const char*>(text->data()), text->size()});
}

double ProgramRunner::execute(EventTracer* tracer) {
  // Every run gets its inputs anew, since it may reuse the memory of planned ones; so this counts.
  const auto start = std::chrono::steady_clock::now();
  Status status = method_->set_inputs(inputs_);
  if (!status.ok()) throw InputError("'" + path_ + "': " + status.message());
  status = tracer == nullptr ? method_->execute() : method_->execute(*tracer);
  const double seconds = seconds_since(start);
  if (status.ok()) return seconds;
  const ExecutionFailure failure = method_->last_failure();
  if (!failure.message.empty()) refuse_inputs(status, failure.message);
  throw InputError("'" + path_ +
                   "': " + (failure.op.name.empty() ? "" : std::string(failure.op.name) + ": ") +
                   status.message());
}

std::vector<Output> ProgramRunner::outputs() {
  std::vector<Output> result;
  for (size_t i = 0; i < method_->num_outputs(); ++i) {
    const EValue value = method_->get_output(i).value();
    Output output;
    output.is_tensor = value.is_tensor();
    if (output.is_tensor) {
      const Tensor& tensor = value.to_tensor();
      output.array = {tensor.scalar_type(), shape_of(tensor.sizes()), row_major_bytes(tensor)};
    } else {
      output.text = plain_text(value);
    }
    result.push_back(std::move(output));
  }
  return result;
}

size_t tensor_inputs(const MethodMeta& meta) {
  size_t count = 0;
  for (size_t i = 0; i < meta.num_inputs(); ++i) {
    count += meta.input_tag(i).value() == Tag::kTensor;
  }
  return count;
}

std::map<std::string, std::string> packed_paths_of(const std::string& program) {
  std::map<std::string, std::string> paths;
  for (const DeviceDescriptor* device : backend_devices()) {
    if (device->packed_suffix == nullptr) continue;
    paths[device->identity.name] = packed_path_of(program, *device);
  }
  return paths;
}

// The hints for all delegates that the text names.
std::string remedies_for(const std::string& text) {
  std::string remedies;
  for (const exir::CompilerDescriptor* each : backend_compilers()) {
    const std::string id = each->identity.delegate_id;
    if (text.find(id) != text.npos) remedies += remedy_for(id);
  }
  return remedies;
}

std::string load_problem(const Module& module, const Status& status, const std::string& path) {
  const std::string& lines = module.last_error_text();
  std::string text;
  for (const char c : lines) text += c == '\n' ? std::string("; ") : std::string(1, c);
  if (text.empty()) text = status.message();
  if (text.find(path) == std::string::npos) text = "'" + path + "': " + text;
  if (status.error() == Error::kNotFound) text += remedies_for(text);
  const bool left =
      status.error() == Error::kOperatorMissing &&
      (text.find(".functional") != text.npos || text.find("_functional") != text.npos);
  if (left) text += "; it was left to PyTorch's operators (--aten)";
  if (status.error() != Error::kInvalidProgram) return text;
  const std::string head = read_head(path);
  if (head.substr(0, 2) == "PK") {
    text += "; it is a zip archive: compile a .pt2 with 'taper export' first";
  } else if (head.size() >= 8 && head.substr(4, 4) == "BP08") {
    text += "; it is a bundled program: 'taper bundle --extract' writes the .pte in it";
  } else if (head.size() >= 12 && head.substr(8, 4) == "ED00") {
    text += "; it is an ETDump: 'taper profile' shows it";
  }
  return text;
}

std::string plain_text(const EValue& value) {
  char text[64];
  switch (value.tag()) {
    case Tag::kNone:
      return "none";
    case Tag::kInt:
      return "int " + std::to_string(value.to_int());
    case Tag::kBool:
      return value.to_bool() ? "bool True" : "bool False";
    case Tag::kDouble:
      std::snprintf(text, sizeof(text), "float %.17g", value.to_double());
      return text;
    case Tag::kString:
      return "string '" + std::string(value.to_string_view()) + "'";
    default:
      return to_string(value.tag());
  }
}

}  // namespace taper::tools
