// Every allocation that a program's life asks for fails once: when it is opened, described, loaded,
// run and closed through the C API, on the kernels and on each backend, and when it is compiled.
// Each failure must end in TAPER_OUT_OF_MEMORY, or be done without, and nothing may be lost.
// TAPER_FAULT=N lets only the N-th fail, in this process, for a debugger.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "backends/devices.h"
#include "taper/compiler.h"
#include "taper/taper.h"
#include "test/faults/failing_heap.h"

namespace taper::test {
namespace {

// The exit codes of a child.
enum Outcome { kClean = 0, kWrongCode = 1, kLost = 2 };
constexpr const char* kOutcomes[] = {"is clean", "does not say that memory was short",
                                     "loses memory"};
constexpr uint64_t kMost = 400;  // So many failures of one scenario are tried, evenly spread.

bool is_clean(taper_code code) { return code == TAPER_OK || code == TAPER_OUT_OF_MEMORY; }

Outcome fails_once(const std::function<bool()>& scenario, uint64_t n) {
  const int64_t before = live_allocations();
  fail_allocation(n);
  const bool clean = scenario();
  fail_allocation(0);
  if (!clean) return kWrongCode;
  return live_allocations() == before ? kClean : kLost;
}

// Runs the scenario in a child for each allocation that fails. It returns whether all went well or
// ended in the right code, after it has given back everything.
void every_allocation_fails_once(const std::function<bool()>& scenario) {
  ASSERT_TRUE(scenario());  // What is made once per process is made now.
  const uint64_t before = allocations();
  ASSERT_TRUE(scenario());
  const uint64_t count = allocations() - before;
  if (count == 0) GTEST_SKIP() << "the sanitizer's heap does not fail";
  if (const char* number = std::getenv("TAPER_FAULT")) {
    ASSERT_EQ(fails_once(scenario, std::strtoull(number, nullptr, 10)), kClean);
    return;
  }
  const uint64_t step = count / kMost + 1;
  for (uint64_t n = 1; n <= count; n += step) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(fails_once(scenario, n));
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_FALSE(WIFSIGNALED(status))
        << "allocation " << n << " of " << count << " fails: signal " << WTERMSIG(status);
    ASSERT_EQ(WEXITSTATUS(status), kClean) << "allocation " << n << " of " << count
                                           << " fails, and it " << kOutcomes[WEXITSTATUS(status)];
  }
}

std::vector<char> read_model(const std::string& name) {
  std::ifstream file(TAPER_SOURCE_DIR "/test/models/data/" + name + ".pt2", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

using Compilation = std::unique_ptr<taper_compilation, decltype(&taper_free_compilation)>;

Compilation compile(const std::vector<char>& pt2, const std::string& backend, taper_code* code) {
  const taper_source source = {"forward", pt2.data(), pt2.size()};
  const char* words[] = {"--backend", backend.c_str()};
  taper_compilation* made = nullptr;
  *code = taper_compile(words, backend.empty() ? 0 : 2, &source, 1, &made, nullptr);
  return {made, taper_free_compilation};
}

class Faults : public testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  std::string model() const { return std::get<0>(GetParam()); }
  std::string backend() const { return std::get<1>(GetParam()); }
};

// Sets every tensor input to zeros.
taper_code set_inputs(taper_model model, taper_method_info method) {
  static const std::vector<uint64_t> kZeros(1 << 18);
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
    value.data = kZeros.data();
    value.bytes = info.bytes;
    const taper_code set = taper_set_input(model, "forward", i, &value, nullptr);
    if (set != TAPER_OK) return set;
  }
  return TAPER_OK;
}

taper_code use(taper_model model) {
  size_t methods = 0;
  taper_method_info method = {};
  taper_code code = taper_method_count(model, &methods, nullptr);
  if (code == TAPER_OK) code = taper_describe_method(model, "forward", &method, nullptr);
  if (code == TAPER_OK) code = set_inputs(model, method);
  for (int runs = 0; runs < 2 && code == TAPER_OK; ++runs)
    code = taper_run(model, "forward", nullptr);
  taper_value output = {};
  if (code == TAPER_OK) code = taper_get_output(model, "forward", 0, &output, nullptr);
  if (code == TAPER_OK) code = taper_reset_state(model, nullptr);
  return code;
}

TEST_P(Faults, OfTheRuntimeAreErrors) {
  taper_code compiled = TAPER_OK;
  const Compilation program = compile(read_model(model()), backend(), &compiled);
  ASSERT_EQ(compiled, TAPER_OK);
  size_t size = 0;
  const void* const data = taper_compiled_program(program.get(), &size);
  const taper_backend* const found =
      backend().empty() ? nullptr : taper_find_backend(backend().c_str(), nullptr);
  taper_options options = {};
  options.struct_size = sizeof(options);
  options.kernels = taper_fast_kernels();
  options.backends = &found;
  options.backend_count = found != nullptr;
  every_allocation_fails_once([&] {
    taper_model opened = 0;
    taper_code code = taper_open_memory(data, size, &options, &opened, nullptr);
    if (code == TAPER_OK) code = use(opened);
    if (opened != 0 && taper_close(opened) != TAPER_OK) return false;
    return is_clean(code);
  });
}

TEST_P(Faults, OfTheCompilerAreErrors) {
  const std::vector<char> pt2 = read_model(model());
  every_allocation_fails_once([&] {
    taper_code code = TAPER_OK;
    compile(pt2, backend(), &code);
    return is_clean(code);
  });
}

// The kernels alone, and each backend that is linked in.
std::vector<std::string> targets() {
  std::vector<std::string> names = {""};
  for (const DeviceDescriptor* device : backend_devices()) names.push_back(device->identity.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Of, Faults,
                         testing::Combine(testing::Values("add", "bert_mini", "lstm",
                                                          "int8_convnet"),
                                          testing::ValuesIn(targets())));

}  // namespace
}  // namespace taper::test
