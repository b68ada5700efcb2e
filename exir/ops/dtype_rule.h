// Which dtypes a kernel takes: the rules in the dtypes column of kernels_portable/ops.def.
// kernels_portable/kernel_facts.h says what they mean.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "exir/ir/graph.h"
#include "taper/dtypes.h"

namespace taper::exir {

class DtypeRule {
 public:
  // Throws Failure if the text is no rule.
  explicit DtypeRule(std::string_view text);

  // True if the kernel takes the dtypes of a call of it. The node may be the functional form; its
  // schema and that of the kernel share argument names.
  bool takes(const Node& node, const Schema& kernel) const;

  // Those of the first tensor, or of the first result if there is none.
  std::vector<ScalarType> first_dtypes() const;

  bool empty() const { return operands_.empty() && results_.empty(); }

 private:
  enum class Mark : uint8_t { kNone, kSame, kPromoted, kCastable, kGiven, kUnlessEmpty };
  struct Word {
    DtypeSet set = 0;
    Mark mark = Mark::kNone;
    bool is_number = false;
  };
  struct Check;

  static Word word(std::string_view text);

  std::vector<Word> operands_, results_;
  DtypeSet computed_ = 0;  // What is computed must be of this set, unless it is empty.
  std::string float_without_;
};

}  // namespace taper::exir
