// Program and MethodMeta: what a file says, and hostile headers, which must be refused.

#include "taper/program.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>

#include "test/support/program_builder.h"

namespace taper {
namespace {

using test::Bytes;
using test::MethodSpec;
using test::ProgramBuilder;

void add_method(ProgramBuilder& builder, const std::string& name) {
  MethodSpec& m = builder.method(name);
  const uint32_t constant = builder.constant(test::bytes_of(std::vector<float>{1, 2}));
  m.outputs = {m.tensor({.sizes = {{2}}, .data_buffer_idx = constant})};
  m.inputs = {m.tensor({.sizes = {{3, 2}}, .dynamism = 1}), m.integer(7), m.none()};
}

Result<Program> open(BufferDataLoader&& loader) { return Program::open(loader); }

Status open(const Bytes& file) { return open(BufferDataLoader(file.data(), file.size())).status(); }

TEST(ProgramHeader, TellsVersionsApart) {
  ProgramBuilder builder;
  add_method(builder, "forward");
  Bytes file = builder.finish();
  EXPECT_EQ(Program::check_header(file.data(), file.size()), HeaderStatus::kCompatible);
  EXPECT_EQ(Program::check_header(file.data(), 63), HeaderStatus::kShortData);
  EXPECT_EQ(Program::check_header(nullptr, 100), HeaderStatus::kShortData);
  file[7] = '9';
  EXPECT_EQ(Program::check_header(file.data(), file.size()), HeaderStatus::kIncompatible);
  file[4] = 'X';
  EXPECT_EQ(Program::check_header(file.data(), file.size()), HeaderStatus::kNotPresent);
}

TEST(Program, ListsItsMethods) {
  ProgramBuilder builder;
  add_method(builder, "encode");
  add_method(builder, "decode");
  const Bytes file = builder.finish();
  BufferDataLoader loader(file.data(), file.size());
  Result<Program> program = Program::open(loader);
  ASSERT_TRUE(program.ok()) << program.status().message();
  ASSERT_EQ(program->num_methods(), 2u);
  EXPECT_EQ(program->method_name(0), "encode");
  EXPECT_EQ(program->method_meta("decode")->name(), "decode");
  EXPECT_EQ(program->method_meta("forward").error(), Error::kNotFound);
}

TEST(Program, FilesWithoutAHeaderAreOnlyAFlatbuffer) {
  flatbuffers::FlatBufferBuilder fbb;
  const auto values = fbb.CreateVector(std::vector<flatbuffers::Offset<wire::EValue>>{});
  const auto chains = fbb.CreateVector(std::vector<flatbuffers::Offset<wire::Chain>>{});
  const auto plan =
      wire::CreateExecutionPlan(fbb, fbb.CreateString("forward"), 0, values, 0, 0, chains);
  fbb.Finish(wire::CreateProgram(fbb, 0, fbb.CreateVector(std::vector{plan})), "ET12");
  const Bytes file(fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize());
  EXPECT_TRUE(open(file).ok());
}

TEST(Program, NamedDataIsFoundByKey) {
  ProgramBuilder builder;
  const uint32_t segment = builder.segment({10, 20, 30});
  add_method(builder, "forward");
  builder.named_data = {{"first", segment}, {"second", segment}};
  const Bytes file = builder.finish();
  BufferDataLoader loader(file.data(), file.size());
  Result<Program> program = Program::open(loader);
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(program->num_named_data(), 2u);
  EXPECT_EQ(program->named_data("second")->size(), 3u);
  EXPECT_EQ((*program->named_data("second"))[1], 20);
  EXPECT_EQ(program->named_data("third").error(), Error::kNotFound);
}

TEST(Program, MemoryMustBeAligned) {
  ProgramBuilder builder;
  add_method(builder, "forward");
  Bytes file = builder.finish();
  file.insert(file.begin(), 4, 0);
  BufferDataLoader loader(file.data() + 4, file.size() - 4);
  EXPECT_EQ(Program::open(loader).error(), Error::kInvalidArgument);
}

TEST(MethodMeta, DescribesInputsAndOutputs) {
  ProgramBuilder builder;
  add_method(builder, "forward");
  const Bytes file = builder.finish();
  BufferDataLoader loader(file.data(), file.size());
  Result<Program> program = Program::open(loader);
  ASSERT_TRUE(program.ok());
  const MethodMeta meta = *program->method_meta("forward");
  ASSERT_EQ(meta.num_inputs(), 3u);
  EXPECT_EQ(*meta.input_tag(0), Tag::kTensor);
  const TensorInfo info = *meta.input_tensor_meta(0);
  EXPECT_EQ(info.scalar_type(), ScalarType::kFloat);
  EXPECT_EQ(info.sizes()[0], 3);
  EXPECT_EQ(info.nbytes(), 24u);
  EXPECT_EQ(info.shape_dynamism(), ShapeDynamism::kDynamicBound);
  EXPECT_FALSE(info.is_memory_planned());
  EXPECT_EQ(meta.input_value(1)->to_int(), 7);
  EXPECT_TRUE(meta.input_value(2)->is_none());
  EXPECT_EQ(meta.input_value(0).error(), Error::kInvalidType);
  EXPECT_EQ(meta.input_tensor_meta(1).error(), Error::kInvalidType);
  EXPECT_EQ(meta.input_tag(3).error(), Error::kInvalidArgument);
  EXPECT_TRUE(meta.output_tensor_meta(0)->is_memory_planned());
  EXPECT_EQ(meta.num_memory_planned_buffers(), 0u);
  EXPECT_EQ(meta.memory_planned_buffer_size(0).error(), Error::kInvalidArgument);
}

TEST(MethodMeta, ListsAreNoTensors) {
  ProgramBuilder builder;
  MethodSpec& m = builder.method("forward");
  const int x = m.tensor({.sizes = {{2}}}), n = m.integer(1);
  m.inputs = {m.int_list({n}), m.real_list({0.5}), m.bool_list({1}), m.tensor_list({x}),
              m.tensor_list({x, -1}, true)};
  m.outputs = {x};
  const Bytes file = builder.finish();
  BufferDataLoader loader(file.data(), file.size());
  Result<Program> program = Program::open(loader);
  ASSERT_TRUE(program.ok()) << program.status().message();
  const MethodMeta meta = *program->method_meta("forward");
  ASSERT_EQ(meta.num_inputs(), 5u);
  const Tag tags[] = {Tag::kIntList, Tag::kDoubleList, Tag::kBoolList, Tag::kTensorList,
                      Tag::kOptionalTensorList};
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(*meta.input_tag(i), tags[i]);
    EXPECT_EQ(meta.input_tensor_meta(i).error(), Error::kInvalidType);
  }
}

TEST(MethodMeta, SaysWhatTheMethodRuns) {
  ProgramBuilder builder;
  MethodSpec& m = builder.method("forward");
  const int x = m.tensor({.sizes = {{2}}});
  m.inputs = m.outputs = {x};
  m.call("test::double", "out", {x, x, x});
  m.call("test::double", "out", {x, x, x});
  m.delegates = {{.id = "SomeBackend", .location = 1, .index = builder.segment(Bytes(16))}};
  m.delegate(0, {x, x});
  const Bytes file = builder.finish();
  BufferDataLoader loader(file.data(), file.size());
  Result<Program> program = Program::open(loader);
  ASSERT_TRUE(program.ok()) << program.status().message();
  const MethodMeta meta = *program->method_meta("forward");
  EXPECT_EQ(meta.num_instructions(), 3u);
  ASSERT_EQ(meta.num_operators(), 1u);
  EXPECT_EQ(meta.operator_name(0).name, "test::double");
  EXPECT_EQ(meta.operator_name(0).overload, "out");
  ASSERT_EQ(meta.num_backends(), 1u);
  EXPECT_EQ(meta.backend_name(0), "SomeBackend");
  EXPECT_TRUE(meta.uses_backend("SomeBackend"));
  EXPECT_FALSE(meta.uses_backend("Some"));
  EXPECT_EQ(meta.num_attributes(), 0u);
  EXPECT_EQ(meta.attribute_tensor_meta(0).error(), Error::kInvalidArgument);
  EXPECT_EQ(meta.input_structure(), "");
  EXPECT_EQ(meta.output_structure(), "");
}

struct Case {
  const char* name;
  Error error;
  std::function<void(ProgramBuilder&)> spoil;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class HostileFile : public testing::TestWithParam<Case> {};

TEST_P(HostileFile, IsRefused) {
  ProgramBuilder builder;
  builder.segment({1, 2, 3});
  add_method(builder, "forward");
  ASSERT_TRUE(open(builder.finish()).ok());
  GetParam().spoil(builder);
  const Status status = open(builder.finish());
  EXPECT_EQ(status.error(), GetParam().error) << status.message();
}

constexpr Error kBad = Error::kInvalidProgram;

INSTANTIATE_TEST_SUITE_P(
    Headers, HostileFile,
    testing::Values(
        Case{"header_length_zero", kBad, [](auto& b) { b.header_length = 0; }},
        Case{"header_length_short", kBad, [](auto& b) { b.header_length = 23; }},
        Case{"program_size_four", kBad, [](auto& b) { b.header_program_size = 4; }},
        Case{"program_size_huge", kBad, [](auto& b) { b.header_program_size = UINT64_MAX; }},
        Case{"program_size_cuts_the_flatbuffer", kBad, [](auto& b) { b.header_program_size = 96; }},
        Case{"segment_base_past_the_file", kBad, [](auto& b) { b.header_segment_base = 1 << 30; }},
        Case{"segment_base_wraps", kBad, [](auto& b) { b.header_segment_base = UINT64_MAX - 15; }},
        Case{"segment_base_inside_the_program", kBad, [](auto& b) { b.header_segment_base = 64; }},
        Case{"no_segment_base_but_segments", kBad, [](auto& b) { b.header_segment_base = 0; }},
        Case{"segment_bytes_past_the_file", kBad,
             [](auto& b) { b.header_segment_bytes = 1 << 30; }},
        Case{"segment_bytes_wrap", kBad, [](auto& b) { b.header_segment_bytes = UINT64_MAX; }},
        Case{"segment_bytes_cut_a_segment", kBad, [](auto& b) { b.header_segment_bytes = 2; }},
        Case{"constant_segment_wraps", kBad,
             [](auto& b) {
               b.constant_segment_place = {{UINT64_MAX - 63, 8}};
             }},
        Case{"constant_segment_past_the_file", kBad,
             [](auto& b) {
               b.constant_segment_place = {{0, 1 << 20}};
             }},
        Case{"identifier", kBad, [](auto& b) { b.identifier = "NOPE"; }},
        Case{"other_version", Error::kNotSupported, [](auto& b) { b.identifier = "ET13"; }},
        Case{"schema_version", Error::kNotSupported, [](auto& b) { b.version = 1; }},
        Case{"no_plans", kBad, [](auto& b) { b.no_plans = true; }},
        Case{"named_data_without_key", kBad,
             [](auto& b) {
               b.named_data = {{std::nullopt, 0}};
             }},
        Case{"named_data_segment", kBad,
             [](auto& b) {
               b.named_data = {{"key", 9}};
             }}),
    [](const auto& info) { return info.param.name; });

TEST(HostileFile, OlderHeadersWithoutTheSegmentSizeAreRead) {
  ProgramBuilder builder;
  add_method(builder, "forward");
  builder.header_length = 24;
  EXPECT_TRUE(open(builder.finish()).ok());
}

TEST(HostileFile, EveryCutIsRefused) {
  ProgramBuilder builder;
  add_method(builder, "forward");
  const Bytes file = builder.finish();
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_FALSE(open(Bytes(file.begin(), file.begin() + static_cast<ptrdiff_t>(size))).ok())
        << size;
  }
}

TEST(HostileFile, RootOffsetsOutsideTheFileAreRefused) {
  ProgramBuilder builder;
  add_method(builder, "forward");
  const Bytes good = builder.finish();
  for (uint32_t root : {0u, 4u, 8u, 41u, 0x7fffffffu, 0xffffffffu}) {
    Bytes file = good;
    wire::write_u32(file.data(), root);
    EXPECT_EQ(open(file).error(), kBad) << root;
  }
}

}  // namespace
}  // namespace taper
