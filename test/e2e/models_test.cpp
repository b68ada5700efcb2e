// Runs every committed model from .pt2 to .pte to outputs and compares them with PyTorch's, on the
// kernels and on every backend of this build. State persists between steps, no step allocates from
// the heap, and exporting twice gives the same bytes. What other versions of PyTorch wrote of some of
// them gives the same numbers.

#include <gtest/gtest.h>

#include "backends/compilers.h"
#include "backends/devices.h"
#include "exir/export.h"
#include "test/e2e/model_cases.h"
#include "test/support/heap_counter.h"
#include "test/support/scratch_folder.h"
#include "tools/atomic_file.h"
#include "tools/backends.h"
#include "tools/compare.h"
#include "tools/program_runner.h"

namespace taper::test {
namespace {

std::string export_bytes(const std::string& path, const std::string& backend = "portable",
                         exir::IoMemory io = exir::IoMemory::kPlanned) {
  exir::ExportRequest request;
  request.methods = {{"forward", path}};
  request.io = io;
  request.lowering.backends = tools::compilers_of(backend);
  return exir::export_program(request).files.pte.joined();
}

// A file for a program, removed on destruction.
class TemporaryProgram {
 public:
  explicit TemporaryProgram(const std::string& bytes) { tools::write_file(path_, bytes); }
  TemporaryProgram(const TemporaryProgram&) = delete;
  TemporaryProgram& operator=(const TemporaryProgram&) = delete;
  const std::string& path() const { return path_; }

 private:
  const ScratchFolder folder_;
  const std::string path_ = folder_ / "program.pte";
};

class Models : public testing::TestWithParam<ModelCase> {};

void expect_outputs(tools::ProgramRunner& runner, const ModelCase& c, size_t step) {
  const std::vector<tools::NpyArray> expected = tools::read_all(c.output_paths(step));
  std::vector<tools::NpyArray> got;
  for (tools::Output& output : runner.outputs()) {
    if (output.is_tensor) got.push_back(std::move(output.array));
  }
  ASSERT_EQ(got.size(), expected.size());
  for (size_t k = 0; k < got.size(); ++k) {
    const tools::Comparison result = tools::compare(got[k], expected[k], c.tolerance());
    EXPECT_TRUE(result.equal) << "step " << step << " output " << k << ": " << result.text;
  }
}

void expect_case(tools::ProgramRunner& runner, const ModelCase& c) {
  for (size_t step = 0; step < c.steps; ++step) {
    const std::vector<std::string> names = c.input_paths(step);
    runner.set_inputs(tools::read_all(names), names);
    runner.execute();
    expect_outputs(runner, c, step);
  }
}

TEST_P(Models, GivePyTorchsNumbersWithoutTheHeap) {
  const ModelCase& c = GetParam();
  const std::string bytes = export_bytes(c.path());
  const TemporaryProgram program(bytes);
  tools::ProgramRunner runner({program.path(), "", ""});
  for (size_t step = 0; step < c.steps; ++step) {
    const std::vector<std::string> names = c.input_paths(step);
    runner.set_inputs(tools::read_all(names), names);
    const size_t before = heap_calls();
    runner.execute();
    EXPECT_EQ(heap_calls(), before) << "execute() allocated from the heap";
    expect_outputs(runner, c, step);
  }
}

// Plans tensors into two memories: a small one, and an unbounded one for the rest.
TEST_P(Models, GivePyTorchsNumbersInTwoMemories) {
  const ModelCase& c = GetParam();
  exir::ExportRequest request;
  request.methods = {{"forward", c.path()}};
  request.memories = {{"sram", 2048}, {"dram"}};
  const exir::ExportResult exported = exir::export_program(request);
  const std::vector<uint64_t>& sizes = exported.methods[0].plan.buffer_bytes;
  ASSERT_EQ(sizes.size(), 2u);
  EXPECT_LE(sizes[0], 2048u);
  const TemporaryProgram program(exported.files.pte.joined());
  tools::ProgramRunner runner({program.path(), "", ""});
  expect_case(runner, c);
}

// Binds all outputs that the program leaves to the application; returns their memory.
std::vector<std::vector<double>> bind_outputs(tools::ProgramRunner& runner) {
  std::vector<std::vector<double>> buffers(runner.meta().num_outputs());
  for (size_t i = 0; i < buffers.size(); ++i) {
    const Result<TensorInfo> info = runner.meta().output_tensor_meta(i);
    if (!info.ok() || info->is_memory_planned()) continue;
    buffers[i].resize(info->nbytes() / sizeof(double) + 1);
    const Status bound = runner.module().set_output_data(runner.meta().name(), i, buffers[i].data(),
                                                         buffers[i].size() * sizeof(double));
    if (!bound.ok()) buffers[i].clear();  // An input, or an alias of another value.
  }
  return buffers;
}

void bind_nothing(tools::ProgramRunner& runner) {
  for (size_t i = 0; i < runner.meta().num_outputs(); ++i) {
    static_cast<void>(runner.module().set_output_data(runner.meta().name(), i, nullptr, 0));
  }
}

TEST_P(Models, GivePyTorchsNumbersInTheApplicationsBuffers) {
  const ModelCase& c = GetParam();
  std::vector<std::string> backends = {"portable"};
  for (const DeviceDescriptor* each : backend_devices()) backends.emplace_back(each->identity.name);
  for (const std::string& backend : backends) {
    SCOPED_TRACE(backend);
    const TemporaryProgram program(export_bytes(c.path(), backend, exir::IoMemory::kApplication));
    tools::ProgramRunner runner({program.path(), "", ""});
    for (size_t step = 0; step < c.steps; ++step) {
      const std::vector<std::string> names = c.input_paths(step);
      runner.set_inputs(tools::read_all(names), names);
      // The first step writes memory of the module, the others that of the application.
      std::vector<std::vector<double>> bound;
      if (step != 0 || c.steps == 1) bound = bind_outputs(runner);
      runner.execute();
      expect_outputs(runner, c, step);
      for (size_t i = 0; i < runner.meta().num_inputs(); ++i) {
        const Result<TensorInfo> info = runner.meta().input_tensor_meta(i);
        EXPECT_FALSE(info.ok() && info->is_memory_planned()) << "input " << i;
      }
      bind_nothing(runner);
    }
  }
}

TEST_P(Models, AreWrittenTheSameTwice) {
  EXPECT_EQ(export_bytes(GetParam().path()), export_bytes(GetParam().path()));
}

TEST_P(Models, AreWrittenTheSameTwiceForEachBackend) {
  const std::string path = GetParam().path();
  for (const exir::CompilerDescriptor* each : backend_compilers()) {
    const std::string name = each->identity.name;
    EXPECT_EQ(export_bytes(path, name), export_bytes(path, name)) << name;
  }
}

TEST_P(Models, GivePyTorchsNumbersOnEachBackend) {
  const ModelCase& c = GetParam();
  for (const DeviceDescriptor* each : backend_devices()) {
    SCOPED_TRACE(each->identity.name);
    const TemporaryProgram program(export_bytes(c.path(), each->identity.name));
    tools::ProgramRunner runner({program.path(), "", ""});
    expect_case(runner, c);
  }
}

TEST_P(Models, BeginAnewWhenTheirStateIsReset) {
  const ModelCase& c = GetParam();
  if (c.steps == 1) return;
  for (const DeviceDescriptor* each : backend_devices()) {
    SCOPED_TRACE(each->identity.name);
    const TemporaryProgram program(export_bytes(c.path(), each->identity.name));
    tools::ProgramRunner runner({program.path(), "", ""});
    for (const bool again : {false, true}) {
      if (again) {
        ASSERT_TRUE(runner.module().reset_state().ok());
      }
      expect_case(runner, c);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Models, testing::ValuesIn(model_cases()),
                         [](const auto& info) { return info.param.test_name(); });

class OtherVersions : public testing::TestWithParam<ModelCase> {};

TEST_P(OtherVersions, GivePyTorchsNumbers) {
  const ModelCase& c = GetParam();
  const TemporaryProgram program(export_bytes(c.path()));
  tools::ProgramRunner runner({program.path(), "", ""});
  expect_case(runner, c);
}

INSTANTIATE_TEST_SUITE_P(All, OtherVersions, testing::ValuesIn(version_cases()),
                         [](const auto& info) { return info.param.test_name(); });

TEST(ModelIndex, IsThere) {
  EXPECT_GE(model_cases().size(), 50u);
  EXPECT_GE(version_cases().size(), 120u);
}

}  // namespace
}  // namespace taper::test
