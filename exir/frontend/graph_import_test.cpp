#include "exir/frontend/graph_import.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>

#include "exir/frontend/archive_for_test.h"
#include "exir/ops/builtin.h"

namespace taper::exir {
namespace {

using test::failure_of;

// Imports the JSON text of a graph.
class Imported {
 public:
  explicit Imported(std::string text)
      : text_(std::move(text)),
        document_(test::blob_of(text_), "model.json"),
        budget_(1 << 20),
        graph_(builtin_operators()),
        context_(budget_),
        scope_(graph_, document_.root(), context_) {
    for (const Json input : json_array(json_need(document_.root(), "inputs"), "inputs")) {
      graph_.inputs.push_back(import_input(input, scope_));
    }
    import_nodes(document_.root(), scope_);
  }
  bool is_empty() const { return graph_.nodes.empty(); }
  const Node& node() const { return *graph_.nodes.back(); }  // The last one.
  const Argument& arg(size_t i) const { return node().args[i]; }
  Value* input(size_t i) const { return graph_.inputs[i].value(); }
  std::string calls() const {
    std::string all;
    for (const auto& node : graph_.nodes) all += std::string(node->target()) + " ";
    return all;
  }

 private:
  std::string text_;
  JsonDocument document_;
  Budget budget_;
  Graph graph_;
  ImportContext context_;
  Scope scope_;
};

// Imports one node into a graph whose inputs are the float32[2] tensors a and b and the int n.
class OneNode : public Imported {
 public:
  OneNode(const std::string& target, const std::string& inputs, const std::string& outputs = "")
      : Imported(program(target, inputs, outputs)) {}

 private:
  static std::string program(const std::string& target, const std::string& inputs,
                             const std::string& outputs) {
    const std::string meta =
        R"({"dtype": 7, "sizes": [{"as_int": 2}], "strides": [{"as_int": 1}]})";
    std::string values;
    for (const char* name : {"a", "b", "y", "z", "w"}) {
      values += (values.empty() ? "\"" : ", \"") + std::string(name) + "\": " + meta;
    }
    return R"({"inputs": [{"as_tensor": {"name": "a"}}, {"as_tensor": {"name": "b"}}, )"
           R"({"as_sym_int": {"as_name": "n"}}], "nodes": [{"target": ")" +
           target + R"(", "inputs": [)" + inputs + R"(], "outputs": [)" + outputs +
           R"(], "metadata": {}}], "tensor_values": {)" + values +
           R"j(}, "sym_int_values": {"n": {"as_expr": {"expr_str": "Symbol('s0')", "hint": null}}, )j"
           R"("m": {"as_int": 3}}, "outputs": []})";
  }
};

std::string named(const std::string& name, const std::string& arg) {
  return R"({"name": ")" + name + R"(", "arg": )" + arg + "}";
}

constexpr const char* kA = R"({"as_tensor": {"name": "a"}})";
constexpr const char* kY = R"({"as_tensor": {"name": "y"}})";

// An unregistered operator takes the file's arguments, in their order.
// The graphs are kept because arguments point into them.
const Argument& any(const std::string& arg) {
  static std::deque<OneNode> graphs;
  return graphs.emplace_back("torch.ops.my.op.default", named("x", arg)).arg(0);
}

TEST(ArgumentKinds, ScalarsKeepTheirKind) {
  EXPECT_EQ(any(R"({"as_int": 9223372036854775807})").to_int(), INT64_MAX);
  EXPECT_TRUE(any(R"({"as_float": 2})").is<double>());
  EXPECT_TRUE(std::isinf(any(R"({"as_float": "-Infinity"})").to_double()));
  EXPECT_TRUE(any(R"({"as_bool": true})").is<bool>());
  EXPECT_EQ(any(R"({"as_string": "tanh"})").text(), "tanh");
  EXPECT_TRUE(any(R"({"as_none": true})").is_none());
  EXPECT_EQ(std::get<ScalarType>(any(R"({"as_scalar_type": 13})").v), ScalarType::kBFloat16);
  EXPECT_EQ(std::get<MemoryFormat>(any(R"({"as_memory_format": 2})").v),
            MemoryFormat::kChannelsLast);
  EXPECT_TRUE(any(R"({"as_layout": 7})").is<Layout>());
  EXPECT_TRUE(any(R"({"as_device": {"type": "cuda", "index": 0}})").is<Device>());
  EXPECT_EQ(any(R"({"as_sym_int": {"as_int": 5}})").to_int(), 5);
  EXPECT_EQ(any(R"({"as_sym_int": {"as_name": "n"}})").value()->name, "n");
  EXPECT_EQ(any(R"({"as_sym_float": {"as_float": 0.5}})").to_double(), 0.5);
  EXPECT_TRUE(any(R"({"as_sym_bool": {"as_bool": true}})").to_bool());
  EXPECT_EQ(any(R"({"as_operator": "aten.add.Tensor"})").text(), "aten.add.Tensor");
}

TEST(ArgumentKinds, ListsKeepTheirItems) {
  EXPECT_EQ(to_ints(any(R"({"as_ints": [1, -2]})")), (std::vector<int64_t>{1, -2}));
  EXPECT_EQ(any(R"({"as_floats": [0.5]})").list()[0].to_double(), 0.5);
  EXPECT_EQ(any(R"({"as_bools": [true, false]})").list().size(), 2u);
  EXPECT_EQ(any(R"({"as_strings": ["p", "q"]})").list()[1].text(), "q");
  EXPECT_EQ(any(R"({"as_tensors": [{"name": "b"}, {"name": "a"}]})").list()[0].value()->name, "b");
  EXPECT_TRUE(any(R"({"as_tensors": []})").list().empty());
  const Argument& gaps =
      any(R"({"as_optional_tensors": [{"as_none": true}, {"as_tensor": {"name": "a"}}]})");
  EXPECT_TRUE(gaps.list()[0].is_none());
  EXPECT_EQ(gaps.list()[1].value()->name, "a");
  const Argument& mixed = any(R"({"as_sym_ints": [{"as_name": "n"}, {"as_int": 4}]})");
  EXPECT_EQ(mixed.list()[0].value()->kind, ValueKind::kInt);
  EXPECT_EQ(mixed.list()[1].to_int(), 4);
  EXPECT_EQ(any(R"({"as_nested_tensors": [[{"name": "a"}], []]})").list()[0].list().size(), 1u);
  EXPECT_EQ(to_ints(any(R"({"as_int_lists": [[1, 2], [3]]})").list()[0]),
            (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(any(R"({"as_float_lists": [[1.5]]})").list()[0].list()[0].to_double(), 1.5);
  const Argument& words = any(R"({"as_string_to_argument": {"k": {"as_int": 1}}})");
  EXPECT_EQ(words.list()[0].text(), "k");
  EXPECT_EQ(words.list()[1].to_int(), 1);
}

TEST(Coercion, FollowsTheSchema) {
  const OneNode clamp("torch.ops.aten.leaky_relu.default",
                      named("self", kA) + ", " + named("negative_slope", R"({"as_int": 1})"), kY);
  EXPECT_EQ(clamp.arg(1).to_int(), 1);  // Scalar: kept.
  const OneNode norm("torch.ops.aten.rms_norm.default",
                     named("input", kA) + ", " + named("normalized_shape", R"({"as_ints": [2]})") +
                         ", " + named("eps", R"({"as_int": 1})"),
                     kY);
  EXPECT_TRUE(norm.node().arg("eps").is<double>());
  EXPECT_TRUE(norm.node().arg("weight").is_none());
  const OneNode pool("torch.ops.aten.max_pool2d.default",
                     named("self", kA) + ", " + named("kernel_size", R"({"as_ints": [3]})") + ", " +
                         named("padding", R"({"as_int": 1})"),
                     kY);
  EXPECT_EQ(to_ints(pool.node().arg("kernel_size")), (std::vector<int64_t>{3, 3}));
  EXPECT_EQ(to_ints(pool.node().arg("padding")), (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(to_ints(pool.node().arg("dilation")), (std::vector<int64_t>{1, 1}));
  EXPECT_FALSE(pool.node().arg("ceil_mode").to_bool());
  const OneNode index(
      "torch.ops.aten.index.Tensor",
      named("self", kA) + ", " + named("indices", R"({"as_tensors": [{"name": "b"}]})"), kY);
  EXPECT_EQ(index.arg(1).list()[0].value(), index.input(1));
  const OneNode sub("torch.ops.aten.sub.Tensor",
                    named("self", R"({"as_float": 1.0})") + ", " + named("other", kA), kY);
  EXPECT_EQ(sub.arg(0).to_double(), 1.0);
}

TEST(Results, AreFlat) {
  const OneNode split("torch.ops.aten.split.Tensor",
                      named("self", kA) + ", " + named("split_size", R"({"as_int": 1})"),
                      R"({"as_tensors": [{"name": "y"}, {"name": "z"}]})");
  EXPECT_EQ(split.node().outputs.size(), 2u);
  EXPECT_EQ(split.node().outputs[1]->name, "z");
  EXPECT_EQ(split.node().outputs[1]->producer, &split.node());
  const OneNode mixed(
      "torch.ops.my.op.default", named("x", kA),
      R"({"as_none": true}, {"as_tensor": {"name": "y"}}, {"as_sym_int": {"as_name": "m"}}, )"
      R"({"as_int": 8}, {"as_optional_tensors": [{"as_none": true}, {"as_tensor": {"name": "z"}}]})");
  const std::vector<Value*>& outputs = mixed.node().outputs;
  ASSERT_EQ(outputs.size(), 6u);
  EXPECT_EQ(outputs[1]->name, "y");
  EXPECT_EQ(outputs[2]->kind, ValueKind::kInt);
  EXPECT_EQ(outputs[2]->sym, Sym(3));
  EXPECT_EQ(outputs[3]->sym, Sym(8));
  EXPECT_EQ(outputs[5]->name, "z");
  EXPECT_EQ(mixed.node().schema->returns.size(), 5u);
}

TEST(Results, ThatTheExporterUsedLeaveNoNode) {
  const OneNode none("torch.ops.aten.promote_types.default",
                     named("type1", R"({"as_scalar_type": 7})") + ", " +
                         named("type2", R"({"as_scalar_type": 4})"),
                     R"({"as_none": true})");
  EXPECT_TRUE(none.is_empty());
}

TEST(UnknownOperators, KeepTheirNamesAndArguments) {
  const OneNode one("torch.ops.my.op.v2", named("x", kA) + ", " + named("", R"({"as_int": 3})"),
                    kY);
  EXPECT_EQ(one.node().target(), "my::op.v2");
  EXPECT_EQ(one.node().schema->args[0].name, "x");
  EXPECT_EQ(one.node().schema->args[1].name, "arg1");
  EXPECT_EQ(one.node().arg("x").value(), one.input(0));
}

constexpr const char* kBody =
    R"({"as_graph": {"name": "body", "graph": {"inputs": [{"as_tensor": {"name": "a"}}], "nodes": [], )"
    R"("outputs": [{"as_tensor": {"name": "a"}}], "tensor_values": )"
    R"({"a": {"dtype": 7, "sizes": [], "strides": []}}}}})";

TEST(HigherOrder, SpreadOperandsAreCollected) {
  const OneNode one("torch.ops.higher_order.wrap_with_set_grad_enabled",
                    named("", R"({"as_bool": false})") + ", " + named("", kBody) + ", " +
                        named("", kA) + ", " + named("", R"({"as_tensor": {"name": "b"}})"),
                    kY);
  EXPECT_FALSE(one.node().arg("enabled").to_bool());
  EXPECT_EQ(one.node().arg("operands").list().size(), 2u);
  const auto& body = std::get<std::shared_ptr<Graph>>(one.node().arg("body").v);
  EXPECT_EQ(body->outputs[0].value(), body->inputs[0].value());
}

TEST(HigherOrder, OldScanLosesItsDirection) {
  const std::string lists = named("", kBody) + ", " +
                            named("", R"({"as_tensors": [{"name": "a"}]})") + ", " +
                            named("", R"({"as_tensors": [{"name": "b"}]})") + ", ";
  const std::string rest = ", " + named("", R"({"as_tensors": []})");
  const std::string forward =
      named("", R"({"as_int": 0})") + ", " + named("", R"({"as_bool": false})");
  const OneNode one("torch.ops.higher_order.scan", lists + forward + rest, kY);
  EXPECT_EQ(one.node().args.size(), 4u);
  EXPECT_EQ(one.node().arg("xs").list()[0].value(), one.input(1));
  const std::string backward =
      named("", R"({"as_int": 0})") + ", " + named("", R"({"as_bool": true})");
  EXPECT_NE(failure_of([&] {
              OneNode("torch.ops.higher_order.scan", lists + backward + rest, kY);
            }).find("backwards"),
            std::string::npos);
}

TEST(HigherOrder, EffectsAreUnwrapped) {
  const OneNode one("torch.ops.higher_order.with_effects",
                    named("", kA) + ", " +
                        named("", R"({"as_operator": "torch.ops.aten.relu.default"})") + ", " +
                        named("", R"({"as_tensor": {"name": "b"}})"),
                    R"({"as_tensor": {"name": "w"}}, {"as_tensor": {"name": "y"}})");
  EXPECT_EQ(one.node().target(), "aten::relu");
  EXPECT_EQ(one.arg(0).value(), one.input(1));
  EXPECT_EQ(one.node().outputs.size(), 1u);
}

TEST(HigherOrder, NestingIsLimited) {
  std::string body = kBody;
  const std::string inner_nodes = R"("nodes": [])";
  for (int i = 0; i < 18; ++i) {
    const std::string node =
        R"("nodes": [{"target": "torch.ops.my.op.default", "inputs": [{"name": "g", "arg": )" +
        body + R"(}], "outputs": []}])";
    body = test::replaced(kBody, inner_nodes, node);
  }
  EXPECT_NE(failure_of([&] { OneNode("torch.ops.my.op.default", named("g", body)); }), "");
}

// Imports one node whose arguments are the float32[2] a, e of float8_e5m2 and f of float8_e4m3fn.
class Float8Node : public Imported {
 public:
  Float8Node(const std::string& target, const std::string& inputs, const std::string& output)
      : Imported(program(target, inputs, output)) {}

 private:
  static std::string program(const std::string& target, const std::string& inputs,
                             const std::string& output) {
    const auto meta = [](int dtype) {
      return R"({"dtype": )" + std::to_string(dtype) +
             R"(, "sizes": [{"as_int": 2}], "strides": [{"as_int": 1}]})";
    };
    return R"({"inputs": [{"as_tensor": {"name": "a"}}, {"as_tensor": {"name": "e"}}, )"
           R"({"as_tensor": {"name": "f"}}], "nodes": [{"target": ")" +
           target + R"(", "inputs": [)" + inputs + R"(], "outputs": [{"as_tensor": {"name": ")" +
           output + R"("}}], "metadata": {}}], "tensor_values": {"a": )" + meta(7) + R"(, "y": )" +
           meta(7) + R"(, "e": )" + meta(30) + R"(, "g": )" + meta(30) + R"(, "f": )" + meta(29) +
           R"(}, "sym_int_values": {}, "outputs": []})";
  }
};

std::string tensor(const std::string& name) {
  return R"({"as_tensor": {"name": ")" + name + "\"}}";
}
std::string cast(const std::string& from, int dtype) {
  return named("self", tensor(from)) + ", " +
         named("dtype", R"({"as_scalar_type": )" + std::to_string(dtype) + "}");
}

TEST(Float8Nodes, CastsDecodeAndEncode) {
  const Float8Node from("torch.ops.aten.to.dtype", cast("e", 7), "y");
  EXPECT_EQ(from.calls(), "taper::decode_float8 aten::to.dtype ");
  const Float8Node to("torch.ops.aten._to_copy.default", cast("a", 30), "g");
  EXPECT_EQ(to.calls(), "taper::encode_float8 ");
  EXPECT_EQ(to.node().args[1].to_int(), 30);
  EXPECT_EQ(to.node().outputs[0]->type.dtype, ScalarType::kByte);
  const Float8Node both("torch.ops.prims.convert_element_type.default", cast("f", 30), "g");
  EXPECT_EQ(both.calls(), "taper::decode_float8 taper::encode_float8 ");
}

TEST(Float8Nodes, MovesKeepCodes) {
  const Float8Node moved("torch.ops.aten.alias.default", named("self", tensor("e")), "g");
  EXPECT_EQ(moved.calls(), "aten::alias ");
  EXPECT_EQ(moved.node().outputs[0]->type.dtype, ScalarType::kByte);
}

TEST(Float8Nodes, ZerosAreMadeOfAnyTensor) {
  const auto full = [](const std::string& value) {
    return named("self", tensor("a")) + ", " + named("fill_value", R"({"as_int": )" + value + "}") +
           ", " + named("dtype", R"({"as_scalar_type": 30})");
  };
  const Float8Node zeros("torch.ops.aten.full_like.default", full("0"), "g");
  EXPECT_EQ(zeros.calls(), "aten::full_like ");
  EXPECT_NE(failure_of([&] { Float8Node("torch.ops.aten.full_like.default", full("1"), "g"); }),
            "");
}

TEST(Float8Nodes, ArithmeticAndMixedMovesAreRefused) {
  const auto failure = [](const std::string& target, const char* name, const char* left,
                          const char* right) {
    const std::string inputs = named("self", tensor(left)) + ", " + named(name, tensor(right));
    return failure_of([&] { Float8Node("torch.ops.aten." + target, inputs, "g"); });
  };
  constexpr const char* kWhy = "has an 8-bit float, which can be stored, moved and cast";
  EXPECT_NE(failure("add.Tensor", "other", "e", "e").find(kWhy), std::string::npos);
  EXPECT_NE(failure("copy_.default", "src", "e", "a").find(kWhy), std::string::npos);
  EXPECT_NE(failure("copy_.default", "src", "e", "f").find(kWhy), std::string::npos);
}

TEST(Prims, BecomeTheirTwins) {
  const OneNode turned("torch.ops.prims.transpose.default",
                       named("a", kA) + ", " + named("permutation", R"({"as_ints": [0]})"), kY);
  EXPECT_TRUE(turned.node().is("aten::permute"));
  EXPECT_EQ(to_ints(turned.arg(1)), (std::vector<int64_t>{0}));
  const OneNode sum("torch.ops.prims.sum.default",
                    named("inp", kA) + ", " + named("dims", R"({"as_ints": [0]})") + ", " +
                        named("output_dtype", R"({"as_scalar_type": 7})"),
                    kY);
  EXPECT_TRUE(sum.node().is("aten::sum.dim_IntList"));
  EXPECT_EQ(std::get<ScalarType>(sum.node().arg("dtype").v), ScalarType::kFloat);
}

}  // namespace
}  // namespace taper::exir
