// The memory column of ops.def against the kernels: which of them compute element by element.
//
// That an element-wise kernel may write over its operands is seen by op_cases_test.cpp, which runs
// every case once more so.

#include "kernels_portable/kernel_facts.h"

#include <gtest/gtest.h>

#include <map>

#include "test/support/case_slots.h"
#include "test/support/op_cases.h"

namespace taper::portable {
namespace {

using test::CaseSlots;
using test::CaseTensor;
using test::OpCase;

// The bytes of the first result, element by element; empty if the kernel refuses the call.
std::vector<std::string> first_result(const OpCase& c, const Kernel& kernel) {
  CaseSlots made(c, test::CaseOutputs::kExact);
  std::vector<unsigned char> temp(1 << 20);
  KernelContext context(Span<unsigned char>(temp.data(), temp.size()));
  if (!kernel.run(context, made.slots.data()).ok()) return {};
  const Tensor& out = made.slots[c.args.size()]->to_tensor();
  const size_t size = element_size(out.scalar_type());
  const char* bytes = static_cast<const char*>(out.const_data());
  std::vector<std::string> elements;
  for (int64_t i = 0; i < out.numel(); ++i, bytes += size) elements.emplace_back(bytes, size);
  return elements;
}

bool has_values(const OpCase& c) {
  if (c.refused || c.results.empty() || c.results[0].tag != Tag::kTensor) return false;
  const CaseTensor& out = c.results[0].tensors[0];
  return out.values.size() > 1 && !is_complex(out.type);
}

// True if the sizes of all tensors broadcast to those of the first result.
bool broadcasts(const OpCase& c) {
  const std::vector<int32_t>& out = c.results[0].tensors[0].sizes;
  for (const test::CaseValue& arg : c.args) {
    for (const CaseTensor& tensor : arg.tensors) {
      const std::vector<int32_t>& in = tensor.sizes;
      if (in.size() > out.size()) return false;
      const size_t lead = out.size() - in.size();
      for (size_t d = 0; d < in.size(); ++d) {
        if (in[d] != 1 && in[d] != out[lead + d]) return false;
      }
    }
  }
  return true;
}

// Gives element `at` of every tensor that has the result's sizes the value of another element.
// False if there is none.
bool change_element(OpCase& c, size_t at) {
  const CaseTensor& out = c.results[0].tensors[0];
  bool changed = false;
  for (test::CaseValue& arg : c.args) {
    if (arg.tag != Tag::kTensor) continue;
    CaseTensor& tensor = arg.tensors[0];
    if (tensor.sizes != out.sizes || tensor.dim_order != out.dim_order) continue;
    for (const std::string& value : tensor.values) {
      if (value == tensor.values[at]) continue;
      tensor.values[at] = std::string(value);
      changed = true;
      break;
    }
  }
  return changed;
}

struct Seen {
  bool broadcasts = true;     // In all cases.
  int changes = 0;            // Of one element of each operand.
  bool is_dependent = false;  // One of them changed another element of the result.
};

void look_at(const OpCase& original, const Kernel& kernel, Seen& seen) {
  constexpr size_t kMostPlaces = 6;
  seen.broadcasts = seen.broadcasts && broadcasts(original);
  const std::vector<std::string> before = first_result(original, kernel);
  if (!original.results[0].tensors[0].dim_order.empty()) return;  // Places are counted in memory.
  for (size_t at = 0; at < std::min(before.size(), kMostPlaces); ++at) {
    OpCase c = original;
    if (!change_element(c, at)) continue;
    const std::vector<std::string> after = first_result(c, kernel);
    if (after.size() != before.size()) continue;
    ++seen.changes;
    for (size_t i = 0; i < before.size(); ++i) {
      seen.is_dependent = seen.is_dependent || (i != at && before[i] != after[i]);
    }
  }
}

std::map<std::string, Seen> look() {
  std::map<std::string, Seen> seen;
  for (const std::string& family : test::op_case_families()) {
    std::string problem;
    for (const OpCase& c : test::read_op_cases(test::op_case_path(family), &problem)) {
      if (has_values(c)) look_at(c, *find_kernel(portable_kernels(), c.kernel), seen[c.kernel]);
    }
  }
  return seen;
}

// Ours are element-wise; ExecuTorch's clears its result before it reads the operand.
bool differs_in_executorch(const std::string& kernel) {
  return kernel == "aten::tril.out" || kernel == "aten::triu.out";
}

TEST(KernelFacts, SayWhichKernelsAreElementwise) {
  for (const auto& [name, seen] : look()) {
    const Memory memory = find_kernel_facts(name)->memory;
    if (memory == Memory::kElementwise) {
      EXPECT_FALSE(seen.is_dependent) << name << " is not element-wise";
    } else if (memory == Memory::kOwn && !differs_in_executorch(name)) {
      EXPECT_FALSE(seen.broadcasts && seen.changes > 0 && !seen.is_dependent)
          << name << " is element-wise, as far as its cases show";
    }
  }
}

TEST(KernelFacts, NameTheKernelsOfTheTable) {
  EXPECT_EQ(std::size(kKernelFacts), portable_kernels().size());
  EXPECT_EQ(find_kernel_facts("aten::add.out")->memory, Memory::kElementwise);
  EXPECT_EQ(find_kernel_facts("aten::add"), nullptr);
}

}  // namespace
}  // namespace taper::portable
