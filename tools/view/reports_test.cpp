// Reports of other commands: what is taken from them, and files that are none or of another model.

#include "tools/view/reports.h"

#include <gtest/gtest.h>

#include "exir/frontend/json.h"
#include "test/support/scratch_folder.h"
#include "tools/atomic_file.h"
#include "tools/error.h"

namespace taper::tools {
namespace {

constexpr char kLine[] = "net.py:3 in forward: y = self.fc(x)";

class Reports : public testing::Test {
 protected:
  void SetUp() override {
    document_.file = "net.pte";
    ViewStep step;
    for (const char* name : {"linear", "relu"}) {
      ViewCall call;
      call.name = name;
      call.line = kLine;
      step.calls.push_back(document_.add(call));
    }
    document_.steps = {step};
  }

  template <typename Add>
  std::string problem(const std::string& text, const Add& add) {
    const std::string path = folder_ + "/report.json";
    write_file(path, text);
    try {
      add(path, document_);
    } catch (const InputError& error) {
      std::string what = error.what();
      EXPECT_EQ(what.find(folder_), 0u) << what;
      EXPECT_EQ(what.find('\n'), what.npos) << what;
      return what.substr(path.size() + 2);
    }
    return "";
  }
  std::string profile_problem(const std::string& text) { return problem(text, add_profile); }
  std::string compare_problem(const std::string& text) { return problem(text, add_comparison); }

  const test::ScratchFolder scratch_;
  const std::string folder_ = scratch_.path();
  ViewDocument document_;
};

std::string row(const std::string& node, const std::string& line) {
  return R"({"place":"0","node":")" + node + R"(","line":")" + line +
         R"(","op":"aten::linear","is_step":false,"median_s":0.5})";
}

std::string profile_of(const std::string& rows) {
  return R"({"median_s":1,"runs":5,"rows":[)" + rows + "]}";
}

std::string compared(const std::string& node, const std::string& line) {
  return R"({"node":")" + node + R"(","line":")" + line +
         R"(","with":["x"],"snr_db":"Infinity","max_rel":0,"bound":1e-4,"agrees":true,)"
         R"("from_inputs":false,"made_rel":null,"problem":""})";
}

std::string comparison_of(const std::string& nodes) {
  return R"({"reference":"net.pt2","program":"net.pte","method":"forward","agrees":true,)"
         R"("first":null,"worst":"relu","nodes":[)" +
         nodes + "]}";
}

TEST_F(Reports, ProfilesAreTaken) {
  EXPECT_EQ(profile_problem(profile_of(row("linear", kLine) + "," + row("relu", kLine))), "");
  const std::string& text = document_.profile;
  const exir::JsonDocument json(
      {{reinterpret_cast<const uint8_t*>(text.data()), text.size()}, {}, 0}, "profile");
  const exir::JsonArray rows = exir::json_array(exir::json_need(json.root(), "rows"), "rows");
  ASSERT_EQ(exir::json_size(rows), 2u);
  EXPECT_EQ(exir::json_double(exir::json_need(*rows.begin(), "median_s"), "median_s"), 0.5);
}

TEST_F(Reports, ComparisonsAreTaken) {
  EXPECT_EQ(compare_problem(comparison_of(compared("linear", kLine))), "");
  EXPECT_NE(document_.comparison.find("\"snr_db\":\"Infinity\""), std::string::npos);
  EXPECT_NE(document_.comparison.find("\"with\":[\"x\"]"), std::string::npos);
}

TEST_F(Reports, OfAnotherModelAreRefusedWithBothIdentities) {
  EXPECT_EQ(profile_problem(profile_of(row("conv2d", "") + "," + row("pool", ""))),
            "is of another model: of its 2 nodes (conv2d, pool) 0 are in net.pte (linear, relu)");
  // The name alone does not tell: it comes from another line.
  EXPECT_EQ(profile_problem(profile_of(row("linear", "other.py:1 in forward: z"))),
            "is of another model: of its 1 nodes (linear) 0 are in net.pte (linear, relu)");
  EXPECT_EQ(
      compare_problem(comparison_of(compared("conv2d", ""))),
      "is of another model (net.pte against net.pt2): of its 1 nodes (conv2d) 0 are in net.pte "
      "(linear, relu)");
  EXPECT_EQ(document_.profile + document_.comparison, "");
}

TEST_F(Reports, OtherFilesAreRefused) {
  const std::string good = profile_of(row("linear", kLine));
  for (const std::string& bad :
       {std::string(), std::string("[]"), std::string("{}"), good.substr(0, good.size() / 2),
        good + "x", std::string("\xff\xfe"), comparison_of(compared("linear", kLine)),
        std::string(R"({"rows":[1]})"), std::string(R"({"rows":[{"is_step":"no"}]})"),
        std::string(5000, '['), std::string(R"({"rows":{}})")}) {
    EXPECT_EQ(profile_problem(bad).rfind("is not what 'taper profile --json' prints: ", 0), 0u)
        << bad;
    EXPECT_EQ(compare_problem(bad == comparison_of(compared("linear", kLine)) ? good : bad)
                  .rfind("is not what 'taper compare --json' prints: ", 0),
              0u)
        << bad;
  }
  EXPECT_EQ(document_.profile + document_.comparison, "");
}

TEST_F(Reports, AFileThatIsMissingIsNamed) {
  try {
    add_profile(folder_ + "/none.json", document_);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("none.json"), std::string::npos);
  }
}

}  // namespace
}  // namespace taper::tools
