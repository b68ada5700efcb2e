// Hand-made hostile programs: each breaks one rule, and open() must name it.

#include "runtime/program/verify_plan.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "taper/program.h"
#include "test/support/program_builder.h"

namespace taper {
namespace {

using test::Bytes;
using test::MethodSpec;
using test::ProgramBuilder;
using wire::InstructionArguments;
using wire::KernelTypes;

// A small program that is right: add(x, constant) with an int list, a delegate and state.
struct Model {
  ProgramBuilder builder;
  MethodSpec* m = nullptr;
  int x = 0, weight = 0, y = 0, number = 0, list = 0, tensors = 0, state = 0;

  Model() {
    const uint32_t payload = builder.segment(test::bytes_of(std::vector<char>{'a', 'b'}));
    m = &builder.method("forward");
    const uint32_t constant = builder.constant(test::bytes_of(std::vector<float>{1, 2}));
    const uint32_t saved = builder.mutable_data(test::bytes_of(std::vector<float>{3, 4}));
    x = m->tensor({.sizes = {{2}}});
    weight = m->tensor({.sizes = {{2}}, .data_buffer_idx = constant});
    y = m->tensor({.sizes = {{2}}, .memory_id = 1, .offset = 8});
    number = m->integer(2);
    list = m->int_list({number});
    tensors = m->tensor_list({x, weight});
    state = m->tensor({.sizes = {{2}}, .data_buffer_idx = saved, .memory_id = 1, .offset = 16});
    m->buffer_sizes = {0, 24};
    m->inputs = {x};
    m->outputs = {y};
    m->call("test::add", "out", {x, weight, y, y});
    m->delegates.push_back({.id = "Some", .location = 1, .index = payload, .specs = {}});
  }

  test::TensorSpec& tensor(int slot) { return m->values[static_cast<size_t>(slot)].tensor; }
  test::ValueSpec& value(int slot) { return m->values[static_cast<size_t>(slot)]; }
  test::InstructionSpec& step() { return m->chains[0][0]; }
};

Status open(const Bytes& file) {
  BufferDataLoader loader(file.data(), file.size());
  return Program::open(loader).status();
}

struct Case {
  const char* name;
  Error error;
  const char* text;  // Part of the message.
  std::function<void(Model&)> spoil;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class HostilePlan : public testing::TestWithParam<Case> {};

TEST_P(HostilePlan, IsRefusedByName) {
  Model model;
  ASSERT_TRUE(open(model.builder.finish()).ok());
  GetParam().spoil(model);
  const Status status = open(model.builder.finish());
  EXPECT_EQ(status.error(), GetParam().error) << status.message();
  EXPECT_NE(std::string(status.message()).find(GetParam().text), std::string::npos)
      << status.message();
}

constexpr Error kBad = Error::kInvalidProgram;
constexpr Error kUnsupported = Error::kNotSupported;
constexpr int32_t kBig = 2147483647;

INSTANTIATE_TEST_SUITE_P(
    Values, HostilePlan,
    testing::Values(Case{"no_values", kBad, "no values", [](Model& t) { t.m->no_values = true; }},
                    Case{"no_name", kBad, "no name", [](Model& t) { t.m->name.reset(); }},
                    Case{"empty_value", kBad, "value is empty",
                         [](Model& t) { t.value(t.number).absent = true; }},
                    Case{"value_none_type", kBad, "value is empty",
                         [](Model& t) { t.value(t.number).type = KernelTypes::NONE; }},
                    Case{"value_of_unknown_kind", kBad, "unknown kind",
                         [](Model& t) { t.value(t.number).type = static_cast<KernelTypes>(12); }},
                    Case{"string_without_text", kBad, "no text",
                         [](Model& t) { t.m->add({.type = KernelTypes::String}); }},
                    Case{"int_list_without_items", kBad, "no items",
                         [](Model& t) { t.value(t.list).ints.reset(); }},
                    Case{"double_list_without_items", kBad, "no items",
                         [](Model& t) { t.m->add({.type = KernelTypes::DoubleList}); }},
                    Case{"bool_list_without_items", kBad, "no items",
                         [](Model& t) { t.m->add({.type = KernelTypes::BoolList}); }},
                    Case{"bool_list_item_two", kBad, "neither 0 nor 1",
                         [](Model& t) {
                           t.m->bool_list({1, 2});
                         }},
                    Case{"int_list_names_a_tensor", kBad, "not an int value",
                         [](Model& t) { t.value(t.list).ints = {{t.x}}; }},
                    Case{"int_list_out_of_range", kBad, "not an int value",
                         [](Model& t) { t.value(t.list).ints = {{99}}; }},
                    Case{"int_list_negative", kBad, "not an int value",
                         [](Model& t) { t.value(t.list).ints = {{-1}}; }},
                    Case{"int_list_far_out_of_range", kBad, "not an int value",
                         [](Model& t) { t.value(t.list).ints = {{int64_t{1} << 32}}; }},
                    Case{"tensor_list_names_an_int", kBad, "not a tensor value",
                         [](Model& t) { t.value(t.tensors).tensors = {{t.number}}; }},
                    Case{"tensor_list_minus_one", kBad, "not a tensor value",
                         [](Model& t) { t.value(t.tensors).tensors = {{-1}}; }},
                    Case{"optional_list_minus_two", kBad, "not a tensor value",
                         [](Model& t) { t.m->tensor_list({-2}, true); }}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Tensors, HostilePlan,
    testing::Values(
        Case{"no_sizes", kBad, "no sizes", [](Model& t) { t.tensor(t.x).sizes.reset(); }},
        Case{"no_dim_order", kBad, "dim order",
             [](Model& t) { t.tensor(t.x).no_dim_order = true; }},
        Case{"dim_order_too_long", kBad, "dim order",
             [](Model& t) {
               t.tensor(t.x).dim_order = {{0, 1}};
             }},
        Case{"dim_order_repeats", kBad, "not a permutation",
             [](Model& t) {
               t.tensor(t.x).sizes = {{2, 3}};
               t.tensor(t.x).dim_order = {{1, 1}};
             }},
        Case{"dim_order_out_of_range", kBad, "not a permutation",
             [](Model& t) { t.tensor(t.x).dim_order = {{200}}; }},
        Case{"rank_17", kBad, "16 dimensions",
             [](Model& t) { t.tensor(t.x).sizes = std::vector<int32_t>(17, 1); }},
        Case{"negative_size", kBad, "negative", [](Model& t) { t.tensor(t.x).sizes = {{-2}}; }},
        Case{"elements_overflow", kBad, "too large",
             [](Model& t) {
               t.tensor(t.x).sizes = {{kBig, kBig, kBig}};
             }},
        Case{"bytes_wrap_to_zero", kBad, "too large",
             [](Model& t) {
               t.tensor(t.y).sizes = {{1 << 30, 1 << 30, 4}};
             }},
        Case{"strides_overflow", kBad, "strides",
             [](Model& t) {
               t.tensor(t.x).sizes = {{2, 65536, 65536}};
             }},
        Case{"unknown_dtype", kBad, "unknown dtype",
             [](Model& t) { t.tensor(t.x).scalar_type = 99; }},
        Case{"quantised_dtype", kUnsupported, "does not support",
             [](Model& t) { t.tensor(t.x).scalar_type = 12; }},
        Case{"storage_offset", kBad, "storage offset",
             [](Model& t) { t.tensor(t.x).storage_offset = 4; }},
        Case{"layout", kBad, "layout", [](Model& t) { t.tensor(t.x).layout = 1; }},
        Case{"unbound_shape", kUnsupported, "upper bound",
             [](Model& t) { t.tensor(t.x).dynamism = 2; }},
        Case{"unknown_dynamism", kBad, "dynamism", [](Model& t) { t.tensor(t.x).dynamism = 3; }},
        Case{"device_cuda", kUnsupported, "device", [](Model& t) { t.tensor(t.x).device = 1; }},
        Case{"device_unknown", kUnsupported, "device", [](Model& t) { t.tensor(t.x).device = 77; }},
        Case{"location_unknown", kBad, "location", [](Model& t) { t.tensor(t.x).location = 5; }},
        Case{"external_without_name", kBad, "no name",
             [](Model& t) { t.tensor(t.x).location = 1; }}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Memory, HostilePlan,
    testing::Values(Case{"memory_id_zero", kBad, "buffer that does not exist",
                         [](Model& t) { t.tensor(t.y).memory_id = 0; }},
                    Case{"memory_id_too_big", kBad, "buffer that does not exist",
                         [](Model& t) { t.tensor(t.y).memory_id = 2; }},
                    Case{"offset_past_the_end", kBad, "past the end",
                         [](Model& t) { t.tensor(t.y).offset = 24; }},
                    Case{"offset_wraps", kBad, "past the end",
                         [](Model& t) { t.tensor(t.y).offset = UINT64_MAX - 3; }},
                    Case{"tensor_larger_than_buffer", kBad, "past the end",
                         [](Model& t) { t.tensor(t.y).sizes = {{1 << 20}}; }},
                    Case{"offset_not_aligned", kBad, "not aligned",
                         [](Model& t) { t.tensor(t.y).offset = 1; }},
                    Case{"buffer_size_negative", kBad, "negative size",
                         [](Model& t) {
                           t.m->buffer_sizes = {0, -24};
                         }},
                    Case{"buffer_on_a_device", kUnsupported, "device",
                         [](Model& t) {
                           t.m->buffer_devices = {{1, int8_t{1}}};
                         }},
                    Case{"device_of_no_buffer", kBad, "does not exist",
                         [](Model& t) {
                           t.m->buffer_devices = {{7, int8_t{0}}};
                         }},
                    Case{"constant_index", kBad, "does not exist",
                         [](Model& t) { t.tensor(t.weight).data_buffer_idx = 9; }},
                    Case{"constant_offset", kBad, "past the end",
                         [](Model& t) {
                           t.builder.constant_offsets = {{0, 4096}};
                         }},
                    Case{"constant_offset_wraps", kBad, "past the end",
                         [](Model& t) {
                           t.builder.constant_offsets = {{0, UINT64_MAX - 3}};
                         }},
                    Case{"constant_not_aligned", kBad, "not aligned",
                         [](Model& t) {
                           t.tensor(t.weight).sizes = {{1}};
                           t.builder.constant_offsets = {{0, 2}};
                         }},
                    Case{"constant_larger_than_segment", kBad, "past the end",
                         [](Model& t) { t.tensor(t.weight).sizes = {{3}}; }},
                    Case{"constant_of_dynamic_shape", kBad, "dynamic shape",
                         [](Model& t) { t.tensor(t.weight).dynamism = 1; }},
                    Case{"mutable_index", kBad, "does not exist",
                         [](Model& t) { t.tensor(t.state).data_buffer_idx = 9; }},
                    Case{"mutable_offset_wraps", kBad, "past the end",
                         [](Model& t) {
                           t.builder.mutable_offsets = {{0, UINT64_MAX}};
                         }},
                    Case{"mutable_segment_index", kBad, "does not exist",
                         [](Model& t) { t.tensor(t.state).mutable_segment = 1; }},
                    Case{"input_is_a_constant", kBad, "input is a constant",
                         [](Model& t) { t.m->inputs = {t.weight}; }}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Instructions, HostilePlan,
    testing::Values(
        Case{"no_chains", kBad, "no instruction chains", [](Model& t) { t.m->no_chains = true; }},
        Case{"no_instructions", kBad, "no instructions",
             [](Model& t) { t.m->no_instructions = true; }},
        Case{"empty_instruction", kBad, "empty", [](Model& t) { t.step().absent = true; }},
        Case{"unknown_instruction", kBad, "unknown kind",
             [](Model& t) { t.step().type = static_cast<InstructionArguments>(6); }},
        Case{"input_out_of_range", kBad, "input is not a value",
             [](Model& t) { t.m->inputs = {99}; }},
        Case{"output_out_of_range", kBad, "output is not a value",
             [](Model& t) { t.m->outputs = {-1}; }},
        Case{"operator_index", kBad, "operator that does not exist",
             [](Model& t) { t.step().a = 1; }},
        Case{"operator_index_before_a_good_one", kBad, "operator that does not exist",
             [](Model& t) {
               t.m->chains[0].insert(t.m->chains[0].begin(), {.a = 7, .args = {{}}});
             }},
        Case{"operator_index_negative", kBad, "operator that does not exist",
             [](Model& t) { t.step().a = -1; }},
        Case{"operator_without_name", kBad, "no name",
             [](Model& t) { t.m->operators[0].first.reset(); }},
        Case{"operator_name_too_long", kBad, "too long",
             [](Model& t) { t.m->operators[0].first = std::string(200, 'x'); }},
        Case{"overload_too_long", kBad, "too long",
             [](Model& t) { t.m->operators[0].second = std::string(200, 'x'); }},
        Case{"argument_out_of_range", kBad, "argument is not a value",
             [](Model& t) { t.step().args = {{99}}; }},
        Case{"argument_negative", kBad, "argument is not a value",
             [](Model& t) { t.step().args = {{-1}}; }},
        Case{"delegate_index", kBad, "delegate that does not exist",
             [](Model& t) { t.m->delegate(1, {t.x}); }},
        Case{"delegate_argument", kBad, "argument is not a value",
             [](Model& t) { t.m->delegate(0, {99}); }},
        Case{"move_out_of_range", kBad, "move names no value",
             [](Model& t) { t.m->move(t.x, 99); }},
        Case{"move_int_over_tensor", kBad, "different kinds",
             [](Model& t) { t.m->move(t.number, t.y); }},
        Case{"move_between_dtypes", kBad, "different dtypes",
             [](Model& t) { t.m->move(t.m->tensor({.scalar_type = 4, .sizes = {{2}}}), t.y); }},
        Case{"move_of_a_list", kUnsupported, "move of a list",
             [](Model& t) { t.m->move(t.list, t.list); }},
        Case{"jump_negative", kBad, "leaves its chain",
             [](Model& t) { t.m->jump_false(t.m->boolean(false), -5); }},
        Case{"jump_past_the_end", kBad, "leaves its chain",
             [](Model& t) { t.m->jump_false(t.m->boolean(false), 3); }},
        Case{"jump_on_a_double", kBad, "no bool",
             [](Model& t) { t.m->jump_false(t.m->real(1), 0); }},
        Case{"jump_on_a_float_tensor", kBad, "no bool", [](Model& t) { t.m->jump_false(t.y, 0); }},
        Case{"jump_on_nothing", kBad, "no bool", [](Model& t) { t.m->jump_false(99, 0); }},
        Case{"free_of_an_int", kBad, "no tensor", [](Model& t) { t.m->free(t.number); }},
        Case{"free_out_of_range", kBad, "no tensor", [](Model& t) { t.m->free(99); }}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Delegates, HostilePlan,
    testing::Values(Case{"no_id", kBad, "no id", [](Model& t) { t.m->delegates[0].id.reset(); }},
                    Case{"no_payload", kBad, "no payload",
                         [](Model& t) { t.m->delegates[0].no_payload = true; }},
                    Case{"segment_out_of_range", kBad, "does not exist",
                         [](Model& t) { t.m->delegates[0].index = 77; }},
                    Case{"unknown_location", kBad, "unknown place",
                         [](Model& t) { t.m->delegates[0].location = 2; }},
                    Case{"inline_list_missing", kBad, "does not exist",
                         [](Model& t) {
                           t.m->delegates[0].location = 0;
                           t.builder.no_inline_data = true;
                         }},
                    Case{"inline_data_missing", kBad, "does not exist",
                         [](Model& t) {
                           t.m->delegates[0].location = 0;
                           t.builder.inline_data = {std::nullopt};
                         }},
                    Case{"compile_spec_without_key", kBad, "key or value",
                         [](Model& t) {
                           t.m->delegates[0].specs = {{std::nullopt, Bytes{1}}};
                         }},
                    Case{"compile_spec_without_value", kBad, "key or value",
                         [](Model& t) {
                           t.m->delegates[0].specs = {{"key", std::nullopt}};
                         }}),
    [](const auto& info) { return info.param.name; });

// Vectors in a flatbuffer may be shared; a file of a few kilobytes must not ask for hours of work.
TEST(VerifyPlan, SharedListsCannotMultiplyTheWork) {
  flatbuffers::FlatBufferBuilder fbb;
  const auto items = fbb.CreateVector(std::vector<int64_t>(2000, 0));
  std::vector<flatbuffers::Offset<wire::EValue>> values = {
      wire::CreateEValue(fbb, KernelTypes::Int, wire::CreateInt(fbb, 1).Union())};
  for (int i = 0; i < 2000; ++i) {
    const auto list = wire::CreateIntList(fbb, items).Union();
    values.push_back(wire::CreateEValue(fbb, KernelTypes::IntList, list));
  }
  const auto chains = fbb.CreateVector(std::vector<flatbuffers::Offset<wire::Chain>>{});
  const auto plan = wire::CreateExecutionPlan(fbb, fbb.CreateString("forward"), 0,
                                              fbb.CreateVector(values), 0, 0, chains);
  fbb.Finish(wire::CreateProgram(fbb, 0, fbb.CreateVector(std::vector{plan})), "ET12");
  const Bytes file(fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize());
  EXPECT_NE(std::string(open(file).message()).find("repeat too much"), std::string::npos);
}

TEST(VerifyPlan, TellsWhereTheProblemIs) {
  Model model;
  model.tensor(model.y).offset = 1000;
  const Bytes file = model.builder.finish();
  BufferDataLoader loader(file.data(), file.size());
  Diagnostic seen = {};
  const auto keep = [](void* to, const Diagnostic& found) {
    *static_cast<Diagnostic*>(to) = found;
  };
  EXPECT_FALSE(Program::open(loader, {keep, &seen}).ok());
  EXPECT_EQ(seen.value, model.y);
  EXPECT_EQ(seen.instruction, -1);
}

}  // namespace
}  // namespace taper
