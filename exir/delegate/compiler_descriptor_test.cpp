#include "exir/delegate/compiler_descriptor.h"

#include <gtest/gtest.h>

#include "exir/ir/failure.h"

namespace taper::exir {
namespace {

constexpr CompileOption kOptions[] = {
    {.key = "level",
     .kind = CompileOption::Kind::kInteger,
     .least = -2,
     .most = 300,
     .standard = 5},
    {.key = "fast", .reader = CompileOption::Reader::kDevice},
    {.key = "depth",
     .kind = CompileOption::Kind::kInteger,
     .least = -300,
     .most = 300,
     .standard = 7,
     .reader = CompileOption::Reader::kDevice},
};

class Compiler final : public BackendCompiler {
 public:
  Compiler(BackendIdentity identity, const CompileOptions& options)
      : BackendCompiler(identity, options.specs()), level(options["level"]) {}
  std::string refusal(const Node&, const Graph&) const override { return "no"; }
  std::shared_ptr<Delegate> compile(const Part&) const override { return nullptr; }
  const int level;
};

constexpr BackendIdentity kOne = {"one", "OneBackend"}, kTwo = {"two", "TwoBackend"};

constexpr CompilerDescriptor kOneCompiler = {
    kOne,
    kOptions,
    [](const CompileOptions& options) -> std::shared_ptr<const BackendCompiler> {
      return std::make_shared<Compiler>(kOne, options);
    },
    nullptr,
    "",
    {}};
constexpr CompilerDescriptor kTwoCompiler = {
    kTwo,
    {},
    [](const CompileOptions&) -> std::shared_ptr<const BackendCompiler> {
      return std::make_shared<Compiler>(kTwo, CompileOptions(kOptions));
    },
    nullptr,
    "",
    {}};
constexpr const CompilerDescriptor* kTable[] = {&kOneCompiler, &kTwoCompiler};

std::string refusal(std::string_view text) {
  try {
    make_compilers(text, kTable);
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "";
}

TEST(CompilerDescriptor, BackendsComeInTheOrderOfPreferenceWithTheirOptions) {
  const BackendCompilers made = make_compilers("two,one:level=-2:fast=1", kTable);
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(made[0]->name(), "two");
  EXPECT_EQ(made[1]->name(), "one");
  EXPECT_EQ(made[1]->delegate_id(), "OneBackend");
  EXPECT_EQ(static_cast<const Compiler&>(*made[0]).level, 5);
  EXPECT_EQ(static_cast<const Compiler&>(*made[1]).level, -2);
  EXPECT_TRUE(make_compilers("portable", kTable).empty());
  EXPECT_TRUE(make_compilers("none", kTable).empty());
}

TEST(CompilerDescriptor, WhatTheDeviceReadsBecomesCompileSpecs) {
  const auto specs_of = [](const char* text) {
    std::string all;
    const auto compilers = make_compilers(text, kTable);
    for (const OwnedCompileSpec& spec : compilers.at(0)->specs()) {
      all += spec.key;
      for (const uint8_t byte : spec.value) all += " " + std::to_string(byte);
      all += ";";
    }
    return all;
  };
  EXPECT_EQ(specs_of("one:level=300:fast=1:depth=258"), "fast 1;depth 2 1 0 0;");
  EXPECT_EQ(specs_of("one:depth=-1"), "depth 255 255 255 255;");
  EXPECT_EQ(specs_of("one:fast=0:depth=7"), "") << "these are their standard values";
}

TEST(CompilerDescriptor, TheFlagOfFloat16IsSetWhereThereIsOne) {
  CompilerDescriptor with_half = kOneCompiler;
  with_half.half_option = "fast";
  const CompilerDescriptor* const table[] = {&with_half, &kTwoCompiler};
  const auto flag_of = [&](const char* text) -> size_t {
    return make_compilers(text, table, Numerals::kFloat16).at(0)->specs().size();
  };
  EXPECT_EQ(flag_of("one"), 1u);
  EXPECT_EQ(flag_of("one:fast=1,two"), 1u);
  EXPECT_EQ(flag_of("one:fast=0"), 0u);
  EXPECT_EQ(make_compilers("one", table).at(0)->specs().size(), 0u);
  for (const char* text : {"two", "portable"}) {
    try {
      make_compilers(text, table, Numerals::kFloat16);
      ADD_FAILURE() << text;
    } catch (const Failure& failure) {
      EXPECT_STREQ(failure.what(), "none of them computes in float16; there is: one");
    }
  }
  try {
    make_compilers("one", table, Numerals::kBfloat16);
    ADD_FAILURE();
  } catch (const Failure& failure) {
    EXPECT_STREQ(failure.what(), "none of them computes in bfloat16; there is: ");
  }
}

TEST(CompilerDescriptor, EverythingThatIsWrongIsSaidAtOnce) {
  EXPECT_EQ(refusal("three"), "no backend 'three'; there are: portable, one, two");
  EXPECT_EQ(refusal("one,"), "no backend ''; there are: portable, one, two");
  EXPECT_EQ(refusal("one,one"), "the backend 'one' is given twice");
  EXPECT_EQ(refusal("one,portable"),
            "'portable' stands alone: its kernels run what backends leave");
  EXPECT_EQ(refusal("two:level=1"), "two: no option 'level'; it has none");
  EXPECT_EQ(refusal("one:speed=1"), "one: no option 'speed'; there are: level, fast, depth");
  EXPECT_EQ(refusal("one:fast=2:level=301:level=1,two:x=1"),
            "one: 'fast' is 0 or 1, not '2'; "
            "one: 'level' is a whole number from -2 to 300, not '301'; "
            "one: 'level' is given twice; two: no option 'x'; it has none");
  EXPECT_EQ(refusal("one:fast"), "one: 'fast' is 0 or 1, not ''");
  EXPECT_EQ(refusal("one:"), "one: no option ''; there are: level, fast, depth");
}

}  // namespace
}  // namespace taper::exir
