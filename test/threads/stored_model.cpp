// Reads the committed programs and arrays, without what the compiler's half of the tests has: these
// tests are built without it, too.

#include "test/threads/stored_model.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>

#include "backends/devices.h"
#include "taper/c_tables.h"

namespace taper::test {
namespace {

namespace fs = std::filesystem;

const std::string kPrograms = TAPER_SOURCE_DIR "/test/compat/data/";
const std::string kArrays = TAPER_SOURCE_DIR "/test/models/data/";

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Of .npy files as numpy.save writes arrays in C order. Their header is the text of a dictionary.
Array read_array(const std::string& path) {
  const std::string file = contents(path);
  const size_t header = 10 + static_cast<uint8_t>(file[8]) + 256 * static_cast<uint8_t>(file[9]);
  const bool is_float32 = file.substr(0, header).find("'descr': '<f4'") != file.npos;
  Array array = {{}, is_float32, file.substr(header)};
  const std::string key = "'shape': (";
  const char* at = file.data() + file.find(key) + key.size();
  for (char* end; *at != ')'; at = end) {
    array.sizes.push_back(static_cast<int32_t>(std::strtol(at, &end, 10)));
    while (*end == ',' || *end == ' ') ++end;
  }
  return array;
}

std::vector<Array> read_arrays(const std::string& stem, const std::string& kind) {
  std::vector<Array> arrays;
  for (;;) {
    const std::string path = stem + "." + kind + std::to_string(arrays.size()) + ".npy";
    if (!fs::exists(path)) return arrays;
    arrays.push_back(read_array(path));
  }
}

StoredModel read_model(const std::string& name, const std::string& backend,
                       const std::string& arrays) {
  return {name, kPrograms + name + ".pte", backend, read_arrays(arrays, "in"),
          read_arrays(arrays, "out")};
}

// In the fastest form that this build has.
const taper_kernels* all_kernels() {
#if TAPER_OPTIMIZED
  return taper_fast_kernels();
#else
  return taper_portable_kernels();
#endif
}

}  // namespace

std::vector<StoredModel> stored_models() {
  std::vector<StoredModel> models = {
      read_model("add", "", kArrays + "add"),
      read_model("dynamic_batch", "", kArrays + "dynamic_batch_3"),
      read_model("llama", "", kArrays + "llama.step0"),
  };
  for (const auto& entry : fs::directory_iterator(kPrograms)) {
    const std::string name = entry.path().stem();
    const std::string backend = name.substr(0, name.find('_'));
    const bool has_outputs = fs::exists(kPrograms + name + ".out0.npy");
    if (entry.path().extension() != ".pte" || !has_outputs) continue;
    if (find_device(backend) == nullptr) continue;
    models.push_back(read_model(name, backend, kPrograms + name));
  }
  std::sort(models.begin(), models.end(),
            [](const StoredModel& a, const StoredModel& b) { return a.name < b.name; });
  return models;
}

void PrintTo(const StoredModel& model, std::ostream* out) { *out << model.name; }

std::string StoredModel::problem_of(const std::vector<std::string>& given) const {
  if (given.size() != outputs.size()) return "there are " + std::to_string(given.size());
  const float tolerance = name.find("_int") == name.npos ? 1e-4f : 0.02f;
  for (size_t i = 0; i < given.size(); ++i) {
    const std::string& want = outputs[i].bytes;
    if (given[i] == want) continue;
    const std::string text = "output " + std::to_string(i);
    if (given[i].size() != want.size()) return text + " has another size";
    if (!outputs[i].is_float32) return text + " has other values";
    for (size_t at = 0; at < want.size(); at += sizeof(float)) {
      float a, b;
      std::memcpy(&a, given[i].data() + at, sizeof(a));
      std::memcpy(&b, want.data() + at, sizeof(b));
      if (!(std::fabs(a - b) <= tolerance * (1 + std::fabs(b)))) {
        return text + " is " + std::to_string(a) + ", not " + std::to_string(b);
      }
    }
  }
  return "";
}

OpenedModel::OpenedModel(const StoredModel& model, taper_parallel_for pool) : model_(model) {
  taper_options options = {};
  options.struct_size = sizeof(options);
  options.kernels = all_kernels();
  options.parallel_for = pool;
  options.threads = pool != nullptr ? 2 : 0;
  const taper_backend* backend = nullptr;
  if (!model.backend.empty()) {
    backend = taper_find_traced_backend(model.backend.c_str(), &error_);
    options.backends = &backend;
    options.backend_count = 1;
  }
  taper_open_path(model.path.c_str(), &options, &handle_, &error_);
}

taper_code OpenedModel::set_inputs() {
  for (size_t i = 0; i < model_.inputs.size(); ++i) {
    const Array& input = model_.inputs[i];
    taper_value_info info = {};
    taper_code code = taper_describe_input(handle_, "forward", i, &info, &error_);
    taper_value value = {};
    value.kind = TAPER_TENSOR;
    value.dtype = info.dtype;
    value.rank = static_cast<int32_t>(input.sizes.size());
    std::copy(input.sizes.begin(), input.sizes.end(), value.sizes);
    value.data = input.bytes.data();
    value.bytes = input.bytes.size();
    if (code == TAPER_OK) code = taper_set_input(handle_, "forward", i, &value, &error_);
    if (code != TAPER_OK) return code;
  }
  return TAPER_OK;
}

taper_code OpenedModel::run(taper_recording* recording) {
  if (recording == nullptr) return taper_run(handle_, "forward", &error_);
  return taper_run_recorded(handle_, "forward", recording, &error_);
}

std::vector<std::string> OpenedModel::outputs() {
  std::vector<std::string> bytes;
  for (size_t i = 0; i < model_.outputs.size(); ++i) {
    taper_value value = {};
    if (taper_get_output(handle_, "forward", i, &value, &error_) != TAPER_OK) break;
    bytes.emplace_back(static_cast<const char*>(value.data), value.bytes);
  }
  return bytes;
}

LoadedModel::LoadedModel(const StoredModel& model, const Program& program, Device* device) {
  constexpr size_t kTempBytes = size_t{1} << 20;
  const Result<MethodMeta> meta = program.method_meta("forward");
  status_ = meta.status();
  if (!status_.ok()) return;
  memory_.emplace(*meta, kTempBytes);
  MethodOptions options{{&all_kernels()->table, 1}};
  if (device != nullptr) {
    const DeviceDescriptor& descriptor = *find_device(model.backend);
    backend_.emplace(Backend{descriptor.identity.delegate_id, &device->interface()});
    options.backends = {&*backend_, 1};
    options.pool = device->thread_pool();
  }
  Result<Method> loaded = Method::load(program, "forward", memory_->manager(), options);
  status_ = loaded.status();
  if (!status_.ok()) return;
  method_.emplace(std::move(*loaded));
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    const Result<TensorInfo> info = meta->input_tensor_meta(i);
    const Array& array = model.inputs[i];
    inputs_.emplace_back(info->scalar_type(), array.sizes);
    std::memcpy(inputs_.back()->mutable_data(), array.bytes.data(), array.bytes.size());
  }
}

Status LoadedModel::run(EventTracer& tracer) {
  Status status = method_->reset_state();
  for (size_t i = 0; i < inputs_.size() && status.ok(); ++i) {
    status = method_->set_input(i, EValue(&*inputs_[i]));
  }
  return status.ok() ? method_->execute(tracer) : status;
}

std::vector<std::string> LoadedModel::outputs() const {
  std::vector<std::string> bytes;
  for (size_t i = 0; i < method_->num_outputs(); ++i) {
    const Tensor& tensor = method_->get_output(i)->to_tensor();
    bytes.emplace_back(tensor.const_data_ptr<char>(), tensor.nbytes());
  }
  return bytes;
}

}  // namespace taper::test
