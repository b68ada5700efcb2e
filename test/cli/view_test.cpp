// taper view: its page is written whole or not at all, and its one line for each wrong input. What
// the page does is tested in a browser (test/view).

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "test/cli/command.h"
#include "tools/atomic_file.h"

namespace taper::test {
namespace {

const std::string kData = TAPER_SOURCE_DIR "/test/models/data/";

class View : public testing::Test {
 protected:
  // Runs it, and returns the page.
  std::string page_of(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "view");
    arguments.insert(arguments.end(), {"-o", page_});
    const Said said = run("taper", arguments);
    EXPECT_EQ(said.code, 0) << said.err;
    std::string page = tools::read_file(page_);
    EXPECT_TRUE(has(page, "<!doctype html>") && has(page, "</html>"));
    return page;
  }

  // A failure is one line with `why`, and leaves no page.
  void expect_refused(std::vector<std::string> arguments, const std::string& why, int code = 1) {
    arguments.insert(arguments.begin(), "view");
    const Said said = run("taper", arguments);
    EXPECT_EQ(said.code, code) << why;
    EXPECT_EQ(said.error_lines().size(), code == 1 ? 1u : 2u) << said.err;
    EXPECT_TRUE(has(said.err, why)) << said.err;
    EXPECT_FALSE(std::ifstream(page_).good()) << why;
  }

  const ScratchFolder folder_;
  const std::string page_ = folder_ / "page.html", pte_ = folder_ / "m.pte",
                    report_ = folder_ / "report.json";
};

TEST_F(View, ShowsModelsAndPrograms) {
  const std::string model = kData + "dynamic_batch.pt2";
  EXPECT_TRUE(has(page_of({model}), "as exported"));
  ASSERT_EQ(run("taper", {"export", model, "-o", pte_, "--debug-info"}).code, 0);
  EXPECT_TRUE(has(page_of({pte_}), "The instructions that the device executes."));
}

// The same model gives the same page.
TEST_F(View, IsReproducible) {
  const std::vector<std::string> arguments = {kData + "cond_twice.pt2"};
  const std::string first = page_of(arguments);
  EXPECT_EQ(page_of(arguments), first);
}

TEST_F(View, TakesReportsOfTheModelOnly) {
  const std::string model = kData + "mobilenet_v2.pt2", other = kData + "bert_mini.pt2";
  ASSERT_EQ(run("taper", {"export", model, "-o", pte_, "--debug-info"}).code, 0);
  tools::write_file(report_, run("taper", {"profile", pte_, "--runs", "1", "--json"}).out);
  EXPECT_TRUE(has(page_of({model, "--profile", report_}), "\"profile\":{\"median_s\":"));
  page_of({pte_, "--profile", report_});
  std::filesystem::remove(page_);
  expect_refused({other, "--profile", report_, "-o", page_}, "is of another model: of its ");
  expect_refused({other, "--profile", report_, "-o", page_}, "are in bert_mini.pt2 (");
  expect_refused({model, "--compare", report_, "-o", page_}, "'taper compare --json' prints");
  tools::write_file(report_, run("taper", {"compare", model, pte_, "--json"}).out);
  EXPECT_TRUE(has(page_of({model, "--compare", report_}), "\"comparison\":{\"reference\":"));
  page_of({pte_, "--compare", report_});
  std::filesystem::remove(page_);
  expect_refused({other, "--compare", report_, "-o", page_}, "m.pte against ");
  const std::string whole = tools::read_file(report_);
  tools::write_file(report_, whole.substr(0, whole.size() / 2));
  expect_refused({model, "--compare", report_, "-o", page_}, report_);
}

TEST_F(View, CompareMarksItsErrors) {
  const std::string model = kData + "mobilenet_v2.pt2";
  ASSERT_EQ(run("taper", {"export", model, "-o", pte_, "--debug-info"}).code, 0);
  ASSERT_EQ(run("taper", {"compare", model, pte_, "--html", page_}).code, 0);
  const std::string page = tools::read_file(page_);
  EXPECT_TRUE(has(page, "\"comparison\":{\"kind\":\"compare\""));
  EXPECT_TRUE(has(page, "as exported") && has(page, "\"title\":\"program\""));
}

TEST_F(View, RefusesInOneLine) {
  const std::string model = kData + "add.pt2";
  expect_refused({folder_ / "none.pt2", "-o", page_}, "none.pt2");
  expect_refused({model, "-o", folder_ / "no/page.html"}, "no/page.html");
  expect_refused({model, "-o", page_, "--profile", folder_ / "none.json"}, "none.json");
  expect_refused({model, "-o", page_, "--format", "svg"}, "--format", 2);
  ASSERT_EQ(run("taper", {"export", model, "-o", pte_}).code, 0);
  expect_refused({pte_, "-o", page_, "--backend", "portable"}, "--backend needs a .pt2", 2);
  const std::string whole = tools::read_file(pte_);
  for (const size_t bytes : {size_t{0}, size_t{7}, whole.size() / 2, whole.size() - 1}) {
    tools::write_file(pte_, whole.substr(0, bytes));
    expect_refused({pte_, "-o", page_}, pte_);
  }
}

// It is shown as far as it gets, with the reason.
TEST_F(View, ShowsWhatCannotBeCompiled) {
  const std::string models = TAPER_SOURCE_DIR "/test/cli/data/";
  const Said said = run("taper", {"view", models + "many.pt2", "-o", page_});
  ASSERT_EQ(said.code, 0) << said.err;
  EXPECT_TRUE(has(said.err, "cannot be compiled"));
  EXPECT_TRUE(has(tools::read_file(page_), "\"problems\":[\""));
}

}  // namespace
}  // namespace taper::test
