// What a program's life asks of the heap, while each allocation fails once: the program is opened,
// described, loaded, run and closed through the C API, on the kernels and on each backend; so is
// one with weights in a file, one that is signed, and one that is recorded; and programs are
// compiled. Each failure must end in TAPER_OUT_OF_MEMORY, or be done without, and nothing may be
// lost.

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "backends/devices.h"
#include "signing/signature.h"
#include "taper/compiler.h"
#include "taper/taper.h"
#include "test/faults/each_allocation.h"
#include "test/faults/failing_heap.h"
#include "test/support/scratch_folder.h"
#include "tools/atomic_file.h"

namespace taper::test {
namespace {

bool is_clean(taper_code code) { return code == TAPER_OK || code == TAPER_OUT_OF_MEMORY; }

std::vector<char> read_model(const std::string& name) {
  std::ifstream file(TAPER_SOURCE_DIR "/test/models/data/" + name + ".pt2", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

using Compilation = std::unique_ptr<taper_compilation, decltype(&taper_free_compilation)>;

using Words = std::vector<const char*>;

Compilation compile(const std::vector<char>& pt2, const Words& words, taper_code* code) {
  const taper_source source = {"forward", pt2.data(), pt2.size()};
  taper_compilation* made = nullptr;
  *code = taper_compile(words.data(), words.size(), &source, 1, &made, nullptr);
  return {made, taper_free_compilation};
}

// The backend's name must outlive them.
Words words_for(const std::string& backend) {
  return backend.empty() ? Words() : Words{"--backend", backend.c_str()};
}

std::string_view bytes_of(const taper_compilation* made,
                          const void* (*part)(const taper_compilation*, size_t*)) {
  size_t size = 0;
  const void* const data = part(made, &size);
  return {static_cast<const char*>(data), size};
}

using RunModel = std::function<taper_code(taper_model)>;

class Faults : public testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  const std::string& model() const { return std::get<0>(GetParam()); }
  const std::string& backend() const { return std::get<1>(GetParam()); }
  void expect_errors(const taper_backend* found, const RunModel& run) const;
};

// Sets every tensor input to zeros.
taper_code set_inputs(taper_model model, taper_method_info method) {
  static const std::vector<uint64_t> zeros(1 << 18);
  for (size_t i = 0; i < method.inputs; ++i) {
    taper_value_info info = {};
    const taper_code described = taper_describe_input(model, "forward", i, &info, nullptr);
    if (described != TAPER_OK) return described;
    if (info.kind != TAPER_TENSOR) continue;
    taper_value value = {};
    value.kind = TAPER_TENSOR;
    value.dtype = info.dtype;
    value.rank = info.rank;
    for (int32_t d = 0; d < info.rank; ++d) value.sizes[d] = info.sizes[d];
    value.data = zeros.data();
    value.bytes = info.bytes;
    const taper_code set = taper_set_input(model, "forward", i, &value, nullptr);
    if (set != TAPER_OK) return set;
  }
  return TAPER_OK;
}

taper_code run_twice(taper_model model) {
  const taper_code code = taper_run(model, "forward", nullptr);
  return code != TAPER_OK ? code : taper_run(model, "forward", nullptr);
}

taper_code use(taper_model model, const RunModel& run = run_twice) {
  size_t methods = 0;
  taper_method_info method = {};
  taper_code code = taper_method_count(model, &methods, nullptr);
  if (code == TAPER_OK) code = taper_describe_method(model, "forward", &method, nullptr);
  if (code == TAPER_OK) code = set_inputs(model, method);
  if (code == TAPER_OK) code = run(model);
  taper_value output = {};
  if (code == TAPER_OK) code = taper_get_output(model, "forward", 0, &output, nullptr);
  if (code == TAPER_OK) code = taper_reset_state(model, nullptr);
  return code;
}

// Uses the model that `open` opens, and closes it. Returns whether that ended as it may.
template <typename Open>
bool lives(const Open& open, const RunModel& run = run_twice) {
  taper_model opened = 0;
  taper_code code = open(&opened);
  if (code == TAPER_OK) code = use(opened, run);
  if (opened != 0 && taper_close(opened) != TAPER_OK) return false;
  return is_clean(code);
}

taper_options fast_options() {
  taper_options options = {};
  options.struct_size = sizeof(options);
  options.kernels = taper_fast_kernels();
  return options;
}

// Opens and runs the compiled model, with the backend unless there is none.
void Faults::expect_errors(const taper_backend* found, const RunModel& run) const {
  taper_code compiled = TAPER_OK;
  const Compilation program = compile(read_model(model()), words_for(backend()), &compiled);
  ASSERT_EQ(compiled, TAPER_OK);
  const std::string_view pte = bytes_of(program.get(), taper_compiled_program);
  taper_options options = fast_options();
  options.backends = &found;
  options.backend_count = found != nullptr;
  every_allocation_fails_once([&] {
    return lives(
        [&](taper_model* opened) {
          return taper_open_memory(pte.data(), pte.size(), &options, opened, nullptr);
        },
        run);
  });
}

TEST_P(Faults, OfTheRuntimeAreErrors) {
  expect_errors(backend().empty() ? nullptr : taper_find_backend(backend().c_str(), nullptr),
                run_twice);
}

TEST_P(Faults, OfARecordingAreErrors) {
  const auto record = [](taper_model model) {
    const auto listen = [](void*, const taper_event*) {};
    taper_recording* const recording = taper_start_recording(listen, nullptr);
    if (recording == nullptr) return taper_code{TAPER_OUT_OF_MEMORY};
    const void* file = nullptr;
    size_t size = 0;
    taper_code code = taper_run_recorded(model, "forward", recording, nullptr);
    if (code == TAPER_OK) code = taper_recorded_file(recording, &file, &size, nullptr);
    taper_end_recording(recording);
    return code;
  };
  expect_errors(backend().empty() ? nullptr : taper_find_traced_backend(backend().c_str(), nullptr),
                record);
}

TEST_P(Faults, OfTheCompilerAreErrors) {
  const std::vector<char> pt2 = read_model(model());
  const Words words = words_for(backend());
  every_allocation_fails_once([&] {
    taper_code code = TAPER_OK;
    compile(pt2, words, &code);
    return is_clean(code);
  });
}

// A program and its weights in files.
struct TwoFiles {
  explicit TwoFiles(const std::string& model, const SigningKey* key = nullptr) {
    taper_code code = TAPER_OK;
    const Compilation made = compile(read_model(model), {"--external-weights"}, &code);
    EXPECT_EQ(code, TAPER_OK);
    write(program, bytes_of(made.get(), taper_compiled_program), key);
    write(weights, bytes_of(made.get(), taper_compiled_weights), key);
  }

  static void write(const std::string& path, std::string_view bytes, const SigningKey* key) {
    const Span<const uint8_t> file(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    const std::string signature = key == nullptr ? "" : make_signature(file, *key);
    tools::write_file(path, std::string(bytes) + signature);
  }

  bool live(taper_options options) const {
    options.data_path = weights.c_str();
    return lives([&](taper_model* opened) {
      return taper_open_path(program.c_str(), &options, opened, nullptr);
    });
  }

  const ScratchFolder folder;
  const std::string program = folder / "model.pte", weights = folder / "model.ptd";
};

TEST(FaultsOfFiles, WithExternalWeightsAreErrors) {
  const TwoFiles files("bert_mini");
  every_allocation_fails_once([&] { return files.live(fast_options()); });
}

TEST(FaultsOfFiles, ThatAreReadIntoMemoryAreErrors) {
  const TwoFiles files("bert_mini");
  taper_options options = fast_options();
  options.copy_files = 1;
  every_allocation_fails_once([&] { return files.live(options); });
}

TEST(FaultsOfFiles, ThatMustBeSignedAreErrors) {
  const Result<SigningKey> key = make_signing_key();
  ASSERT_TRUE(key.ok()) << key.status().message();
  const TwoFiles files("bert_mini", &*key);
  const std::string pem = to_pem(key->public_key);
  every_allocation_fails_once([&] {
    taper_public_key author = {};
    const taper_code code = taper_read_public_key(pem.c_str(), &author, nullptr);
    if (code != TAPER_OK) return is_clean(code);
    taper_options options = fast_options();
    options.check_file = taper_signed_by;
    options.check_context = &author;
    return files.live(options);
  });
}

// Tasks on two threads, which begin and end with each call. What the threads themselves need from
// the heap is the application's.
void on_two_threads(void*, size_t count, taper_task task, void* data) {
  const SparedAllocations of_the_application;
  std::thread other([&] {
    for (size_t i = 1; i < count; i += 2) task(data, i);
  });
  for (size_t i = 0; i < count; i += 2) task(data, i);
  other.join();
}

TEST(FaultsOfThreads, OfTheApplicationAreErrors) {
  taper_code compiled = TAPER_OK;
  const Compilation program = compile(read_model("bert_mini"), {}, &compiled);
  ASSERT_EQ(compiled, TAPER_OK);
  const std::string_view pte = bytes_of(program.get(), taper_compiled_program);
  taper_options options = fast_options();
  options.parallel_for = on_two_threads;
  options.threads = 2;
  const auto scenario = [&] {
    return lives([&](taper_model* opened) {
      return taper_open_memory(pte.data(), pte.size(), &options, opened, nullptr);
    });
  };
  every_allocation_fails_once(scenario, Copied::kAtTheBeginning);
}

// The kernels alone, and each backend that is linked in.
std::vector<std::string> targets() {
  std::vector<std::string> names = {""};
  for (const DeviceDescriptor* device : backend_devices()) names.push_back(device->identity.name);
  return names;
}

std::string name_of(const testing::TestParamInfo<Faults::ParamType>& info) {
  const auto& [model, backend] = info.param;
  return model + "_on_" + (backend.empty() ? "kernels" : backend);
}

INSTANTIATE_TEST_SUITE_P(Of, Faults,
                         testing::Combine(testing::Values("add", "bert_mini", "lstm",
                                                          "int8_convnet"),
                                          testing::ValuesIn(targets())),
                         name_of);

}  // namespace
}  // namespace taper::test
