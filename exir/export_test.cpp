#include "exir/export.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "exir/ops/declare.h"

namespace taper::exir {
namespace {

const std::string kFolder = TAPER_SOURCE_DIR "/examples/custom_op/";

Operators declared() {
  std::stringstream text;
  text << std::ifstream(kFolder + "ops.txt").rdbuf();
  return declare_operators(builtin_operators(), text.str(), "ops.txt");
}

// What is said about a program that calls an operator of the user's own; empty if it is exported.
std::string complaint(const Operators& operators) {
  ExportRequest request;
  request.methods = {{"forward", kFolder + "model.pt2"}};
  request.operators = operators;
  try {
    export_program(request);
    return "";
  } catch (const Failure& failure) {
    return failure.diagnostics().at(0).id;
  }
}

TEST(Export, DeclarationsAreThoseOfTheRequest) {
  EXPECT_EQ(complaint(builtin_operators()), "undeclared-op");
  EXPECT_EQ(complaint(declared()), "");
  EXPECT_EQ(complaint(builtin_operators()), "undeclared-op");
}

TEST(Export, SaysWhichCallsNeedKernelsOfPyTorch) {
  ExportRequest request;
  request.methods = {{"forward", kFolder + "model.pt2"}};
  request.operators = declared();
  EXPECT_TRUE(export_program(request).methods.at(0).by_aten.empty());
  request.lowering.aten = true;
  EXPECT_EQ(export_program(request).methods.at(0).by_aten,
            (std::map<std::string, size_t>{{"my::accumulate_", 1}, {"my::shrink.out", 1}}));
}

TEST(Export, ABoundIsOfASymbolOfAnyMethod) {
  const std::string models = TAPER_SOURCE_DIR "/test/models/data/";
  ExportRequest request;
  request.methods = {{"a", models + "add.pt2"}, {"b", models + "dynamic_batch.pt2"}};
  request.bounds = {{"s77", 4}};
  EXPECT_EQ(export_program(request).methods.size(), 2u);
  request.bounds["nonsense"] = 1500;
  try {
    export_program(request);
    FAIL() << "no method has such a symbol";
  } catch (const Failure& failure) {
    EXPECT_STREQ(failure.what(),
                 "the bound 1500 is of 'nonsense', which is no symbolic size of the program; it "
                 "has s77");
    EXPECT_EQ(failure.diagnostics().at(0).id, "no-such-symbol");
  }
  // Of a program that cannot be read nobody knows the symbols.
  request.methods.push_back({"c", "/none.pt2"});
  try {
    export_program(request);
    FAIL() << "there is no such file";
  } catch (const Failure& failure) {
    ASSERT_EQ(failure.diagnostics().size(), 1u) << failure.what();
    EXPECT_NE(std::string(failure.what()).find("/none.pt2"), std::string::npos);
  }
}

TEST(Export, RequestsWithDifferentDeclarationsRunSideBySide) {
  std::string with, without;
  std::thread one([&] { with = complaint(declared()); });
  std::thread two([&] { without = complaint(builtin_operators()); });
  one.join();
  two.join();
  EXPECT_EQ(with, "");
  EXPECT_EQ(without, "undeclared-op");
}

}  // namespace
}  // namespace taper::exir
