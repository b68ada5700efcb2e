// Every operator that the table lists as unsupported has a reason, with few exceptions.

#include "exir/ops/refusals.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "exir/support.h"

namespace taper::exir {
namespace {

TEST(Refusals, AreExplained) {
  std::string open;
  for (const std::string& name : operator_table().unsupported) {
    // The first are read as arithmetic of sizes, the second are declared by tests of this process.
    const bool is_ours =
        name.substr(0, 8) == "python::" || name.find("_test::") != std::string::npos;
    if (!is_ours && refusal_reason(name) == nullptr) open += name + "\n";
  }
  EXPECT_EQ(open, "");
}

TEST(Refusals, SayWhatHelps) {
  EXPECT_NE(std::string(refusal_reason("aten::to_sparse")).find("dense"), std::string::npos);
  EXPECT_EQ(refusal_reason("aten::add.Tensor"), nullptr);
}

}  // namespace
}  // namespace taper::exir
