// Builds slots from the text of a case, calls the kernel and compares its results; see op_cases.h.

#include "test/support/op_cases.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "kernels_portable/engine/promote.h"
#include "kernels_portable/kernel_facts.h"
#include "test/support/case_slots.h"
#include "test/support/case_values.h"
#include "test/support/op_case_file.h"

namespace taper::test {
namespace {

constexpr size_t kTempBytes = 16 << 20;

class Call {
 public:
  Call(const OpCase& c, const Kernel& kernel, CaseOutputs outputs)
      : case_(c), kernel_(kernel), made_(c, outputs) {}

  // Makes the kernel write its first result to the memory of the argument.
  void overwrite(size_t argument) { made_.slots[case_.args.size()] = made_.slots[argument]; }

  void run() {
    std::vector<EValue*>& slots = made_.slots;
    if (slots.size() != kernel_.arg_count) {
      ADD_FAILURE() << "the kernel has " << int{kernel_.arg_count} << " arguments, the case "
                    << slots.size();
      return;
    }
    for (size_t i = 0; i < slots.size(); ++i) {
      ASSERT_TRUE(accepts(kernel_.args[i], *slots[i])) << "argument " << i << " is not accepted";
    }
#ifdef TAPER_SEEN_DTYPES
    seen_dtypes = 0;
#endif
    const std::unique_ptr<unsigned char[]> temp(new unsigned char[kTempBytes]);
    KernelContext context(Span<unsigned char>(temp.get(), kTempBytes));
    const Status status = kernel_.run(context, slots.data());
    if (case_.refused) {
      EXPECT_FALSE(status.ok()) << "the call should have been refused";
      return;
    }
    ASSERT_TRUE(status.ok()) << to_string(status.error()) << ": " << status.message();
    for (size_t i = 0; i < case_.results.size(); ++i) {
      compare(case_.results[i], *slots[case_.args.size() + i]);
    }
    for (const auto& [index, value] : case_.after) compare(value, *slots[index]);
    expect_foreseen_dtypes();
  }

 private:
  // A selective build must not leave out code that the kernel needs: test builds record the dtypes
  // that kernels dispatch on.
  void expect_foreseen_dtypes() const {
#ifdef TAPER_SEEN_DTYPES
    DtypeSet given = 0;
    for (const Tensor* tensor : made_.tensors) given |= dtype_bit(tensor->scalar_type());
    EXPECT_EQ(seen_dtypes & ~portable::closed_under_promotion(given), 0u)
        << "the kernel used dtypes that no tensor of the call has";
#endif
  }

  void compare(const CaseValue& want, const EValue& got) {
    EXPECT_EQ(mismatch(want, got, own_tolerance(case_)), "");
  }

  const OpCase& case_;
  const Kernel& kernel_;
  CaseSlots made_;
};

// The arguments whose memory the first result may use, according to ops.def.
std::vector<size_t> may_overwrite(const OpCase& c) {
  const portable::KernelFacts* facts = portable::find_kernel_facts(c.kernel);
  if (facts == nullptr || c.results.empty() || c.results[0].tag != Tag::kTensor) return {};
  const CaseTensor& out = c.results[0].tensors[0];
  std::vector<size_t> found;
  for (size_t i = 0; i < c.args.size(); ++i) {
    const bool allowed = facts->memory == portable::Memory::kElementwise ||
                         (facts->memory == portable::Memory::kUpdate && i == 0);
    if (!allowed || c.args[i].tag != Tag::kTensor) continue;
    const CaseTensor& arg = c.args[i].tensors[0];
    if (arg.type == out.type && arg.sizes == out.sizes && arg.dim_order == out.dim_order) {
      found.push_back(i);
    }
  }
  return found;
}

void run_case(const OpCase& c, const Kernel& kernel) {
  Call(c, kernel, CaseOutputs::kExact).run();
  if (c.refused || testing::Test::HasFailure()) return;
  {
    SCOPED_TRACE("with larger, dynamic outputs");
    Call(c, kernel, CaseOutputs::kLarger).run();
  }
  for (const size_t argument : may_overwrite(c)) {
    SCOPED_TRACE("with the output in the memory of argument " + std::to_string(argument));
    Call call(c, kernel, CaseOutputs::kExact);
    call.overwrite(argument);
    call.run();
  }
}

}  // namespace

void run_op_case_file(Span<const KernelTable> tables, const std::string& path) {
  std::string problem;
  const std::vector<OpCase> cases = read_op_cases(path, &problem);
  ASSERT_EQ(problem, "");
  ASSERT_FALSE(cases.empty()) << path << " has no cases";
  for (const OpCase& c : cases) {
    SCOPED_TRACE(c.kernel + ", " + path + ":" + std::to_string(c.line));
    const Kernel* kernel = nullptr;
    for (const KernelTable& table : tables) {
      if (kernel == nullptr) kernel = find_kernel(table, c.kernel);
    }
    ASSERT_NE(kernel, nullptr) << "no such kernel";
    run_case(c, *kernel);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace taper::test
