// Tests selective builds for every committed model: a table of the kernels that the program names
// is enough to load it, and any kernel, or dtype of a kernel, that is left out is named at load
// time.

#include <gtest/gtest.h>

#include "exir/export.h"
#include "kernels_portable/kernel_table.h"
#include "selective_build/selection.h"
#include "taper/module.h"
#include "test/e2e/model_cases.h"

namespace taper::test {
namespace {

class Selected : public testing::TestWithParam<ModelCase> {
 protected:
  void SetUp() override {
    exir::ExportRequest request;
    request.methods = {{"forward", GetParam().path()}};
    const std::string bytes = exir::export_program(request).files.pte.joined();
    file_.resize(bytes.size() / sizeof(Word) + 1);
    std::memcpy(file_.data(), bytes.data(), bytes.size());
    size_ = bytes.size();
    select::Needs needs;
    ASSERT_EQ(select::add_needs(bytes, "model", &needs), "");
    std::vector<std::string> problems;
    const select::Selection selection = select::select(needs, {}, &problems);
    ASSERT_TRUE(problems.empty()) << problems[0];
    for (const select::SelectedKernel& each : selection.kernels) {
      const Kernel* kernel = find_kernel(portable::portable_kernels(), each.kernel.name);
      ASSERT_NE(kernel, nullptr) << each.kernel.name;
      kernels_.push_back(kernel);
      trimmed_.push_back(*kernel);
      trimmed_.back().dtypes = each.need.dtypes;
    }
  }

  // Loads with the kernels in `table`; returns the error and sets `text`.
  Error load(const std::vector<const Kernel*>& table, std::string* text) {
    const KernelTable tables[] = {table};
    ModuleOptions options;
    options.kernels = tables;
    Module module(Span<const uint8_t>(reinterpret_cast<const uint8_t*>(file_.data()), size_),
                  options);
    const Status status = module.load_method("forward");
    *text = module.last_error_text();
    return status.error();
  }

  struct alignas(64) Word {
    unsigned char bytes[64];
  };
  std::vector<Word> file_;
  size_t size_ = 0;
  std::vector<const Kernel*> kernels_;
  std::vector<Kernel> trimmed_;  // The same kernels with only the dtypes that the model uses.
};

TEST_P(Selected, IsEnough) {
  std::string text;
  EXPECT_EQ(load(kernels_, &text), Error::kOk) << text;
  std::vector<const Kernel*> table;
  for (const Kernel& kernel : trimmed_) table.push_back(&kernel);
  EXPECT_EQ(load(table, &text), Error::kOk) << text;
}

TEST_P(Selected, WhatIsLeftOutIsNamed) {
  for (size_t i = 0; i < kernels_.size(); ++i) {
    std::vector<const Kernel*> table = kernels_;
    table.erase(table.begin() + static_cast<std::ptrdiff_t>(i));
    std::string text;
    EXPECT_EQ(load(table, &text), Error::kOperatorMissing);
    EXPECT_NE(text.find(kernels_[i]->name), text.npos) << text;
  }
}

TEST_P(Selected, ADtypeThatIsLeftOutIsNamed) {
  for (size_t i = 0; i < kernels_.size(); ++i) {
    for (DtypeSet left = trimmed_[i].dtypes; left != 0; left &= left - 1) {
      Kernel poorer = trimmed_[i];
      poorer.dtypes &= ~(left & -left);
      std::vector<const Kernel*> table = kernels_;
      table[i] = &poorer;
      std::string text;
      EXPECT_EQ(load(table, &text), Error::kOperatorMissing) << poorer.name;
      EXPECT_NE(text.find(poorer.name), text.npos) << text;
      EXPECT_NE(text.find("without the dtype"), text.npos) << text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Selected, testing::ValuesIn(model_cases()),
                         [](const auto& info) { return info.param.test_name(); });

}  // namespace
}  // namespace taper::test
