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
