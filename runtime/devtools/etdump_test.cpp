// ETDump: what ExecuTorch's runtime wrote, what is written and read again, and damaged files.

#include "taper/etdump.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "schema/etdump_generated.h"
#include "test/support/loaded_method.h"

namespace taper {
namespace {

using Bytes = std::vector<uint8_t>;

Result<EtDump> parse(const Bytes& file) { return read_etdump({file.data(), file.size()}); }

Bytes from_executorch(const char* name) {
  std::ifstream in(std::string(TAPER_SOURCE_DIR) + "/test/compat/data/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> names_of(const EtBlock& block) {
  std::vector<std::string> names;
  for (const EtEvent& event : block.events) names.push_back(event.name);
  return names;
}

// The names are those that ExecuTorch's Inspector prints for this file.
TEST(EtDump, ReadsWhatExecuTorchWrote) {
  const Result<EtDump> dump = parse(from_executorch("mlp.etdp"));
  ASSERT_TRUE(dump.ok()) << dump.status().message();
  ASSERT_EQ(dump->blocks.size(), 4u);  // Three runs.
  EXPECT_EQ(dump->blocks[0].name, kEtLoading);
  EXPECT_EQ(names_of(dump->blocks[0]),
            (std::vector<std::string>{"Method::init", "Program::load_method"}));
  const EtBlock& run = dump->blocks[3];
  EXPECT_EQ(run.name, kEtRun);
  EXPECT_EQ(run.bundled_input, -1);
  std::vector<std::string> kernels;
  for (const EtEvent& event : run.events) {
    EXPECT_LE(event.begin, event.end);
    if (event.name.rfind(kEtKernel, 0) == 0) kernels.push_back(event.name.substr(12));
  }
  EXPECT_EQ(kernels, (std::vector<std::string>{
                         "permute_copy.out", "addmm.out", "relu.out", "permute_copy.out",
                         "addmm.out", "_to_dim_order_copy.out", "add.out", "_softmax.out"}));
  EXPECT_EQ(run.events.back().name, kEtExecute);
  EXPECT_EQ(run.events.back().chain, -1);
}

TEST(EtDump, ReadsStepsOfDelegates) {
  const Result<EtDump> dump = parse(from_executorch("mlp_delegate.etdp"));
  ASSERT_TRUE(dump.ok()) << dump.status().message();
  std::vector<std::string> steps;
  for (const EtEvent& event : dump->blocks.back().events) {
    if (!event.delegate_name.empty()) steps.push_back(event.delegate_name);
  }
  EXPECT_EQ(steps, (std::vector<std::string>{"Fully Connected (NC, F32) GEMM #1",
                                             "Fully Connected (NC, F32) GEMM #2", "Add (ND) #1",
                                             "Softmax (NC, F32) #1"}));
}

EtDump sample() {
  EtDump dump;
  EtBlock& block = dump.blocks.emplace_back();
  block.name = kEtRun;
  block.bundled_input = 2;
  block.events = {{"native_call_add.out", 0, 3, -1, "", 10, 30},
                  {"convolution", 0, 4, -1, "conv2d", 40, 50},
                  {"by number", 0, 4, 7, "", 50, UINT64_MAX},
                  {kEtExecute, -1, 0, -1, "", 5, 60}};
  dump.blocks.emplace_back().name = "empty";
  return dump;
}

TEST(EtDump, ReadsWhatItWrote) {
  const Bytes file = write_etdump(sample());
  uint32_t length = 0;  // The layout that ExecuTorch's readers expect.
  std::memcpy(&length, file.data(), 4);
  EXPECT_EQ(length, file.size() - 4);
  EXPECT_EQ(std::memcmp(&file[8], "ED00", 4), 0);
  const Result<EtDump> read = parse(file);
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_EQ(read->blocks.size(), 2u);
  const EtDump wanted = sample();
  EXPECT_EQ(read->blocks[0].bundled_input, 2);
  ASSERT_EQ(read->blocks[0].events.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    const EtEvent &a = wanted.blocks[0].events[i], &b = read->blocks[0].events[i];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.chain, b.chain);
    EXPECT_EQ(a.instruction, b.instruction);
    EXPECT_EQ(a.delegate_number, b.delegate_number);
    EXPECT_EQ(a.delegate_name, b.delegate_name);
    EXPECT_EQ(a.begin, b.begin);
    EXPECT_EQ(a.end, b.end);
  }
  EXPECT_TRUE(read->blocks[1].events.empty());
}

std::string problem(const Bytes& file) {
  const Result<EtDump> read = parse(file);
  return read.ok() ? "" : read.status().message();
}

TEST(EtDump, RefusesDamage) {
  const Bytes good = write_etdump(sample());
  EXPECT_EQ(problem({}), "this is not a trace (ETDump ED00)");
  for (size_t size = 12; size < good.size(); ++size) {
    EXPECT_EQ(problem({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)}),
              "the trace is cut: its length is not that which it states");
  }
  Bytes bad = good;
  bad[11] = '1';
  EXPECT_EQ(problem(bad), "this is not a trace (ETDump ED00)");
  bad = good;
  bad[4] = 0xff;  // Where the root table is.
  EXPECT_EQ(problem(bad), "the trace is damaged");
  EtDump backwards = sample();
  backwards.blocks[0].events[0].end = 9;
  EXPECT_EQ(problem(write_etdump(backwards)), "the trace has an event that ends before it begins");
  flatbuffers::FlatBufferBuilder later;
  wire::etdump::FinishSizePrefixedETDumpBuffer(later, wire::etdump::CreateETDump(later, 1));
  EXPECT_EQ(problem({later.GetBufferPointer(), later.GetBufferPointer() + later.GetSize()}),
            "the trace is of another version");
  EtDump shared;  // A file of 80 KB that states 500 names of 64 KB.
  shared.blocks.emplace_back().events.assign(500, {std::string(65536, 'x'), 0, 0, -1, "", 0, 0});
  EXPECT_EQ(problem(write_etdump(shared)), "the names in the trace are too long for its size");
}

// One call of a backend that tells of two steps is hard to come by here; tools and test/compat have
// them. The instructions and their names:
TEST(EtRecorder, NamesInstructionsAsExecuTorchDoes) {
  test::ProgramBuilder builder;
  test::MethodSpec& m = builder.method("forward");
  const int x = m.tensor({.sizes = {{2}}}), y = m.tensor({.sizes = {{2}}, .memory_id = 1});
  m.buffer_sizes = {0, 16};
  m.inputs = {x};
  m.outputs = {y};
  m.jump_false(m.boolean(true), 1);
  m.call("test::add", "out", {x, x, y, y});
  test::LoadedMethod loaded(builder);
  ASSERT_TRUE(loaded.status().ok()) << loaded.status().message();
  test::FloatTensor input({2}, {1, 2});
  ASSERT_TRUE(loaded->set_input(0, input.value()).ok());
  EtRecorder recorder;
  const uint64_t start = recorder.now();
  recorder.add_loading(start, recorder.now());
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(loaded->execute(recorder).ok());
    recorder.finish_run(loaded.method(), run);
  }
  const Result<EtDump> read = parse(write_etdump(recorder.dump()));
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_EQ(read->blocks.size(), 3u);
  for (size_t run = 0; run < 2; ++run) {
    const EtBlock& block = read->blocks[run + 1];
    EXPECT_EQ(block.bundled_input, static_cast<int32_t>(run));
    EXPECT_EQ(names_of(block),
              (std::vector<std::string>{"MOVE_OR_JUMP", "native_call_add.out", "Method::execute"}));
    EXPECT_EQ(block.events[1].instruction, 1);
    EXPECT_GE(block.events[1].begin, read->blocks[0].events[0].end);
  }
}

TEST(EtRecorder, PutsStepsIntoTheirCall) {
  EtRecorder recorder;
  recorder.add({nullptr, 0, "late", "", "", 1});  // Nothing runs.
  test::ProgramBuilder builder;
  test::MethodSpec& m = builder.method("forward");
  m.jump_false(m.boolean(true), 1);
  m.jump_false(m.boolean(true), 2);
  test::LoadedMethod loaded(builder);
  ASSERT_TRUE(loaded.status().ok()) << loaded.status().message();
  recorder.begin(0, 0);
  recorder.begin(0, 1);
  recorder.add({nullptr, 0, "add", "", "", 0.25});
  recorder.add({nullptr, 1, "add", "", "", 0.5});
  recorder.add({nullptr, 2, "mul", "", "", 0.5, 2});
  recorder.end();
  recorder.finish_run(loaded.method());
  const EtBlock& block = recorder.dump().blocks.at(0);
  ASSERT_EQ(block.events.size(), 6u);
  const uint64_t call = block.events[1].begin;
  EXPECT_EQ(block.events[2].delegate_name, "add");
  EXPECT_EQ(block.events[2].begin, call);
  EXPECT_EQ(block.events[3].delegate_name, "add #2");  // Behind the one before it.
  EXPECT_EQ(block.events[3].begin, call + 250'000'000);
  EXPECT_EQ(block.events[3].end, call + 750'000'000);
  EXPECT_EQ(block.events[4].begin, call + 2'000'000'000);
  EXPECT_EQ(block.events[4].instruction, 1);
}

}  // namespace
}  // namespace taper
