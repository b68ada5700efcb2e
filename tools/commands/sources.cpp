// Selects the kernels of a program, and makes its sources.

#include "tools/commands/sources.h"

#include "selective_build/firmware.h"
#include "tools/error.h"

namespace taper::tools {

SourceFiles sources_of(const std::string& pte, bool own_ops) {
  select::Needs needs;
  const std::string refused = select::add_needs(pte, "the model", &needs);
  if (!refused.empty()) throw InputError(refused);
  select::Request request;
  for (const auto& [name, need] : needs.operators) {
    if (own_ops && select::find_portable_kernel(name) == nullptr) request.own.push_back(name);
  }
  select::FirmwareFiles made;
  const select::Selection selection = select::select(needs, request, &made.problems);
  if (made.problems.empty()) made = select::firmware_files(pte, selection, request.own);
  if (!made.problems.empty()) throw InputError("--format=c: " + made.problems[0]);
  return std::move(made.files);
}

}  // namespace taper::tools
