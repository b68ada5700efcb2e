// taper::assert: execution goes on only if a condition holds. The compiler writes it for what a
// program states of its inputs: guards, ranges of sizes, torch._check.
//
//   Condition  any number; it holds unless it is 0. NaN is not 0.
//   Message    what the program says if it does not hold: ExecutionFailure::message.

#include "taper/kernel.h"

namespace taper::portable {
namespace {

Status assert_holds(KernelContext&, Scalar condition, Message) {
  TAPER_REQUIRE(condition.to_bool(), Error::kInvalidArgument, "the program refuses its inputs");
  return {};
}

}  // namespace

extern const Kernel kAssert;
const Kernel kAssert = make_kernel<assert_holds>("taper::assert");

}  // namespace taper::portable
