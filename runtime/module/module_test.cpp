// Module: running by path, error texts, memory limits, shared state and external weights.

#include "taper/module.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "test/support/guarded_program.h"
#include "test/support/program_builder.h"
#include "test/support/test_kernels.h"

namespace taper {
namespace {

using test::Bytes;
using test::MethodSpec;
using test::ProgramBuilder;
using test::PtdBuilder;
using Floats = std::vector<float>;

// A file that exists as long as this object.
class TempFile {
 public:
  TempFile(const std::string& name, const Bytes& bytes) : path_(testing::TempDir() + name) {
    std::ofstream out(path_, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
  }
  ~TempFile() { std::filesystem::remove(path_); }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

ModuleOptions with_test_kernels() {
  ModuleOptions options;
  options.kernels = test::test_tables();
  return options;
}

Floats floats(const EValue& value) {
  const Tensor& tensor = value.to_tensor();
  return {tensor.const_data_ptr<float>(), tensor.const_data_ptr<float>() + tensor.numel()};
}

// y = a + b with a number that export fixed between them.
Bytes add_program(const char* op = "test::add") {
  ProgramBuilder builder;
  MethodSpec& m = builder.method("forward");
  const int a = m.tensor({.sizes = {{2}}});
  const int b = m.tensor({.sizes = {{2}}});
  const int y = m.tensor({.sizes = {{2}}, .memory_id = 1});
  m.buffer_sizes = {0, 8};
  m.inputs = {a, m.integer(3), b};
  m.outputs = {y};
  m.call(op, "out", {a, b, y, y});
  return builder.finish();
}

class Modules : public testing::TestWithParam<LoadMode> {};

TEST_P(Modules, TakeAPathAndTensors) {
  const TempFile file("taper_module_test.pte", add_program());
  ModuleOptions options = with_test_kernels();
  options.load_mode = GetParam();
  Module module(file.path(), options);
  OwnedTensor a(ScalarType::kFloat, {2}), b(ScalarType::kFloat, {2});
  a.data_as<float>()[1] = 5;
  b.data_as<float>()[1] = 6;
  const EValue all[] = {EValue(a.tensor()), EValue(int64_t{3}), EValue(b.tensor())};
  Result<std::vector<EValue>> outputs = module.forward(all);
  ASSERT_TRUE(outputs.ok()) << module.last_error_text();
  EXPECT_EQ(floats(outputs->at(0)), (Floats{0, 11}));
  // Passing only the tensors is enough.
  EXPECT_TRUE(module.forward({EValue(a.tensor()), EValue(b.tensor())}).ok());
  EXPECT_EQ(module.forward({EValue(a.tensor())}).error(), Error::kInvalidArgument);
  EXPECT_EQ(module.method_names(), (std::vector<std::string>{"forward"}));
  EXPECT_TRUE(module.is_method_loaded("forward"));
  module.unload_method("forward");
  EXPECT_FALSE(module.is_method_loaded("forward"));
}

INSTANTIATE_TEST_SUITE_P(LoadModes, Modules, testing::Values(LoadMode::kMmap, LoadMode::kFile));

TEST(ModuleErrors, AreNamed) {
  Module missing("/no/such/file.pte");
  EXPECT_EQ(missing.load().error(), Error::kNotFound);
  EXPECT_NE(missing.last_error_text().find("/no/such/file.pte"), std::string::npos);

  const Bytes unknown = add_program("aten::nonsense");
  Module kernels(unknown, with_test_kernels());
  EXPECT_EQ(kernels.load_method("forward").error(), Error::kOperatorMissing);
  EXPECT_NE(kernels.last_error_text().find("aten::nonsense.out"), std::string::npos)
      << kernels.last_error_text();

  const Bytes good = add_program();
  Module method(good, with_test_kernels());
  EXPECT_EQ(method.load_method("backward").error(), Error::kNotFound);
  EXPECT_NE(method.last_error_text().find("backward"), std::string::npos);
  OwnedTensor wrong(ScalarType::kFloat, {3});
  EXPECT_EQ(method.forward({EValue(wrong.tensor()), EValue(wrong.tensor())}).error(),
            Error::kInvalidArgument);
  EXPECT_NE(method.last_error_text().find("input 0"), std::string::npos);
}

TEST(ModuleErrors, ABrokenConditionIsAnErrorAndAGoodCallFollows) {
  const Bytes bytes = test::guarded_program();
  Module module(bytes, with_test_kernels());
  OwnedTensor three(ScalarType::kFloat, {3}), two(ScalarType::kFloat, {2});
  two.data_as<float>()[1] = 5;
  for (int attempt = 0; attempt < 2; ++attempt) {
    EXPECT_EQ(module.forward({EValue(three.tensor())}).error(), Error::kInvalidArgument);
    EXPECT_EQ(module.last_error_text(),
              "the condition does not hold: fewer than 3 rows (method forward, instruction 2)");
    const auto outputs = module.forward({EValue(two.tensor())});
    ASSERT_TRUE(outputs.ok()) << module.last_error_text();
    EXPECT_EQ(floats(outputs->at(0)), (Floats{0, 10}));
  }
}

TEST(ModuleErrors, ABadFileStaysClosed) {
  Bytes bytes = add_program();
  bytes[4] = 'X';
  Module module(bytes, with_test_kernels());
  EXPECT_EQ(module.load().error(), Error::kInvalidProgram);
  EXPECT_EQ(module.load().error(), Error::kInvalidProgram);
  EXPECT_EQ(module.program(), nullptr);
  EXPECT_TRUE(module.method_names().empty());
  EXPECT_EQ(module.reset_state().error(), Error::kOk);
  EXPECT_EQ(Module(Span<const uint8_t>()).load().error(), Error::kInvalidProgram);
}

TEST(ModuleErrors, MemoryBeyondTheLimitIsRefused) {
  ProgramBuilder builder;
  builder.method("forward").buffer_sizes = {0, int64_t{1} << 60};
  const Bytes bytes = builder.finish();
  const bool has_addresses = sizeof(size_t) == sizeof(int64_t);
  EXPECT_EQ(Module(bytes, with_test_kernels()).load_method("forward").error(),
            has_addresses ? Error::kMemoryAllocationFailed : Error::kInvalidProgram);
  const Bytes small = add_program();
  ModuleOptions options = with_test_kernels();
  options.max_memory_bytes = 100;
  EXPECT_EQ(Module(small, options).load_method("forward").error(), Error::kMemoryAllocationFailed);
}

// Two methods over one state in planned buffer 2: "write" adds, "read" shows.
Bytes shared_state_program() {
  ProgramBuilder builder;
  const uint32_t saved = builder.mutable_data(test::bytes_of(Floats{1}));
  const uint32_t one = builder.constant(test::bytes_of(Floats{1}));
  for (const char* name : {"write", "read"}) {
    MethodSpec& m = builder.method(name);
    const int state = m.tensor({.sizes = {{1}}, .data_buffer_idx = saved, .memory_id = 2});
    const int step = m.tensor({.sizes = {{1}}, .data_buffer_idx = one});
    m.buffer_sizes = {0, 0, 4};
    m.outputs = {state};
    if (m.name == "write") m.call("test::add", "out", {state, step, state, state});
  }
  return builder.finish();
}

TEST(ModuleState, IsSharedBetweenMethodsOnRequest) {
  const Bytes bytes = shared_state_program();
  for (const bool shared : {true, false}) {
    ModuleOptions options = with_test_kernels();
    options.share_mutable_buffers = shared;
    Module module(bytes, options);
    ASSERT_TRUE(module.execute("write", {}).ok()) << module.last_error_text();
    ASSERT_TRUE(module.execute("write", {}).ok());
    EXPECT_EQ(floats(module.execute("read", {})->at(0)), Floats{shared ? 3.0f : 1.0f});
    ASSERT_TRUE(module.reset_state().ok());
    EXPECT_EQ(floats(module.execute("write", {})->at(0)), Floats{2});
  }
}

// Hands out pieces of its own memory, and counts those that are not given back.
struct Pieces {
  alignas(16) uint8_t bytes[4096] = {};
  size_t used = 0, odd = 0;
  std::map<uint32_t, size_t> held;

  MemorySource source() {
    return {[](void* context, uint32_t id, size_t size) -> void* {
              Pieces& self = *static_cast<Pieces*>(context);
              if (self.used + size > sizeof(self.bytes)) return nullptr;
              uint8_t* const piece = self.bytes + self.used + self.odd;
              std::memset(piece, 0xff, size);  // Not zeroed.
              self.used += (size + 15) / 16 * 16;
              self.held[id] = size;
              return piece;
            },
            [](void* context, uint32_t id, void*, size_t size) {
              Pieces& self = *static_cast<Pieces*>(context);
              EXPECT_EQ(self.held[id], size);
              self.held.erase(id);
            },
            this};
  }
};

TEST(ModuleMemory, LiesWhereTheApplicationWantsIt) {
  const Bytes bytes = shared_state_program();
  Pieces pieces;
  ModuleOptions options = with_test_kernels();
  options.memory = pieces.source();
  {
    Module module(bytes, options);
    const auto outputs = module.execute("write", {});
    ASSERT_TRUE(outputs.ok()) << module.last_error_text();
    EXPECT_EQ(floats(outputs->at(0)), Floats{2});
    EXPECT_EQ(pieces.held.at(0), module.method_meta("write")->method_bytes());
    EXPECT_EQ(pieces.held.at(2), 4u);
    EXPECT_EQ(pieces.held.count(1), 0u) << "it is empty";
    const auto* data = outputs->at(0).to_tensor().const_data_ptr<uint8_t>();
    EXPECT_TRUE(data >= pieces.bytes && data < pieces.bytes + sizeof(pieces.bytes));
  }
  EXPECT_TRUE(pieces.held.empty()) << "all is given back";
  pieces.used = sizeof(pieces.bytes) - 16;
  EXPECT_EQ(Module(bytes, options).load_method("write").error(), Error::kMemoryAllocationFailed);
  pieces.used = 0;
  pieces.odd = 4;
  EXPECT_EQ(Module(bytes, options).load_method("write").error(), Error::kInvalidArgument);
  EXPECT_TRUE(pieces.held.empty());
}

TEST(ModuleData, ExternalWeightsComeFromTheDataPath) {
  ProgramBuilder builder;
  MethodSpec& m = builder.method("forward");
  m.outputs = {m.tensor({.sizes = {{2}}, .name = "weight", .location = 1})};
  PtdBuilder ptd;
  ptd.tensor("weight", {2}, {3, 4});
  const TempFile data("taper_module_test.ptd", ptd.finish());
  const Bytes program = builder.finish();
  ModuleOptions options = with_test_kernels();
  options.data_path = data.path();
  Module module(program, options);
  Result<std::vector<EValue>> outputs = module.forward({});
  ASSERT_TRUE(outputs.ok()) << module.last_error_text();
  EXPECT_EQ(floats(outputs->at(0)), (Floats{3, 4}));

  Module without(program, with_test_kernels());
  EXPECT_EQ(without.load_method("forward").error(), Error::kNotFound);
  EXPECT_NE(without.last_error_text().find("weight"), std::string::npos);
}

// Accepts files of a certain size.
struct OfSize {
  size_t wanted = 0;
  std::vector<size_t> seen = {};

  static Status check(void* self, Span<const uint8_t> file) {
    OfSize& asked = *static_cast<OfSize*>(self);
    asked.seen.push_back(file.size());
    return file.size() == asked.wanted ? Status() : Status(Error::kAccessFailed, "wrong size");
  }
};

TEST(ModuleCheck, SeesEveryFileBeforeItIsUsed) {
  ProgramBuilder builder;
  builder.method("forward");
  const Bytes program = builder.finish(), wrong(program.size() + 1, 0);
  PtdBuilder ptd;
  const Bytes data = ptd.finish();
  const TempFile good("taper_check_test.pte", program), bad("taper_check_test.bad", wrong),
      weights("taper_check_test.ptd", data);
  OfSize check = {program.size()};
  ModuleOptions options = with_test_kernels();
  options.check = {&OfSize::check, &check};
  Module accepted(good.path(), options);
  EXPECT_TRUE(accepted.load_method("forward").ok()) << accepted.last_error_text();
  EXPECT_TRUE(Module(program, options).load().ok());
  // A file that is no program is refused for what the check says.
  Module refused(bad.path(), options);
  EXPECT_EQ(refused.load().error(), Error::kAccessFailed);
  EXPECT_EQ(refused.last_error_text(), "wrong size: " + bad.path());
  EXPECT_EQ(Module(wrong, options).load().error(), Error::kAccessFailed);
  options.data_path = weights.path();
  EXPECT_EQ(Module(good.path(), options).load().error(), Error::kAccessFailed);
  EXPECT_EQ(check.seen, (std::vector<size_t>{program.size(), program.size(), wrong.size(),
                                             wrong.size(), program.size(), data.size()}));
}

}  // namespace
}  // namespace taper
