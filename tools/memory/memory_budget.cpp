// Checks a program against a memory budget, and lists what is alive at the peak if it fails.

#include "tools/memory/memory_budget.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "exir/ir/failure.h"
#include "taper/program.h"
#include "tools/error.h"
#include "tools/memory/memory_map.h"

namespace taper::tools {
namespace {

constexpr size_t kListed = 5;

// A line for each of the tensors that are alive at the peak of the largest buffer, the largest
// first.
std::string peak_text(const MethodMemory& method) {
  size_t largest = 0;
  for (size_t i = 1; i < method.buffers.size(); ++i) {
    if (method.buffers[i].bytes > method.buffers[largest].bytes) largest = i;
  }
  if (method.buffers.empty()) return "";
  const size_t at = method.buffers[largest].peak_at;
  const std::vector<MemoryRow> alive =
      alive_at(method.rows, static_cast<uint32_t>(largest + 1), at);
  std::string text =
      "\n  at its peak, instruction " + std::to_string(at) + ", method " + method.name + " holds";
  for (size_t i = 0; i < std::min(alive.size(), kListed); ++i) {
    char bytes[32];
    std::snprintf(bytes, sizeof(bytes), "\n  %12llu bytes  ",
                  static_cast<unsigned long long>(alive[i].bytes));
    text += bytes + alive[i].origin + ", instructions " + std::to_string(alive[i].first) + " to " +
            std::to_string(alive[i].last);
  }
  if (alive.size() > kListed) text += "\n  and " + std::to_string(alive.size() - kListed) + " more";
  return text;
}

}  // namespace

uint64_t bytes_of_text(const std::string& text, const std::string& option) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string unit = text.substr(digits);
  const char* const units[] = {"", "K", "M", "G"};
  for (int shift = 0; shift < 4; ++shift) {
    if (digits == 0 || digits > 9 || unit != units[shift]) continue;
    return std::strtoull(text.c_str(), nullptr, 10) << (10 * shift);
  }
  throw UsageError("--" + option + ": '" + text + "' is not a size such as 4096, 256K, 1M or 2G");
}

void require_budget(const exir::FilePieces& pte, uint64_t budget) {
  const exir::FileInMemory file = pte.aligned();
  BufferDataLoader loader(file.data(), file.size());
  const Result<Program> program = Program::open(loader);
  if (!program.ok()) throw InputError(program.status().message());
  std::string problem, peaks;
  for (const MethodMemory& method : read_memory(program->wire())) {
    const Result<MethodMeta> meta = program->method_meta(method.name);
    if (!meta.ok()) throw InputError(meta.status().message());
    uint64_t planned = 0;
    for (const BufferUse& buffer : method.buffers) planned += buffer.bytes;
    if (planned + meta->method_bytes() <= budget) continue;
    peaks += peak_text(method);
    if (!problem.empty()) continue;
    problem = "method " + method.name + " needs " + std::to_string(planned) +
              " bytes of planned buffers and " + std::to_string(meta->method_bytes()) +
              " for its block; the budget is " + std::to_string(budget);
  }
  if (!problem.empty()) throw exir::Failure(problem + peaks);
}

}  // namespace taper::tools
