// Every allocation fails once while a backend packs weights, keeps them in a file, finds them there
// or in the program, and runs on threads of its own. Each failure must be an error that says so, or
// be done without; a file of packed weights is whole, or not there.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "backends/devices.h"
#include "exir/export.h"
#include "taper/module.h"
#include "test/faults/each_allocation.h"
#include "test/faults/failing_heap.h"
#include "test/support/scratch_folder.h"
#include "tools/atomic_file.h"
#include "tools/backends.h"
#include "tools/commands.h"
#include "tools/program_runner.h"

namespace taper::test {
namespace {

bool is_clean(const Status& status) {
  return status.ok() || status.error() == Error::kMemoryAllocationFailed ||
         status.error() == Error::kDelegateMemoryAllocationFailed;
}

class FaultsOfDevices : public testing::TestWithParam<const DeviceDescriptor*> {
 protected:
  FaultsOfDevices() {
    exir::ExportRequest request;
    request.methods = {{"forward", TAPER_SOURCE_DIR "/test/models/data/bert_mini.pt2"}};
    request.lowering.backends = tools::compilers_of(GetParam()->identity.name);
    tools::write_file(program_, exir::export_program(request).files.pte.joined());
  }

  bool is_packer() const { return GetParam()->packed_key != nullptr; }

  // Makes a device, loads and runs the program on it, and has it keep what it has packed.
  bool lives(uint32_t threads, const char* packed_path) const {
    DeviceOptions device_options;
    device_options.threads = threads;
    device_options.packed_path = packed_path;
    const std::unique_ptr<Device> device = GetParam()->make(device_options);
    if (device == nullptr) return true;
    const Backend backend = {GetParam()->identity.delegate_id, &device->interface()};
    ModuleOptions options;
    options.kernels = tools::kernel_tables(true);
    options.backends = {&backend, 1};
    std::string path;
    {
      const SparedAllocations of_this_test;
      path = program_;
    }
    Module module(std::move(path), options);
    if (const Status loaded = module.load_method("forward"); !loaded.ok()) return is_clean(loaded);
    Method& method = *module.method("forward");
    uint64_t zeros[1 << 10] = {};
    for (size_t i = 0; i < method.num_inputs(); ++i) {
      const Result<TensorInfo> info = method.meta().input_tensor_meta(i);
      if (!info.ok() || info->nbytes() > sizeof(zeros)) return false;
      OwnedTensor tensor(info->scalar_type(), info->sizes(), zeros);
      if (!method.set_input(i, EValue(tensor.tensor())).ok()) return false;
    }
    const Status ran = method.execute();
    const Status saved = device->save_packed();
    return is_clean(ran) && is_clean(saved);
  }

  const ScratchFolder folder_;
  const std::string program_ = folder_ / "model.pte", packed_ = folder_ / "model.packed";
};

// With threads of the backend, which a copy that is made later would lack.
TEST_P(FaultsOfDevices, OnTwoThreadsAreErrors) {
  if (!GetParam()->make({})->has_threads()) GTEST_SKIP() << "it has none";
  every_allocation_fails_once([&] { return lives(2, nullptr); }, Copied::kAtTheBeginning);
}

// A copy that is made later would leave its file to the scenario that goes on.
TEST_P(FaultsOfDevices, ThatWriteWhatTheyPackedAreErrors) {
  if (!is_packer()) GTEST_SKIP() << "it packs nothing";
  ASSERT_TRUE(lives(1, packed_.c_str()));
  const std::string whole = tools::read_file(packed_);
  const auto scenario = [&] {
    ::unlink(packed_.c_str());
    if (!lives(1, packed_.c_str())) return false;
    const SparedAllocations of_this_test;
    const bool is_there = std::filesystem::exists(packed_);
    return folder_.files().size() == (is_there ? 2u : 1u) &&
           (!is_there || tools::read_file(packed_) == whole);
  };
  every_allocation_fails_once(scenario, Copied::kAtTheBeginning);
}

TEST_P(FaultsOfDevices, ThatFindWhatTheyPackedAreErrors) {
  if (!is_packer()) GTEST_SKIP() << "it packs nothing";
  ASSERT_TRUE(lives(1, packed_.c_str()));
  const std::string whole = tools::read_file(packed_);
  every_allocation_fails_once([&] { return lives(1, packed_.c_str()); });
  EXPECT_EQ(tools::read_file(packed_), whole);
}

TEST_P(FaultsOfDevices, ThatFindItInTheProgramAreErrors) {
  if (!is_packer()) GTEST_SKIP() << "it packs nothing";
  std::vector<std::string> words = {"taper", "pack", program_, "--for", "this-cpu"};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  ASSERT_EQ(tools::run_taper(static_cast<int>(arguments.size()), arguments.data()), 0);
  every_allocation_fails_once([&] { return lives(1, nullptr); });
}

INSTANTIATE_TEST_SUITE_P(Of, FaultsOfDevices,
                         testing::ValuesIn(backend_devices().begin(), backend_devices().end()),
                         [](const auto& each) { return each.param->identity.name; });

}  // namespace
}  // namespace taper::test
