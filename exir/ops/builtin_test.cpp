#include "exir/ops/builtin.h"

#include <gtest/gtest.h>

#include <set>

#include "exir/ir/graph.h"

namespace taper::exir {
namespace {

const char* const kTexts[] = {
#define TAPER_SCHEMA(schema, flags) schema,
#define TAPER_OUT(functional, schema) schema,
#include "exir/ops/aten_schemas.def"
#include "exir/ops/other_ops.def"
#include "exir/ops/out_variants.def"
#undef TAPER_SCHEMA
#undef TAPER_OUT
};

const char* const kWithOut[] = {
#define TAPER_SCHEMA(schema, flags)
#define TAPER_OUT(functional, schema) functional,
#include "exir/ops/other_ops.def"
#include "exir/ops/out_variants.def"
#undef TAPER_SCHEMA
#undef TAPER_OUT
};

TEST(Registry, EverySchemaParsesAndPrintsBack) {
  for (const std::string text : kTexts) {
    const auto schema = builtin_operators()->find(text.substr(0, text.find('(')));
    ASSERT_NE(schema, nullptr) << text;
    EXPECT_EQ(to_text(parse_schema(to_text(*schema))), to_text(*schema));
    for (const SchemaArg& arg : schema->args) EXPECT_NO_THROW(default_argument(arg)) << text;
  }
}

TEST(Registry, OutVariantsTakeWhatTheirOperatorTakes) {
  for (const char* functional : kWithOut) {
    const auto from = builtin_operators()->find(functional);
    const auto out = builtin_operators()->out_variant(functional);
    ASSERT_NE(from, nullptr) << functional;
    ASSERT_NE(out, nullptr) << functional;
    size_t outs = 0;
    for (const SchemaArg& arg : out->args) {
      const bool is_out = arg.written() && arg.keyword_only;
      outs += is_out;
      if (!is_out && arg.name != "dtype" && arg.name != "dummy_param") {
        EXPECT_GE(from->find(arg.name), 0) << functional << " has no " << arg.name;
      }
    }
    EXPECT_GT(outs, 0u) << out->name;
  }
}

TEST(Registry, KnowsIrregularOutVariants) {
  EXPECT_EQ(builtin_operators()->out_variant("aten::add.Tensor")->name, "aten::add.out");
  EXPECT_EQ(builtin_operators()->out_variant("aten::mul.Scalar")->name, "aten::mul.Scalar_out");
  EXPECT_EQ(builtin_operators()->out_variant("aten::topk")->name, "aten::topk.values");
  EXPECT_EQ(builtin_operators()->out_variant("aten::max.dim")->name, "aten::max.dim_max");
  EXPECT_EQ(builtin_operators()->out_variant("aten::mean.dim")->name, "aten::mean.out");
  EXPECT_EQ(builtin_operators()->out_variant("aten::select_copy.int")->name,
            "aten::select_copy.int_out");
  EXPECT_EQ(builtin_operators()->out_variant("aten::relu_"), nullptr);
  EXPECT_EQ(builtin_operators()->out_variant("aten::no_such"), nullptr);
  EXPECT_EQ(builtin_operators()->find("aten::no_such"), nullptr);
  EXPECT_THROW(builtin_operators()->need("aten::no_such"), Failure);
}

TEST(Registry, TellsWhatKindOfOperatorItIs) {
  EXPECT_TRUE(builtin_operators()->tags("aten::add.Tensor").core);
  EXPECT_TRUE(builtin_operators()->tags("aten::view").view);
  EXPECT_TRUE(builtin_operators()->tags("aten::relu_").inplace);
  EXPECT_TRUE(builtin_operators()->tags("aten::linear").composite);
  EXPECT_TRUE(builtin_operators()->tags("aten::bernoulli").random);
  EXPECT_FALSE(builtin_operators()->tags("aten::no_such").core);
}

TEST(Schema, ReadsTypesAliasesAndDefaults) {
  const Schema schema = parse_schema(
      "ns::op.over(Tensor(a!) self, Tensor?[] indices, int[2]? k=[1, 2], *, str mode=\"a, b\", "
      "Tensor(b -> *)? t=None) -> (Tensor(a!) values, Tensor[])");
  EXPECT_EQ(schema.name, "ns::op.over");
  ASSERT_EQ(schema.args.size(), 5u);
  EXPECT_TRUE(schema.args[0].written());
  EXPECT_TRUE(schema.args[1].type.list && schema.args[1].type.optional_item);
  EXPECT_FALSE(schema.args[1].type.optional);
  EXPECT_EQ(schema.args[2].type.list_size, 2);
  EXPECT_TRUE(schema.args[2].type.optional);
  EXPECT_EQ(to_ints(default_argument(schema.args[2])), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(default_argument(schema.args[3]).text(), "a, b");
  EXPECT_TRUE(schema.args[3].keyword_only);
  EXPECT_EQ(schema.args[4].alias, "b");
  ASSERT_EQ(schema.returns.size(), 2u);
  EXPECT_EQ(schema.returns[0].name, "values");
  EXPECT_TRUE(schema.returns[1].type.list);
  EXPECT_EQ(schema.find("mode"), 3);
  EXPECT_EQ(schema.find("nothing"), -1);
}

TEST(Schema, RefusesWhatIsNoSchema) {
  for (const char* text : {"", "op() -> Tensor", "ns::op(Tensor x", "ns::op(Blob x) -> Tensor",
                           "ns::op(Tensor x)", "ns::op(Tensor) -> ()", "ns::op() -> Tensor a, b"}) {
    EXPECT_THROW(parse_schema(text), Failure) << text;
  }
}

TEST(DefaultArgument, RepeatsANumberForASizedList) {
  const Schema schema = parse_schema("ns::op(int[2] stride=1, float p=0, bool[3] m=True) -> ()");
  EXPECT_EQ(to_ints(default_argument(schema.args[0])), (std::vector<int64_t>{1, 1}));
  EXPECT_TRUE(default_argument(schema.args[1]).is<double>());
  EXPECT_EQ(default_argument(schema.args[2]).list().size(), 3u);
}

}  // namespace
}  // namespace taper::exir
