// The text form: what print() writes, parse_graph() reads back to the same graph.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "exir/ir/graph.h"
#include "exir/ops/builtin.h"

namespace taper::exir {
namespace {

void expect_same_text(const std::string& text) { EXPECT_EQ(print(*parse_graph(text)), text); }

TEST(Text, ReadsBackWhatItPrints) {
  expect_same_text(
      R"--(operator "mine::twist(Tensor x, int[]? by=None, *, str how=\"a\") -> (Tensor, Tensor)"
graph "forward" {
  range s0 = [2, 100]
  range u0 = [0, inf]
  range u1 = [-inf, 7]
  in_spec "[1, {\"type\": null}]"
  input %x: float32[s0, 3, 8, 8] order(0, 2, 3, 1)
  input 3
  input %flag: bool(s0)
  constant %w: float32[3] "scale.weight" = {1, -2.5, 1e-05}
  constant %half: float16[2] = hex "003c00c0"
  constant %none: int64[4] = none
  state %seen: int64[] "seen" = {-7}
  constant %big: uint8[1000] = zeros
  %y: float32[s0, 3, 8, 8] = aten::mul.Tensor(%x, %w)
  %n: int(s0) = aten::sym_size.int(%x, 0)
  %v: float32[2*s0, 4], %i: int64[2*s0, 4] = mine::twist(%y, [%n, -1], "q\"\\\n")
  %c: float64[] = aten::_to_copy(%seen, float64, strided, cpu, False, True, channels_last)
  %r: float32[2] = higher_order::cond(%flag, graph "true" {
    input %a: float32[2]
    %b: float32[2] = aten::relu(%a)
    return %b
  }, graph "false" {
    input %a: float32[2]
    return %a
  }, [%v, None, 1.0, inf])
  mutate %seen = %seen
  return %r, None, 4, [%y]
}
)--");
}

TEST(Text, FillsDefaults) {
  const auto graph = parse_graph(R"(graph "g" {
    input %x: float32[2]
    %y: float32[2] = aten::add.Tensor(%x, %x)
    return %y
  })");
  ASSERT_EQ(graph->nodes[0]->args.size(), 3u);
  EXPECT_EQ(graph->nodes[0]->arg("alpha").to_int(), 1);
  EXPECT_EQ(graph->nodes[0]->outputs[0]->producer, graph->nodes[0].get());
}

TEST(Text, NamesTheLineOfAnError) {
  const auto error = [](const std::string& body) -> std::string {
    try {
      parse_graph("graph \"g\" {\n" + body + "\nreturn }");
    } catch (const Failure& failure) {
      return failure.what();
    }
    return "";
  };
  EXPECT_EQ(error("input %x: float32[2]\n%x: float32[2] = aten::relu(%x)"),
            "line 3: %x is defined twice");
  EXPECT_EQ(error("aten::no_such()"), "line 2: unknown operator \"aten::no_such\"");
  EXPECT_EQ(error("%y: float32[] = aten::relu(%z)"), "line 2: %z is not defined");
  EXPECT_EQ(error("constant %c: int64[2] = {1}"), "line 2: ',' is missing");
  EXPECT_EQ(error("constant %c: int64[999999999999] = zeros"), "line 2: a constant is too large");
  EXPECT_NE(error("%y: float33[] = aten::relu(1)"), "");
}

TEST(Text, SurvivesCutsAndDamage) {
  const std::string good = R"(graph "g" { range s = [0, inf] input %x: float32[s, 2]
    constant %c: float32[2] "c" = {1, 2.5} %y: float32[s, 2] = aten::add.Tensor(%x, %c, 1)
    %z: float32[s] = aten::sum.dim_IntList(%y, [1], False, None) mutate %x = %y return %z, [1] })";
  std::mt19937 random(7);
  for (int i = 0; i < 3000; ++i) {
    std::string text = good.substr(0, i % 3 == 0 ? random() % good.size() : good.size());
    for (int k = 0; k < 2 && !text.empty(); ++k) {
      text[random() % text.size()] = "%[]{}(),:\"-9e.a"[random() % 15];
    }
    try {
      print(*parse_graph(text));
    } catch (const Failure&) {
    }
  }
}

// Random graphs over a few operators, with every kind of argument.
class RandomGraph {
 public:
  explicit RandomGraph(unsigned seed) : random_(seed) {}

  std::unique_ptr<Graph> make(int depth) {
    auto graph = std::make_unique<Graph>(builtin_operators());
    std::vector<Value*> values;
    for (int i = 0; i < 3; ++i) {
      Value* input = graph->new_tensor("x", type());
      input->role = ValueRole::kInput;
      graph->inputs.push_back(input);
      values.push_back(input);
    }
    std::vector<uint8_t> bytes(8);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random_());
    values.push_back(
        graph->new_constant("c", TensorType(ScalarType::kInt, {Sym(2)}), own_bytes(bytes)));
    graph->ranges["s0"] = {static_cast<int64_t>(random_() % 5), 100};
    for (int i = 0; i < 8; ++i) {
      Node* node = graph->append(builtin_operators()->need("higher_order::cond"), {});
      for (int k = 0; k < 4; ++k) node->args.push_back(argument(values, depth));
      Value* out = graph->new_tensor("y", type());
      out->producer = node;
      node->outputs.push_back(out);
      values.push_back(out);
    }
    graph->outputs.push_back(argument(values, 0));
    graph->mutations.push_back({values[0], values.back()});
    return graph;
  }

 private:
  TensorType type() {
    static constexpr ScalarType kTypes[] = {ScalarType::kFloat, ScalarType::kBool,
                                            ScalarType::kLong, ScalarType::kBFloat16,
                                            ScalarType::kUInt16};
    TensorType out(kTypes[random_() % 5], {});
    for (unsigned i = random_() % 4; i > 0; --i) {
      out.sizes.push_back(random_() % 2
                              ? Sym(static_cast<int64_t>(random_() % 9))
                              : Sym::symbol("s0") * Sym(static_cast<int64_t>(random_() % 3)));
    }
    out.dim_order = contiguous_order(out.sizes.size());
    std::shuffle(out.dim_order.begin(), out.dim_order.end(), random_);
    return out;
  }
  Argument argument(const std::vector<Value*>& values, int depth) {
    switch (random_() % (depth > 0 ? 12 : 11)) {
      case 0:
        return {};
      case 1:
        return static_cast<int64_t>(random_()) - 5;
      case 2:
        return static_cast<double>(random_()) / 7;
      case 3:
        return random_() % 2 == 0;
      case 4:
        return "text \"with\" \\ marks\n";
      case 5:
        return ScalarType::kHalf;
      case 6:
        return MemoryFormat::kChannelsLast3d;
      case 7:
        return Layout{};
      case 8:
        return Device{};
      case 9:
        return Argument::List{argument(values, 0), values[random_() % values.size()]};
      case 10:
        return values[random_() % values.size()];
      default:
        return std::shared_ptr<Graph>(make(depth - 1));
    }
  }

  std::mt19937 random_;
};

TEST(Text, RandomGraphsReadBack) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const std::string text = print(*RandomGraph(seed).make(2));
    ASSERT_EQ(print(*parse_graph(text)), text) << "seed " << seed;
  }
}

}  // namespace
}  // namespace taper::exir
