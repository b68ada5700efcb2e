#include "exir/frontend/import.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <limits>

#include "exir/frontend/archive_for_test.h"

namespace taper::exir {
namespace {

using test::failure_of;
using test::Member;
using test::replaced;
using test::small_archive;
using test::small_config;
using test::small_program;
using test::write_file;
using test::zip_of;

ExportedProgram import_model(const std::string& name) {
  return import_pt2(std::string(TAPER_SOURCE_DIR) + "/test/models/data/" + name);
}

const Value* constant(const Graph& graph, std::string_view fqn) {
  for (const Value* value : graph.constants) {
    if (value->fqn == fqn) return value;
  }
  ADD_FAILURE() << "no constant " << fqn;
  return nullptr;
}

std::vector<float> floats(const Value& value) {
  std::vector<float> out(value.data.bytes / sizeof(float));
  std::memcpy(out.data(), value.data.data, value.data.bytes);
  return out;
}

std::vector<std::string> targets(const Graph& graph) {
  std::vector<std::string> out;
  for (const auto& node : graph.nodes) out.emplace_back(node->target());
  return out;
}

// --- Archives that PyTorch wrote

class ArchiveForms : public testing::TestWithParam<const char*> {};

// One model in every form. PyTorch computed the two checksums over the storages.
TEST_P(ArchiveForms, GiveTheSameProgramAndBytes) {
  const ExportedProgram program = import_model(GetParam());
  const Graph& graph = *program.graph;
  EXPECT_EQ(program.schema_major, 8);
  ASSERT_EQ(graph.inputs.size(), 1u);
  EXPECT_EQ(graph.inputs[0].value()->type.sizes, (std::vector<Sym>{Sym::symbol("s77"), 3, 6, 6}));
  EXPECT_EQ(graph.ranges.at("s77").min, 1);
  EXPECT_EQ(graph.ranges.at("s77").max, 6);

  const Value* conv = constant(graph, "conv.weight");
  EXPECT_EQ(conv->type.dim_order, (std::vector<uint8_t>{0, 2, 3, 1}));
  EXPECT_EQ(crc32_z(0, conv->data.data, conv->data.bytes), 629629551u);
  const Value* fc = constant(graph, "fc.weight");
  EXPECT_EQ(crc32_z(0, fc->data.data, fc->data.bytes), 0x4da40b98u);
  EXPECT_EQ(floats(*constant(graph, "window")), (std::vector<float>{3, 4, 5, 6}));
  EXPECT_EQ(floats(*constant(graph, "spread")), (std::vector<float>{0.5, 0.5, 0.5, 0.5}));
  EXPECT_EQ(constant(graph, "empty")->type.sizes, (std::vector<Sym>{0, 4}));
  EXPECT_EQ(constant(graph, "empty")->data.bytes, 0u);
  EXPECT_EQ(constant(graph, "shift")->data.bytes, 16u);
  const std::vector<float> slope = floats(*constant(graph, "lifted_tensor_0"));
  EXPECT_EQ(slope, (std::vector<float>{1, 2, std::numeric_limits<float>::infinity(), 4}));

  EXPECT_EQ(graph.outputs.size(), 3u);
  EXPECT_EQ(graph.outputs[1].value()->kind, ValueKind::kInt);
  EXPECT_EQ(graph.outputs[1].value()->sym, Sym::symbol("s77") * 2);
  EXPECT_NE(graph.in_spec.find("builtins.tuple"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Files, ArchiveForms,
                         testing::Values("forms.pt2", "forms_2_8.pt2", "forms_2_6.pt2",
                                         "forms_2_6_deflated.pt2"));

TEST(Import, SaysWhichFormItRead) {
  EXPECT_EQ(import_model("forms.pt2").container, "pt2 archive, raw weights");
  EXPECT_EQ(import_model("forms_2_8.pt2").container, "pt2 archive, pickled weights");
  EXPECT_EQ(import_model("forms_2_6.pt2").container, "zip of PyTorch 2.6 and 2.7");
}

TEST(Import, SmallModelIsRead) {
  const ExportedProgram program = import_model("add.pt2");
  const Graph& graph = *program.graph;
  EXPECT_EQ(targets(graph),
            (std::vector<std::string>{"aten::mul.Tensor", "aten::add.Tensor", "aten::linear"}));
  const Node& mul = *graph.nodes[0];
  EXPECT_EQ(mul.arg("other").to_int(), 2);  // A number where a tensor is declared stays a number.
  EXPECT_EQ(graph.nodes[1]->arg("alpha").to_int(), 1);
  EXPECT_EQ(mul.source->newest_frame(), "add.py:14 in forward: return self.linear(x * 2 + y)");
  EXPECT_EQ(graph.nodes[2]->source->module_path, "linear");
  EXPECT_EQ(graph.outputs[0].value()->producer, graph.nodes[2].get());
  EXPECT_EQ(program.verifiers, (std::vector<std::string>{"TRAINING"}));
  EXPECT_EQ(program.models, (std::vector<std::string>{"model"}));
}

TEST(Import, SubGraphsHaveTheirOwnNames) {
  const ExportedProgram program = import_model("cond.pt2");
  const Node& cond = *program.graph->nodes.back();
  ASSERT_TRUE(cond.is("higher_order::cond"));
  const auto& yes = std::get<std::shared_ptr<Graph>>(cond.arg("true_graph").v);
  EXPECT_EQ(targets(*yes),
            (std::vector<std::string>{"aten::linear", "aten::sin", "aten::add.Tensor"}));
  EXPECT_EQ(yes->inputs.size(), cond.arg("operands").list().size());
  EXPECT_NE(yes->inputs[0].value(), program.graph->inputs[0].value());
  EXPECT_EQ(yes->inputs[0].value()->name, "x");
}

TEST(Import, LiteralInputsAndOutputsStay) {
  const ExportedProgram program = import_model("nested_words.pt2");
  const Graph& graph = *program.graph;
  EXPECT_EQ(graph.inputs[3].to_double(), 0.5);
  EXPECT_EQ(graph.inputs[4].text(), "negate");
  EXPECT_EQ(graph.inputs[6].to_int(), 3);
  EXPECT_TRUE(graph.inputs[8].is_none());
  EXPECT_TRUE(graph.outputs[3].is_none());
  EXPECT_EQ(graph.outputs[4].to_int(), 7);
  EXPECT_TRUE(graph.outputs[7].to_bool());
}

// --- Archives made here

std::string import_failure(const std::vector<Member>& members) {
  const std::string path = write_file("bad.pt2", zip_of(members));
  std::string said = failure_of([&] { import_pt2(path); });
  EXPECT_TRUE(said.empty() || said.starts_with(path + ": ")) << said;
  return said;
}

TEST(Import, TheSmallArchiveIsGood) {
  const std::string path = write_file("good.pt2", zip_of(small_archive()));
  const ExportedProgram program = import_pt2(path);
  const Graph& graph = *program.graph;
  EXPECT_EQ(targets(graph), (std::vector<std::string>{"aten::add.Tensor", "aten::relu"}));
  EXPECT_EQ(graph.constants[0]->fqn, "fc.w");
  EXPECT_EQ(graph.constants[0]->data.bytes, 24u);
}

struct Edit {
  const char* name;
  const char* from;
  const char* to;
  const char* message;
};

class EditedProgram : public testing::TestWithParam<Edit> {};

TEST_P(EditedProgram, IsRefused) {
  const Edit& edit = GetParam();
  const std::string said =
      import_failure(small_archive(replaced(small_program(), edit.from, edit.to)));
  EXPECT_NE(said.find(edit.message), std::string::npos) << said;
}

INSTANTIATE_TEST_SUITE_P(
    Edits, EditedProgram,
    testing::Values(
        Edit{"major", R"("major": 8)", R"("major": 9)", "has schema version 9.20"},
        Edit{"major_type", R"("major": 8)", R"("major": "8")", "'major' is not a 64-bit integer"},
        Edit{"no_graph", R"("graph":)", R"("grapf":)", "'graph' is missing"},
        Edit{"nodes_type", R"("nodes": [)", R"("nodes": 7, "nodez": [)", "'nodes' is not a list"},
        Edit{"cut", R"("torch_version": "2.13.0"})", R"("torch_version": "2.1)",
             "m/models/model.json: is not valid JSON"},
        Edit{"undefined", R"("arg": {"as_tensor": {"name": "add"}})",
             R"("arg": {"as_tensor": {"name": "ghost"}})",
             "node 'relu' (aten::relu): uses value 'ghost', which nothing defines"},
        Edit{"cycle", R"("arg": {"as_tensor": {"name": "x"}})",
             R"("arg": {"as_tensor": {"name": "relu"}})",
             "node 'add' (aten::add.Tensor): uses value 'relu' before it is computed"},
        Edit{"own_result", R"("arg": {"as_tensor": {"name": "add"}})",
             R"("arg": {"as_tensor": {"name": "relu"}})", "before it is computed"},
        Edit{"twice", R"("outputs": [{"as_tensor": {"name": "relu"}}], "metadata")",
             R"("outputs": [{"as_tensor": {"name": "add"}}], "metadata")",
             "value 'add' is defined twice"},
        Edit{"input_twice", R"({"as_tensor": {"name": "x"}}], "outputs")",
             R"({"as_tensor": {"name": "p_w"}}], "outputs")", "value 'p_w' is defined twice"},
        Edit{"typed_twice", R"("tensor_values": {)", R"("tensor_values": {"x": {}, )",
             "'x' is given twice"},
        Edit{"untyped", R"("relu": {"dtype")", R"("other": {"dtype")", "value 'relu' has no type"},
        Edit{"dtype", R"("relu": {"dtype": 7)", R"("relu": {"dtype": 9)",
             "value 'relu': has element type complex32"},
        Edit{"unknown_dtype", R"("relu": {"dtype": 7)", R"("relu": {"dtype": 99)",
             "element type number 99"},
        Edit{"negative_size", R"("relu": {"dtype": 7, "sizes": [{"as_int": 2)",
             R"("relu": {"dtype": 7, "sizes": [{"as_int": -2)", "negative entry in its sizes"},
        Edit{"huge_size", R"("relu": {"dtype": 7, "sizes": [{"as_int": 2)",
             R"("relu": {"dtype": 7, "sizes": [{"as_int": 9223372036854775807)", "overflows"},
        Edit{"expression", R"("relu": {"dtype": 7, "sizes": [{"as_int": 2})",
             R"("relu": {"dtype": 7, "sizes": [{"as_expr": {"expr_str": "exit", "hint": null}})",
             "cannot be read"},
        Edit{"missing_argument",
             R"(, {"name": "other", "arg": {"as_tensor": {"name": "p_w"}}, "kind": 1})", "",
             "argument 'other' is missing"},
        Edit{"unknown_argument", R"("name": "other")", R"("name": "another")",
             "has no argument 'another'"},
        Edit{"argument_twice", R"("name": "other")", R"("name": "self")", "'self' is given twice"},
        Edit{"argument_type", R"("arg": {"as_tensor": {"name": "add"}})",
             R"("arg": {"as_string": "add"})", "argument 'self' is not a tensor"},
        Edit{"argument_kind", R"("arg": {"as_tensor": {"name": "add"}})",
             R"("arg": {"as_riddle": 1})", "the kind 'as_riddle'"},
        Edit{"complex", R"("arg": {"as_tensor": {"name": "add"}})",
             R"("arg": {"as_complex": {"real": 1, "imag": "two"}})", "imag"},
        Edit{"object", R"("arg": {"as_tensor": {"name": "add"}})",
             R"("arg": {"as_custom_obj": {"name": "o", "class_fqn": "my.Thing"}})",
             "class 'my.Thing'"},
        Edit{"results", R"("outputs": [{"as_tensor": {"name": "relu"}}], "metadata")",
             R"("outputs": [], "metadata")", "has 0 results, its operator 1"},
        Edit{"target", "torch.ops.aten.relu.default", "torch.ops.aten;rm",
             "is not an operator's name"},
        Edit{"signature_name", R"("arg": {"name": "p_w"})", R"("arg": {"name": "p_v"})",
             "the graph does not"},
        Edit{"signature_count", R"(, {"user_input": {"arg": {"as_tensor": {"name": "x"}}}})", "",
             "has 2 inputs, but its signature lists 1"},
        Edit{"custom_object_input", R"({"parameter":)", R"({"custom_obj":)", "kind 'custom_obj'"},
        Edit{"training", R"({"user_output":)", R"({"loss_output":)", "program for training"},
        Edit{"no_such_buffer", R"({"user_output": {"arg": {"as_tensor": {"name": "relu"}}}})",
             R"({"buffer_mutation": {"arg": {"name": "relu"}, "buffer_name": "k"}})",
             "mutates buffer 'k', which is not an input"},
        Edit{"missing_weight", R"("parameter_name": "fc.w")", R"("parameter_name": "fc.v")",
             "parameter 'fc.v': is not in the archive"},
        Edit{"weight_type", R"("p_w": {"dtype": 7)", R"("p_w": {"dtype": 4)",
             "another dtype or shape"},
        Edit{"range", R"("range_constraints": {})",
             R"("range_constraints": {"s0": {"min_val": 5, "max_val": 3}})",
             "symbol 's0' has an empty range"},
        Edit{"layout", R"("layout": 7}, "x")", R"("layout": 2}, "x")", "sparse"}),
    [](const auto& info) { return info.param.name; });

TEST(EditedConfig, ShortWeightsAreRefused) {
  std::vector<Member> members = small_archive();
  members[0].data.resize(20);
  EXPECT_NE(import_failure(members).find(
                "parameter 'fc.w': needs 6 elements, but its storage holds only 5"),
            std::string::npos);
  members[0].data.clear();
  EXPECT_NE(import_failure(members).find("exported with fake tensors"), std::string::npos);
  members.erase(members.begin());
  EXPECT_NE(import_failure(members).find("'weight_0', which the archive does not hold"),
            std::string::npos);
  EXPECT_NE(import_failure(small_archive(small_program(), replaced(small_config(), "\"as_int\": 0",
                                                                   "\"as_int\": 1")))
                .find("needs 7 elements"),
            std::string::npos);
}

TEST(EditedMarkers, AreRefused) {
  struct Marker {
    size_t index;
    const char* data;
    const char* message;
  };
  for (const Marker& m : {Marker{4, "onnx", "incomplete"}, Marker{5, "7", "archive version '7'"},
                          Marker{6, "big", "big-endian"}}) {
    std::vector<Member> members = small_archive();
    members[m.index].data = m.data;
    EXPECT_NE(import_failure(members).find(m.message), std::string::npos) << m.message;
  }
}

TEST(Import, NewerMinorVersionsAreReadWithAWarning) {
  const std::string path = write_file(
      "minor.pt2",
      zip_of(small_archive(replaced(small_program(), R"("minor": 20)", R"("minor": 21)"))));
  const ExportedProgram program = import_pt2(path);
  ASSERT_EQ(program.warnings.size(), 1u);
  EXPECT_NE(program.warnings[0].find("8.21 is newer"), std::string::npos);
}

TEST(Import, OneOfSeveralModelsIsPickedByName) {
  std::vector<Member> members = small_archive();
  members.push_back({"m/models/second.json", replaced(small_program(), "fc.w", "head.w")});
  members.push_back(
      {"m/data/weights/second_weights_config.json", replaced(small_config(), "fc.w", "head.w")});
  const std::string path = write_file("two.pt2", zip_of(members));
  EXPECT_EQ(import_pt2(path, {.model = "second"}).graph->constants[0]->fqn, "head.w");
  EXPECT_EQ(import_pt2(path, {.model = "model"}).graph->constants[0]->fqn, "fc.w");
  EXPECT_NE(failure_of([&] { import_pt2(path); }).find("several models: 'model', 'second'"),
            std::string::npos);
  EXPECT_NE(failure_of([&] { import_pt2(path, {.model = "third"}); }).find("no model 'third'"),
            std::string::npos);
}

TEST(Import, UnusedParametersAreDropped) {
  const std::string text = replaced(small_program(), R"("arg": {"as_tensor": {"name": "p_w"}})",
                                    R"("arg": {"as_int": 1})");
  std::vector<Member> members = small_archive(text);
  members[0].crc_error = 1;  // Never read, so the error is not found.
  const ExportedProgram program = import_pt2(write_file("unused.pt2", zip_of(members)));
  const Graph& graph = *program.graph;
  EXPECT_TRUE(graph.constants.empty());
}

TEST(Import, MutationsMakeStates) {
  std::string text =
      replaced(small_program(), R"({"user_output": {"arg": {"as_tensor": {"name": "relu"}}}})",
               R"({"buffer_mutation": {"arg": {"name": "add"}, "buffer_name": "fc.w"}}, )"
               R"({"user_input_mutation": {"arg": {"name": "relu"}, "user_input_name": "x"}}, )"
               R"({"user_output": {"arg": {"as_tensor": {"name": "relu"}}}})");
  text = replaced(text, R"("outputs": [{"as_tensor": {"name": "relu"}}])",
                  R"("outputs": [{"as_tensor": {"name": "add"}}, {"as_tensor": {"name": "relu"}}, )"
                  R"({"as_tensor": {"name": "relu"}}])");
  text = replaced(
      text, R"({"parameter": {"arg": {"name": "p_w"}, "parameter_name": "fc.w"}})",
      R"({"buffer": {"arg": {"name": "p_w"}, "buffer_name": "fc.w", "persistent": true}})");
  const ExportedProgram program = import_pt2(write_file("state.pt2", zip_of(small_archive(text))));
  const Graph& graph = *program.graph;
  ASSERT_EQ(graph.mutations.size(), 2u);
  EXPECT_EQ(graph.mutations[0].target, graph.constants[0]);
  EXPECT_EQ(graph.constants[0]->role, ValueRole::kState);
  EXPECT_EQ(graph.mutations[1].target, graph.inputs[0].value());
  EXPECT_EQ(graph.outputs.size(), 1u);
}

TEST(Import, UnreadableFilesAreNamed) {
  EXPECT_NE(failure_of([] {
              import_pt2("/nonexistent/x.pt2");
            }).find("/nonexistent/x.pt2: cannot be read: No such file"),
            std::string::npos);
  EXPECT_NE(failure_of([] { import_pt2(testing::TempDir()); }).find("Is a directory"),
            std::string::npos);
  EXPECT_NE(failure_of([] { import_pt2(write_file("empty.pt2", "")); }).find("is empty"),
            std::string::npos);
}

}  // namespace
}  // namespace taper::exir
