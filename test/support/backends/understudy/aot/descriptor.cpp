// Describes the compiler half for `--backend understudy`: one option for each of some operators and
// one for all others, so that tests can partition a graph as needed.

#include "exir/delegate/compiler_descriptor.h"

#include <algorithm>
#include <iterator>

#include "test/support/backends/understudy/aot/understudy_compiler.h"
#include "test/support/backends/understudy/descriptor.h"

namespace taper::understudy {
namespace {

using exir::CompileOption;

constexpr CompileOption operator_option(std::string_view name) {
  return {name,
          CompileOption::Kind::kFlag,
          0,
          1,
          1,
          CompileOption::Reader::kCompiler,
          "take this operator"};
}

constexpr CompileOption kOptions[] = {
    operator_option("add"),
    operator_option("mul"),
    operator_option("relu"),
    operator_option("sigmoid"),
    operator_option("others"),
    {kScratchKey, CompileOption::Kind::kInteger, 1, kMaxScratchKib, kScratchKib,
     CompileOption::Reader::kDevice, "KiB of scratch memory for kernels"},
};

std::shared_ptr<const exir::BackendCompiler> make_compiler(const exir::CompileOptions& options) {
  const auto wanted = [options](std::string_view name) {
    const bool listed = std::any_of(std::begin(kOptions), std::end(kOptions),
                                    [&](const CompileOption& each) { return each.key == name; });
    return options[listed ? name : "others"] != 0;
  };
  return std::make_shared<UnderstudyCompiler>(wanted, options.specs());
}

}  // namespace

extern const exir::CompilerDescriptor kCompiler;
const exir::CompilerDescriptor kCompiler = {kIdentity, kOptions, make_compiler, nullptr, "", {}};

}  // namespace taper::understudy
