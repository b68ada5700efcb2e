// The dtypes column of ops.def against the kernels: each is called with tensors of many dtypes, in
// the shapes of its cases, and must take what its rule says and nothing else.

#include "exir/ops/dtype_rule.h"

#include <gtest/gtest.h>

#include <map>

#include "exir/ops/builtin.h"
#include "exir/ops/case_call_for_test.h"
#include "kernels_portable/kernel_facts.h"
#include "test/support/case_slots.h"
#include "test/support/op_cases.h"

namespace taper::exir {
namespace {

using S = ScalarType;
using test::CaseTensor;
using test::CaseValue;
using test::OpCase;

constexpr S kDtypes[] = {S::kFloat,    S::kHalf,  S::kByte,   S::kChar,   S::kLong,
                         S::kInt,      S::kBool,  S::kUInt32, S::kUInt64, S::kDouble,
                         S::kBFloat16, S::kShort, S::kUInt16};
constexpr size_t kEvery = std::size(kDtypes), kSome = 7, kFew = 5;

// The tensors of a call that have a dtype of their own: a list of tensors has one.
std::vector<CaseValue*> places(OpCase& c) {
  std::vector<CaseValue*> found;
  for (auto* values : {&c.args, &c.results}) {
    for (CaseValue& value : *values) {
      if (!value.tensors.empty()) found.push_back(&value);
    }
  }
  return found;
}

std::string converted(const std::string& text, S dtype) {
  const bool word = text == "true" || text == "false";
  const double number = word ? text == "true" : test::parse_double(text);
  if (dtype == S::kBool) return number != 0 ? "true" : "false";
  if (is_floating(dtype)) return word ? std::to_string(number) : text;
  return std::to_string(std::abs(number) < 1e9 ? static_cast<int64_t>(number) : 1);
}

void set_dtype(CaseValue& value, S dtype) {
  for (CaseTensor& tensor : value.tensors) {
    if (tensor.type == dtype) continue;
    tensor.type = dtype;
    for (std::string& text : tensor.values) text = converted(text, dtype);
  }
}

bool is_real(OpCase& c) {
  for (const CaseValue* value : places(c)) {
    for (const CaseTensor& tensor : value->tensors) {
      if (is_complex(tensor.type)) return false;
    }
  }
  return true;
}

// What decides which dtypes are taken, besides them: what is None, what is 0-d, kinds of numbers.
std::string form_of(const OpCase& c) {
  std::string form = c.kernel;
  for (const CaseValue& arg : c.args) {
    form += " " + std::to_string(static_cast<int>(arg.tag));
    if (arg.tag == Tag::kTensor && arg.tensors[0].sizes.empty()) form += "'";
    if (arg.tag == Tag::kString && !arg.words.empty()) form += arg.words[0];
  }
  return form;
}

Error call(const OpCase& c, const Kernel& kernel) {
  test::CaseSlots made(c, test::CaseOutputs::kExact);
  static std::vector<unsigned char> temp(1 << 20);
  KernelContext context(Span<unsigned char>(temp.data(), temp.size()));
  return kernel.run(context, made.slots.data()).error();
}

std::string dtypes_of(OpCase& c) {
  std::string text;
  for (const CaseValue* value : places(c))
    text += std::string(" ") + to_string(value->tensors[0].type);
  return text;
}

// Cases of one form: a combination of dtypes is taken if it is in one of them.
class Form {
 public:
  explicit Form(std::vector<OpCase> cases)
      : cases_(std::move(cases)),
        kernel_(*find_kernel(portable::portable_kernels(), cases_[0].kernel)),
        rule_(portable::find_kernel_facts(cases_[0].kernel)->dtypes),
        schema_(builtin_operators()->need(cases_[0].kernel)),
        places_(places(cases_[0]).size()) {}

  void check() {
    if (rule_.empty() || places_ == 0) return;
    if (places_ <= 3) return check_all(places_ < 3 ? kEvery : kSome);
    for (size_t i = 0; i < places_; ++i) {
      for (size_t j = 0; j < i; ++j) check_two(i, j);
    }
  }

 private:
  void check_all(size_t dtypes) {
    std::vector<size_t> at(places_, 0);
    while (true) {
      check_one([&](size_t place, S) { return kDtypes[at[place]]; });
      size_t place = 0;
      while (place < places_ && ++at[place] == dtypes) at[place++] = 0;
      if (place == places_) return;
    }
  }

  void check_two(size_t i, size_t j) {
    for (size_t a = 0; a < kFew; ++a) {
      for (size_t b = 0; b < kFew; ++b) {
        check_one([&](size_t place, S own) {
          return place == i ? kDtypes[a] : place == j ? kDtypes[b] : own;
        });
      }
    }
  }

  // In inference it leaves the saved statistics alone, whatever their dtype.
  bool takes_more_in_inference() const {
    return cases_[0].kernel == "aten::_native_batch_norm_legit.out";
  }

  template <typename DtypeAt>
  void check_one(DtypeAt dtype_at) {
    bool taken = false, refused = false, foreseen = false;
    std::string dtypes;
    for (const OpCase& original : cases_) {
      OpCase c = original;
      const std::vector<CaseValue*> values = places(c);
      for (size_t i = 0; i < values.size(); ++i) {
        set_dtype(*values[i], dtype_at(i, values[i]->tensors[0].type));
      }
      const Error error = call(c, kernel_);
      taken = taken || error == Error::kOk;
      refused = refused || error == Error::kInvalidType;
      CaseCall made(c, schema_);
      foreseen = foreseen || rule_.takes(made.node, *schema_);
      dtypes = dtypes_of(c);
    }
    if (testing::Test::HasFailure()) return;
    if (taken) {
      EXPECT_TRUE(foreseen || takes_more_in_inference())
          << cases_[0].kernel << " takes" << dtypes << "; its rule in ops.def does not";
    } else if (refused) {
      EXPECT_FALSE(foreseen) << cases_[0].kernel << " does not take" << dtypes
                             << "; its rule in ops.def does";
    }
  }

  std::vector<OpCase> cases_;
  const Kernel& kernel_;
  const DtypeRule rule_;
  const std::shared_ptr<const Schema> schema_;
  const size_t places_;
};

class DtypeRules : public testing::TestWithParam<std::string> {};

TEST_P(DtypeRules, AreWhatTheKernelsTake) {
  constexpr size_t kMostValues = 300;
  std::string problem;
  std::map<std::string, std::vector<OpCase>> forms;
  for (OpCase& c : test::read_op_cases(test::op_case_path(GetParam()), &problem)) {
    if (c.refused || !is_real(c) || builtin_operators()->find(c.kernel) == nullptr) continue;
    size_t values = 0;
    for (const CaseValue* value : places(c)) values += value->tensors[0].values.size();
    std::vector<OpCase>& form = forms[form_of(c)];
    const size_t most = places(c).size() < 3 ? 4 : 2;
    if (form.size() < most && (form.empty() || values < kMostValues)) form.push_back(c);
  }
  for (auto& [name, cases] : forms) Form(std::move(cases)).check();
}

INSTANTIATE_TEST_SUITE_P(Portable, DtypeRules, testing::ValuesIn(test::op_case_families()),
                         [](const auto& info) { return info.param; });

TEST(DtypeRule, IsReadWholeOrRefused) {
  EXPECT_EQ(DtypeRule("f|i64= -> b").first_dtypes(),
            (std::vector<S>{S::kFloat, S::kDouble, S::kHalf, S::kBFloat16, S::kLong}));
  EXPECT_TRUE(DtypeRule("").first_dtypes().empty());
  EXPECT_THROW(DtypeRule("f"), Failure);
  EXPECT_THROW(DtypeRule("x -> f"), Failure);
  EXPECT_THROW(DtypeRule("f -> f unless mode int"), Failure);
}

}  // namespace
}  // namespace taper::exir
