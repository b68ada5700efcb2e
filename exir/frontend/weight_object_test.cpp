// Objects as archives within an archive, whose numbers are computed by hand.

#include "exir/frontend/weight_object.h"

#include <gtest/gtest.h>

#include "exir/frontend/archive_for_test.h"
#include "exir/ops/builtin.h"

namespace taper::exir {
namespace {

std::string text(const std::string& value) {
  std::string out = "X";
  test::put(out, value.size(), 4);
  return out + value;
}
std::string number(int value) {
  std::string out = "J";
  test::put(out, static_cast<uint32_t>(value), 4);
  return out;
}
std::string global(const std::string& module, const std::string& name) {
  return "c" + module + "\n" + name + "\n";
}
// A matrix of bytes in the member data/KEY.
std::string matrix(const std::string& key, int rows, int columns) {
  return global("torch._utils", "_rebuild_tensor_v2") + "((" + text("storage") +
         global("torch", "ByteStorage") + text(key) + text("cpu") + number(rows * columns) + "tQ" +
         number(0) + number(rows) + number(columns) + "\x86" + number(columns) + number(1) +
         "\x86\x89" + global("collections", "OrderedDict") + ")RtR";
}

// A weight of 16 columns of an object of that class, and the calls that compute it.
struct Weight {
  Weight(const std::string& type, const std::string& state, const std::string& scales)
      : file(archive(type, state, scales)),
        budget(file.size() * 64),
        zip(test::blob_of(file), budget),
        store(budget),
        graph(builtin_operators()) {
    store.open_config(zip, *zip.find("d/c.json"));
    value = graph.new_tensor("w", TensorType(ScalarType::kFloat, {Sym(1), Sym(16)}));
    value->role = ValueRole::kConstant;
    object = store.open_object("t");
  }
  static std::string archive(const std::string& type, const std::string& state,
                             const std::string& scales) {
    const std::string pickle = "\x80\x02" + global("torch._tensor", "_rebuild_from_type_v2") + "(" +
                               global("torch._utils", "_rebuild_wrapper_subclass") +
                               global("mine", type) + ")}(" + state + "utR.";
    const std::string inner = test::zip_of({{"archive/data.pkl", pickle},
                                            {"archive/data/0", std::string(8, '\x21')},
                                            {"archive/data/1", scales}});
    return test::zip_of(
        {{"d/w_0", inner},
         {"d/c.json", R"({"config": {"t": {"path_name": "w_0", "use_pickle": true}}})"}});
  }
  std::string calls() const {
    std::string all;
    for (const auto& node : graph.nodes) all += std::string(node->target()) + " ";
    return all;
  }

  std::string file;
  Budget budget;
  ZipArchive zip;
  TensorStore store;
  Graph graph;
  Value* value = nullptr;
  std::unique_ptr<TensorStore> object;
};

std::string nvfp4(int scale_rows, int scale_columns, const char* swizzled) {
  return text("qdata") + matrix("0", 1, 8) + text("scale") +
         matrix("1", scale_rows, scale_columns) + text("block_size") + number(16) +
         text("is_swizzled_scales") + swizzled + text("act_quant_kwargs") + "N";
}

TEST(WeightObject, BlocksOfFourBitsHaveTheirScalesInRows) {
  std::string tile(512, '\0');
  tile[0] = 0x38;
  Weight weight("NVFP4Tensor", nvfp4(32, 16, "\x88"), tile);
  ASSERT_TRUE(define_weight(weight.graph, weight.value, *weight.object));
  EXPECT_EQ(weight.calls(), "torchao::dequantize_nvfp4 ");
  EXPECT_EQ(weight.value->role, ValueRole::kResult);
  const Value* scales = weight.graph.nodes[0]->arg(1).value();
  EXPECT_EQ(scales->type.sizes, (std::vector<Sym>{Sym(1), Sym(1)}));
  EXPECT_EQ(scales->data.data[0], 0x38);
}

TEST(WeightObject, TooFewScalesAreRefused) {
  Weight weight("NVFP4Tensor", nvfp4(1, 1, "\x88"), "8");
  EXPECT_NE(test::failure_of([&] {
              define_weight(weight.graph, weight.value, *weight.object);
            }).find("too few scales"),
            std::string::npos);
  Weight lacking("NVFP4Tensor", text("block_size") + number(16), "8");
  EXPECT_NE(test::failure_of([&] {
              define_weight(lacking.graph, lacking.value, *lacking.object);
            }).find("lacks its scale"),
            std::string::npos);
}

TEST(WeightObject, OthersAreNotTaken) {
  Weight other("Weight", nvfp4(1, 1, "\x89"), "8");
  EXPECT_FALSE(define_weight(other.graph, other.value, *other.object));
  Weight dynamic("NVFP4Tensor", text("act_quant_kwargs") + "\x88", "8");
  EXPECT_FALSE(define_weight(dynamic.graph, dynamic.value, *dynamic.object));
  EXPECT_TRUE(dynamic.graph.nodes.empty());
}

}  // namespace
}  // namespace taper::exir
