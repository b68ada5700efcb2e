// Counts what executions take from the heap, and which locks: the first run, one more, and runs at
// larger and smaller sizes, on the kernels and on every backend of this build.

#include <gtest/gtest.h>

#include "backends/devices.h"
#include "exir/export.h"
#include "test/e2e/model_cases.h"
#include "test/support/heap_counter.h"
#include "test/support/lock_counter.h"
#include "test/support/scratch_folder.h"
#include "tools/atomic_file.h"
#include "tools/backends.h"
#include "tools/program_runner.h"

namespace taper::test {
namespace {

struct Counts {
  uint64_t heap = 0, locks = 0;
};

// A program for a backend, which is run on inputs of several sizes.
class Counted {
 public:
  Counted(const std::string& model, const std::string& backend, tools::RunnerOptions options) {
    exir::ExportRequest request;
    request.methods = {{"forward", TAPER_SOURCE_DIR "/test/models/data/" + model + ".pt2"}};
    request.lowering.backends = tools::compilers_of(backend);
    options.path = folder_ / "program.pte";
    tools::write_file(options.path, exir::export_program(request).files.pte.joined());
    runner_ = std::make_unique<tools::ProgramRunner>(options);
  }

  // Runs a model case, and counts.
  Counts run(const std::string& name) {
    for (const ModelCase& c : model_cases()) {
      if (c.name != name) continue;
      const std::vector<std::string> inputs = c.input_paths(0);
      runner_->set_inputs(tools::read_all(inputs), inputs);
      const uint64_t heap = heap_calls(), locks = lock_calls();
      runner_->execute();
      return {heap_calls() - heap, lock_calls() - locks};
    }
    ADD_FAILURE() << "no case is called " << name;
    return {};
  }

 private:
  const ScratchFolder folder_;
  std::unique_ptr<tools::ProgramRunner> runner_;
};

// A model, and cases of it in which sizes grow and shrink.
struct Sizes {
  const char* model;
  std::vector<std::string> cases;
};

const std::vector<Sizes>& all_sizes() {
  static const std::vector<Sizes> all = {
      {"dynamic_bert", {"dynamic_bert_7", "dynamic_bert_16", "dynamic_bert_4", "dynamic_bert_7"}},
      {"dynamic_batch", {"dynamic_batch_3", "dynamic_batch_8", "dynamic_batch_1"}},
      {"dynamic_pictures", {"dynamic_pictures_8x7", "dynamic_pictures_11x5"}},
      {"resnet18", {"resnet18"}},
      {"lstm", {"lstm"}},
      {"int8_convnet", {"int8_convnet"}},
  };
  return all;
}

// Two threads that are one: tasks run one after another, and whatever locks is not the pool.
ThreadPool two_in_turn(const ThreadPool&) {
  ThreadPool pool;
  pool.threads = 2;
  pool.run = [](void*, size_t count, ThreadPool::Task task, void* data) {
    for (size_t i = 0; i < count; ++i) task(data, i);
  };
  return pool;
}

TEST(Heap, KernelsNeverUseItAndTakeNoLocks) {
  for (const bool optimized : {false, true}) {
    for (const uint32_t threads : {1u, 2u}) {
      tools::RunnerOptions options;
      options.optimized = optimized;
      options.threads = 1;
      if (threads == 2) options.wrap_threads = two_in_turn;
      for (const Sizes& sizes : all_sizes()) {
        Counted program(sizes.model, "portable", options);
        for (const std::string& name : sizes.cases) {
          const Counts counts = program.run(name);
          EXPECT_EQ(counts.heap, 0u) << name << ", optimized: " << optimized;
          EXPECT_EQ(counts.locks, 0u) << name << ", optimized: " << optimized;
        }
      }
    }
  }
}

class BackendHeap : public testing::TestWithParam<std::string> {};

// A backend takes memory when it is loaded, and may do so when sizes are not those of the last run.
// With threads, waking them may take a lock of their pool.
TEST_P(BackendHeap, IsLeftAloneUnlessSizesChange) {
  for (const uint32_t threads : {1u, 2u}) {
    tools::RunnerOptions options;
    options.threads = threads;
    for (const Sizes& sizes : all_sizes()) {
      Counted program(sizes.model, GetParam(), options);
      for (const std::string& name : sizes.cases) {
        const Counts first = program.run(name);
        const Counts again = program.run(name);
        const bool has_changed = sizes.cases.size() > 1;
        EXPECT_TRUE(has_changed || first.heap == 0) << name << " on " << threads << " threads";
        EXPECT_EQ(again.heap, 0u) << name << " on " << threads << " threads";
        EXPECT_TRUE(threads > 1 || first.locks + again.locks == 0) << name;
      }
    }
  }
}

std::vector<std::string> backend_names() {
  std::vector<std::string> names;
  for (const DeviceDescriptor* device : backend_devices()) names.push_back(device->identity.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Of, BackendHeap, testing::ValuesIn(backend_names()),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace taper::test
