// Emission: shared constants are written once, weights go outside on request, bytes are
// reproducible.

#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "exir/emit/program_file.h"
#include "exir/emit/pytree_text.h"
#include "exir/ops/builtin.h"
#include "exir/passes/convert/to_out_variants.h"
#include "taper/data_loader.h"
#include "taper/external_data.h"
#include "taper/program.h"

namespace taper::exir {
namespace {

struct Planned {
  std::unique_ptr<Graph> graph;
  PlannedMethod method;
};

Planned plan(const std::string& name, const std::string& body) {
  Planned out;
  out.graph = parse_graph("graph \"" + name + "\" {\n" + body + "\n}");
  to_out_variants(*out.graph, [](std::string_view, const Node&) { return true; });
  out.method.name = name;
  out.method.graph = out.graph.get();
  out.method.schedule = make_schedule(*out.graph);
  out.method.storages = assign_storages(*out.graph, out.method.schedule);
  out.method.plan = plan_memory(out.method.storages.rows, 16);
  return out;
}

constexpr const char* kScaled = R"(  input %x: float32[3]
  constant %w: float32[3] "w" = {1, 2, 3}
  constant %v: float32[3] "v" = {1, 2, 3}
  %a: float32[3] = aten::mul.Tensor(%x, %w)
  %b: float32[3] = aten::add.Tensor(%a, %v, 1)
  return %b)";

TEST(Emit, ProgramsOpenInTheRuntime) {
  const Planned forward = plan("forward", kScaled), other = plan("encode", kScaled);
  const std::string bytes = emit_program({&forward.method, &other.method}, {}).pte.joined();
  alignas(16) static uint8_t aligned[1 << 16];
  ASSERT_LT(bytes.size(), sizeof aligned);
  std::copy(bytes.begin(), bytes.end(), aligned);
  BufferDataLoader loader(aligned, bytes.size());
  Result<Program> program = Program::open(loader);
  ASSERT_TRUE(program.ok()) << program.status().message();
  ASSERT_EQ(program->num_methods(), 2u);
  EXPECT_EQ(program->method_name(0), "encode");
  EXPECT_EQ(program->method_name(1), "forward");
}

// The table of embeddings is also the weight that a delegate asks for.
TEST(Emit, DataOfDelegatesThatAreConstantsAreWrittenOnce) {
  const Planned scaled = plan("forward", kScaled);
  const TensorData once = own_bytes(std::vector<uint8_t>(4096, 7));
  scaled.graph->constants[0]->data = once;
  scaled.graph->constants[0]->type.sizes = {Sym(1024)};
  const size_t alone = emit_program({&scaled.method}, {}).pte.joined().size();
  auto delegate = std::make_shared<Delegate>();
  delegate->id = "Backend";
  delegate->data = {{"table", once}, {"other", own_bytes(std::vector<uint8_t>(4096, 8))}};
  scaled.graph->delegates.push_back(delegate);
  const std::string bytes = emit_program({&scaled.method}, {}).pte.joined();
  EXPECT_LT(bytes.size(), alone + 4096 + 1024);
  alignas(16) static uint8_t aligned[1 << 16];
  std::copy(bytes.begin(), bytes.end(), aligned);
  BufferDataLoader loader(aligned, bytes.size());
  const Result<Program> program = Program::open(loader);
  ASSERT_TRUE(program.ok()) << program.status().message();
  for (const Delegate::Data& data : delegate->data) {
    const Result<Span<const uint8_t>> read = program->named_data(data.name);
    ASSERT_TRUE(read.ok()) << read.status().message();
    ASSERT_EQ(read->size(), data.bytes.bytes);
    EXPECT_EQ(std::memcmp(read->data(), data.bytes.data, read->size()), 0) << data.name;
  }
}

TEST(Emit, NumbersStartAsTheirSamples) {
  const Planned scaled = plan("forward", R"(  range s0 = [0, 9]
  input %x: float32[3]
  input %n: int(s0)
  input %m: int(3)
  input 7
  %y: float32[3] = aten::mul.Scalar(%x, %n)
  %z: float32[3] = aten::mul.Scalar(%y, 7)
  return %z)");
  scaled.graph->hints = {{"s0", 4}};
  const std::string bytes = emit_program({&scaled.method}, {}).pte.joined();
  alignas(16) static uint8_t aligned[1 << 16];
  ASSERT_LT(bytes.size(), sizeof aligned);
  std::copy(bytes.begin(), bytes.end(), aligned);
  BufferDataLoader loader(aligned, bytes.size());
  Result<Program> program = Program::open(loader);
  ASSERT_TRUE(program.ok()) << program.status().message();
  const MethodMeta meta = *program->method_meta("forward");
  EXPECT_EQ(meta.input_value(1)->to_int(), 4);
  EXPECT_EQ(meta.input_value(2)->to_int(), 3);
  EXPECT_EQ(meta.input_value(3)->to_int(), 7);
  // What export fixed no instruction reads: the factor 7 is another value.
  const wire::ExecutionPlan& method = *wire::GetProgram(aligned)->execution_plan()->Get(0);
  std::set<int32_t> read;
  for (const wire::Instruction* step : *method.chains()->Get(0)->instructions()) {
    const auto& args = *step->instr_args_as_KernelCall()->args();
    read.insert(args.begin(), args.end());
  }
  EXPECT_EQ(read.count(method.inputs()->Get(1)), 1u);
  EXPECT_EQ(read.count(method.inputs()->Get(2)), 0u);
  EXPECT_EQ(read.count(method.inputs()->Get(3)), 0u);
}

TEST(Emit, EqualConstantsAreStoredOnceAcrossMethods) {
  const Planned one = plan("a", kScaled), two = plan("b", kScaled);
  const uint64_t single = emit_program({&one.method}, {}).pte.size();
  const uint64_t both = emit_program({&one.method, &two.method}, {}).pte.size();
  EXPECT_LT(both, 2 * single);
  ConstantPool pool;
  EXPECT_EQ(pool.add(own_bytes({1, 2, 3})), 1u);
  EXPECT_EQ(pool.add(own_bytes({1, 2, 4})), 2u);
  EXPECT_EQ(pool.add(own_bytes({1, 2, 3})), 1u);
}

TEST(Emit, TheSameProgramGivesTheSameBytes) {
  const Planned one = plan("forward", kScaled), two = plan("forward", kScaled);
  EXPECT_EQ(emit_program({&one.method}, {true}).ptd.joined(),
            emit_program({&two.method}, {true}).ptd.joined());
  EXPECT_EQ(emit_program({&one.method}, {}).pte.joined(),
            emit_program({&two.method}, {}).pte.joined());
}

// Every weight may be part of a delegate's payload.
TEST(Emit, AWeightFileWithoutWeightsOpensInTheRuntime) {
  const Planned square = plan("forward", R"(  input %x: float32[3]
  %y: float32[3] = aten::mul.Tensor(%x, %x)
  return %y)");
  const FileInMemory file = emit_program({&square.method}, {true}).ptd.aligned();
  BufferDataLoader loader(file.data(), file.size());
  const Result<ExternalData> weights = ExternalData::open(loader);
  ASSERT_TRUE(weights.ok()) << weights.status().message();
  EXPECT_EQ(weights->num_keys(), 0u);
}

TEST(ExternalWeights, KeysAreUniqueToTheirContent) {
  ExternalWeights weights;
  const TensorType type(ScalarType::kByte, {2});
  EXPECT_EQ(weights.add("w", type, own_bytes({1, 2})), "w");
  EXPECT_EQ(weights.add("w", type, own_bytes({1, 2})), "w");
  EXPECT_NE(weights.add("w", type, own_bytes({3, 4})), "w");
  EXPECT_NE(weights.add("", type, own_bytes({5, 6})), "");
  EXPECT_EQ(weights.sorted().size(), 3u);
}

TEST(PytreeText, WritesContainersWithTheirLeafCounts) {
  const std::string leaf = R"({"type":null,"context":null,"children_spec":[]})";
  const std::string list =
      R"({"type":"builtins.list","context":"null","children_spec":[)" + leaf + "," + leaf + "]}";
  EXPECT_EQ(pytree_text("[1," + leaf + "]"), "$");
  EXPECT_EQ(pytree_text("[1," + list + "]"), "L2#1#1($,$)");
  EXPECT_EQ(
      pytree_text(R"([1,{"type":"builtins.dict","context":"[\"a\", \"b\"]","children_spec":[)" +
                  leaf + "," + list + "]}]"),
      R"(D2#1#2("a":$,"b":L2#1#1($,$)))");
  EXPECT_EQ(pytree_text(R"([1,{"type":"my.Output","context":"x","children_spec":[)" + leaf + "]}]"),
            "");
  EXPECT_EQ(pytree_text("not json"), "");
}

}  // namespace
}  // namespace taper::exir
