// taper/compiler.h: the bytes that the command line writes, problems as JSON, and that no words and
// no bytes crash it.

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <thread>
#include <vector>

#include "exir/export.h"
#include "taper/compiler.h"
#include "taper/program.h"
#include "tools/atomic_file.h"

namespace taper::tools {
namespace {

const std::string kModels = TAPER_SOURCE_DIR "/test/models/data/";

// One compilation, freed at the end.
class Compiled {
 public:
  Compiled(const std::vector<const char*>& words, const std::vector<taper_source>& sources) {
    code_ =
        taper_compile(words.data(), words.size(), sources.data(), sources.size(), &made_, &error_);
  }
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
  ~Compiled() { taper_free_compilation(made_); }

  taper_code code() const { return code_; }
  std::string message() const { return error_.message; }
  std::string report() const { return taper_compilation_report(made_); }
  std::string program() const {
    size_t size = 0;
    const void* data = taper_compiled_program(made_, &size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 16, 0u);
    return {static_cast<const char*>(data), size};
  }
  std::string weights() const {
    size_t size = 0;
    const void* data = taper_compiled_weights(made_, &size);
    return {static_cast<const char*>(data), size};
  }

 private:
  taper_code code_ = TAPER_INTERNAL;
  taper_compilation* made_ = nullptr;
  taper_error error_ = {};
};

// Expects a refusal with a code and, in the message and the report, a text.
void expect_refused(const Compiled& made, taper_code code, const std::string& part) {
  EXPECT_EQ(made.code(), code) << made.message();
  EXPECT_NE(made.message().find(part), std::string::npos) << made.message();
  EXPECT_NE(made.report().find("{\"ok\":false,\"error\":\""), std::string::npos);
  EXPECT_NE(made.report().find(part), std::string::npos) << made.report();
  EXPECT_TRUE(made.program().empty());
}

std::string bytes_by_path(const std::string& path) {
  exir::ExportRequest request;
  request.methods = {{"forward", path}};
  request.debug = exir::DebugLevel::kIfSmall;
  return exir::export_program(request).files.pte.joined();
}

TEST(CompilerApi, GivesTheSameBytesFromMemoryAsFromAFile) {
  for (const std::string name : {"add", "bert_mini", "choices", "cond_twice", "complex"}) {
    const std::string path = kModels + name + ".pt2", file = read_file(path);
    const Compiled made({}, {{"forward", file.data(), file.size()}});
    ASSERT_EQ(made.code(), TAPER_OK) << name << ": " << made.message();
    EXPECT_EQ(made.program(), bytes_by_path(path)) << name;
    EXPECT_NE(made.report().find("{\"ok\":true"), std::string::npos);
    const Compiled by_path({path.c_str()}, {});
    ASSERT_EQ(by_path.code(), TAPER_OK) << by_path.message();
    EXPECT_EQ(by_path.program(), made.program()) << name;
  }
}

TEST(CompilerApi, TakesSeveralSourcesAndOptions) {
  const std::string add = read_file(kModels + "add.pt2"),
                    bert = read_file(kModels + "bert_mini.pt2");
  const std::string named = "third=" + kModels + "complex.pt2";
  const Compiled made({"--io", "application", named.c_str(), "--external-weights"},
                      {{"sum", add.data(), add.size()}, {"encode", bert.data(), bert.size()}});
  ASSERT_EQ(made.code(), TAPER_OK) << made.message();
  EXPECT_GT(made.weights().size(), made.program().size());
  for (const char* part : {"\"name\":\"sum\"", "\"name\":\"encode\"", "\"name\":\"third\"",
                           "\"planned_bytes\":", "\"backend\":\"portable\"", "method sum: "}) {
    EXPECT_NE(made.report().find(part), std::string::npos) << part;
  }
  size_t size = 0;
  taper_compilation* again = nullptr;
  const taper_source source = {"sum", add.data(), add.size()};
  const char* const word = "--io=application";
  ASSERT_EQ(taper_compile(&word, 1, &source, 1, &again, nullptr), TAPER_OK);
  const void* const data = taper_compiled_program(again, &size);
  BufferDataLoader loader(data, size);
  const Result<Program> program = Program::open(loader);
  ASSERT_TRUE(program.ok()) << program.status().message();
  const MethodMeta meta = *program->method_meta("sum");
  EXPECT_FALSE(meta.input_tensor_meta(0)->is_memory_planned());
  EXPECT_FALSE(meta.output_tensor_meta(0)->is_memory_planned());
  taper_free_compilation(again);
}

TEST(CompilerApi, RefusesWordsAsTheCommandLineDoes) {
  const std::string add = read_file(kModels + "add.pt2");
  const std::vector<taper_source> sources = {{"forward", add.data(), add.size()}};
  const struct {
    std::vector<const char*> words;
    const char* part;
  } cases[] = {
      {{"--no-such"}, "no-such"},
      {{"--output", "x.pte"}, "output"},  // Writes a file, and belongs to the command line.
      {{"--dump-after=all"}, "dump-after"},
      {{"--help"}, "--help belongs to the command line"},
      {{"-h"}, "--help belongs to the command line"},
      {{"--backend"}, "backend"},
      {{"--backend", "no_such"}, "no_such"},
      {{"--io=elsewhere"}, "--io must be planned or application, not 'elsewhere'"},
      {{"--precision=f8"}, "--precision must be f32, f16 or bf16"},
      {{"--bound", "s0"}, "'s0' is not SYMBOL=N"},
      {{"--bound", "s0="}, "'s0=' is not SYMBOL=N"},
      {{"--disable-pass", "none"}, "'none' is not a pass"},
      {{nullptr}, "words[0] is a null pointer"},
      {{"--memory", "=1"}, "--memory"},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.part);
    testing::internal::CaptureStdout();
    const Compiled made(each.words, sources);
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
    expect_refused(made, TAPER_INVALID_ARGUMENT, each.part);
  }
  expect_refused(Compiled({"--ops=/nonexistent/ops.txt"}, sources), TAPER_ACCESS_FAILED,
                 "/nonexistent/ops.txt");
  expect_refused(Compiled({"more=/nonexistent/x.pt2"}, sources), TAPER_INVALID_PROGRAM,
                 "/nonexistent/x.pt2");
  expect_refused(Compiled({"--bound=nonsense=4"}, sources), TAPER_INVALID_PROGRAM,
                 "'nonsense', which is no symbolic size of the program; it has none");
  expect_refused(Compiled({"--memory-budget=64"}, sources), TAPER_INVALID_PROGRAM,
                 "the budget is 64");
}

TEST(CompilerApi, TakesTheModelThatItAsksFor) {
  const std::string two = read_file(TAPER_SOURCE_DIR "/test/cli/data/two_models.pt2");
  const std::vector<taper_source> sources = {{"forward", two.data(), two.size()}};
  expect_refused(Compiled({}, sources), TAPER_INVALID_PROGRAM, "name one with --model");
  EXPECT_EQ(Compiled({"--model", "twice"}, sources).code(), TAPER_OK);
  EXPECT_NE(Compiled({"--model", "all"}, sources).report().find("\"name\":\"half\""),
            std::string::npos);
}

TEST(CompilerApi, RefusesBadSources) {
  const std::string add = read_file(kModels + "add.pt2");
  const taper_source good = {"forward", add.data(), add.size()};
  expect_refused(Compiled({}, {}), TAPER_INVALID_ARGUMENT, "no file given");
  expect_refused(Compiled({}, {{nullptr, add.data(), add.size()}}), TAPER_INVALID_ARGUMENT,
                 "sources[0]: the method has no name");
  expect_refused(Compiled({}, {good, {"b", nullptr, 8}}), TAPER_INVALID_ARGUMENT,
                 "sources[1], 'b', has no bytes");
  expect_refused(Compiled({}, {good, good}), TAPER_INVALID_ARGUMENT,
                 "two methods are called 'forward'");
  expect_refused(Compiled({}, {{"forward", "no archive", 10}}), TAPER_INVALID_PROGRAM, "forward: ");
  taper_error error;
  EXPECT_EQ(taper_compile(nullptr, 0, &good, 1, nullptr, &error), TAPER_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "result is a null pointer");
  EXPECT_STREQ(error.site, "taper_compile");
  taper_compilation* made = nullptr;
  EXPECT_EQ(taper_compile(nullptr, 1, &good, 1, &made, &error), TAPER_INVALID_ARGUMENT);
  taper_free_compilation(made);
  EXPECT_EQ(taper_compile(nullptr, 0, nullptr, 1, &made, &error), TAPER_INVALID_ARGUMENT);
  taper_free_compilation(made);
  size_t size = 7;
  EXPECT_EQ(taper_compiled_program(nullptr, &size), nullptr);
  EXPECT_EQ(size, 0u);
  EXPECT_EQ(taper_compiled_weights(nullptr, nullptr), nullptr);
  EXPECT_STREQ(taper_compilation_report(nullptr), "{}");
  taper_free_compilation(nullptr);
}

// Every prefix at which a part of the archive ends, and bytes changed at random places.
TEST(CompilerApi, SurvivesDamagedArchives) {
  std::mt19937 random(7);
  size_t refused = 0;
  for (const std::string name : {"add", "cond_twice"}) {
    const std::string file = read_file(kModels + name + ".pt2");
    for (int i = 0; i < 300; ++i) {
      std::vector<char> mutant(file.begin(), file.end());
      if (i % 3 == 0) mutant.resize(1 + random() % (mutant.size() - 1));
      for (int k = 0; k < 1 + i % 5; ++k) {
        mutant[random() % mutant.size()] = static_cast<char>(random());
      }
      const Compiled made({}, {{"forward", mutant.data(), mutant.size()}});
      EXPECT_TRUE(made.code() == TAPER_OK || made.code() == TAPER_INVALID_PROGRAM)
          << made.message();
      refused += made.code() != TAPER_OK;
    }
  }
  EXPECT_GT(refused, 100u);
}

TEST(CompilerApi, CompilesOnSeveralThreadsAtOnce) {
  const std::string path = kModels + "bert_mini.pt2", file = read_file(path);
  const std::string wanted = bytes_by_path(path);
  std::vector<std::thread> threads;
  std::vector<int> same(4);
  for (size_t i = 0; i < same.size(); ++i) {
    threads.emplace_back([&, i] {
      const Compiled made({}, {{"forward", file.data(), file.size()}});
      same[i] = made.program() == wanted;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(same, std::vector<int>(4, 1));
}

}  // namespace
}  // namespace taper::tools
