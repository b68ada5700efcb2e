// What threads may do at the same time, with programs that are committed: load Methods of one
// Program and run them on one device, use models of the C API and its backends for the first time,
// use one model (all but one are turned away), and write and read one file of packed weights, while
// another process does, too. scripts/threads.sh runs this under ThreadSanitizer.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>

#include "backends/devices.h"
#include "taper/etdump.h"
#include "taper/file_data_loader.h"
#include "test/support/scratch_folder.h"
#include "test/threads/stored_model.h"

namespace taper::test {
namespace {

constexpr int kThreads = 4, kRuns = 3;

// Calls each(i) on thread i, on all at the same time.
template <typename Each>
void on_threads(const Each& each) {
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      ++ready;
      while (ready < kThreads) std::this_thread::yield();
      each(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Threads of an application, for kernels.
void run_in_parallel(void*, size_t count, taper_task task, void* data) {
  std::vector<std::thread> threads;
  for (size_t i = 1; i < count; ++i) threads.emplace_back(task, data, i);
  if (count != 0) task(data, 0);
  for (std::thread& thread : threads) thread.join();
}

std::unique_ptr<Device> make_device(const StoredModel& model, const std::string& cache = "") {
  if (model.backend.empty()) return nullptr;
  DeviceOptions options;
  options.threads = 2;
  if (!cache.empty()) options.packed_path = cache.c_str();
  return find_device(model.backend)->make(options);
}

class Threads : public testing::TestWithParam<StoredModel> {};

TEST_P(Threads, MethodsOfOneProgramRunOnOneDevice) {
  Result<MmapDataLoader> file = MmapDataLoader::open(GetParam().path.c_str());
  ASSERT_TRUE(file.ok());
  const Result<Program> program = Program::open(*file);
  ASSERT_TRUE(program.ok());
  const std::unique_ptr<Device> device = make_device(GetParam());
  on_threads([&](int) {
    LoadedModel loaded(GetParam(), *program, device.get());
    ASSERT_TRUE(loaded.status().ok()) << loaded.status().message();
    EtRecorder recorder;
    for (int i = 0; i < kRuns; ++i) {
      ASSERT_TRUE(loaded.run(recorder).ok());
      EXPECT_TRUE(recorder.finish_run(loaded.method()));
      EXPECT_EQ(GetParam().problem_of(loaded.outputs()), "");
    }
  });
}

TEST_P(Threads, ModelsInCAreOpenedRunAndRecorded) {
  on_threads([](int thread) {
    OpenedModel model(GetParam(), thread % 2 == 0 ? run_in_parallel : nullptr);
    ASSERT_EQ(model.set_inputs(), TAPER_OK) << model.message();
    taper_recording* const recording = taper_start_recording(nullptr, nullptr);
    ASSERT_EQ(model.run(recording), TAPER_OK) << model.message();
    EXPECT_EQ(GetParam().problem_of(model.outputs()), "");
    const void* bytes = nullptr;
    size_t size = 0;
    EXPECT_EQ(taper_recorded_file(recording, &bytes, &size, nullptr), TAPER_OK);
    EXPECT_TRUE(read_etdump({static_cast<const uint8_t*>(bytes), size}).ok());
    taper_end_recording(recording);
  });
}

TEST_P(Threads, AModelInCIsUsedByOneAndTheOthersAreTurnedAway) {
  OpenedModel model(GetParam(), nullptr);
  ASSERT_EQ(model.set_inputs(), TAPER_OK) << model.message();
  const taper_model handle = model.handle();
  std::atomic<int> ran{0};
  on_threads([&](int thread) {
    for (int i = 0; i < 4 * kRuns; ++i) {
      const bool closes = thread == 0 && i == 4 * kRuns - 1;
      const taper_code code = closes ? taper_close(handle) : taper_run(handle, "forward", nullptr);
      ran += code == TAPER_OK;
      EXPECT_TRUE(code == TAPER_OK || code == TAPER_INVALID_STATE ||
                  code == TAPER_INVALID_ARGUMENT)  // It is closed.
          << code;
    }
  });
  EXPECT_GT(ran, 0);
}

class ThreadsWithCaches : public Threads {
 protected:
  // Loads and runs the program, with a device whose packed weights are in that file.
  static std::string run_with_cache(const std::string& cache) {
    Result<MmapDataLoader> file = MmapDataLoader::open(GetParam().path.c_str());
    if (!file.ok()) return file.status().message();
    const Result<Program> program = Program::open(*file);
    if (!program.ok()) return program.status().message();
    const std::unique_ptr<Device> device = make_device(GetParam(), cache);
    LoadedModel loaded(GetParam(), *program, device.get());
    if (!loaded.status().ok()) return loaded.status().message();
    EtRecorder recorder;
    if (const Status status = loaded.run(recorder); !status.ok()) return status.message();
    if (const Status status = device->save_packed(); !status.ok()) return status.message();
    return GetParam().problem_of(loaded.outputs());
  }
};

TEST_P(ThreadsWithCaches, AreReadWhileTheyAreWritten) {
  const ScratchFolder folder;
  const std::string cache = folder / "packed";
  const pid_t other = ::fork();
  if (other == 0) {
    bool good = true;
    for (int i = 0; i < kRuns; ++i) {
      good = run_with_cache(cache).empty() && good;
      ::unlink(cache.c_str());
    }
    ::_exit(good ? 0 : 1);
  }
  on_threads([&](int) {
    for (int i = 0; i < kRuns; ++i) EXPECT_EQ(run_with_cache(cache), "");
  });
  int status = 0;
  EXPECT_EQ(::waitpid(other, &status, 0), other);
  EXPECT_EQ(status, 0);
}

std::string name_of(const testing::TestParamInfo<StoredModel>& each) { return each.param.name; }

INSTANTIATE_TEST_SUITE_P(Of, Threads, testing::ValuesIn(stored_models()), name_of);

// Those that run on a backend which keeps what it prepares.
std::vector<StoredModel> cached_models() {
  std::vector<StoredModel> cached;
  for (const StoredModel& model : stored_models()) {
    const DeviceDescriptor* const device = find_device(model.backend);
    if (device != nullptr && device->packed_suffix != nullptr) cached.push_back(model);
  }
  return cached;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ThreadsWithCaches);
INSTANTIATE_TEST_SUITE_P(Of, ThreadsWithCaches, testing::ValuesIn(cached_models()), name_of);

}  // namespace
}  // namespace taper::test
