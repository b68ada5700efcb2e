// Exercises what developer tools read: traces, and programs with test cases.

#include <cstdlib>
#include <vector>

#include "taper/bundled_program.h"
#include "taper/data_loader.h"
#include "taper/etdump.h"
#include "taper/program.h"
#include "test/fuzz/exercise.h"
#include "tools/error.h"
#include "tools/profile/chrome_trace.h"
#include "tools/profile/etdump_file.h"
#include "tools/profile/etdump_timeline.h"
#include "tools/profile/perfetto_trace.h"
#include "tools/profile/profile_text.h"

namespace taper::fuzz {
namespace {

bool exercise_case(const BundledCase& test) {
  const BundledInputs inputs(test);
  bool agrees = true;  // Inputs with what they were copied from.
  for (size_t i = 0; i < test.num_inputs(); ++i) {
    agrees = difference(test.input(i), inputs.values()[i], {}).agrees && agrees;
  }
  size_t comparisons = 0;  // Of outputs with whatever is there.
  for (size_t i = 0; i < test.num_outputs() && comparisons < 1000; ++i) {
    for (const EValue& value : inputs.values()) {
      static_cast<void>(difference(test.output(i), value, {}));
      if (++comparisons == 1000) break;
    }
  }
  return agrees;
}

}  // namespace

bool exercise_bpte(std::string_view file) {
  // An allocation of its own, so that a sanitizer detects any access past the end.
  const std::vector<uint8_t> bytes(file.begin(), file.end());
  const Result<BundledProgram> bundle = BundledProgram::open({bytes.data(), bytes.size()});
  if (!bundle.ok()) return false;
  BufferDataLoader loader(bundle->program().data(), bundle->program().size());
  const bool opens = Program::open(loader).ok();
  constexpr size_t kMostCases = 100;
  bool agrees = true;
  for (size_t m = 0; m < bundle->num_methods() && m < kMostCases; ++m) {
    const std::string_view name = bundle->method_name(m);
    for (size_t i = 0; i < bundle->num_cases(name) && i < kMostCases; ++i) {
      agrees = exercise_case(*bundle->test_case(name, i)) && agrees;
    }
  }
  return opens && agrees;
}

bool exercise_etdp(std::string_view file) {
  const std::vector<uint8_t> bytes(file.begin(), file.end());
  const Result<EtDump> dump = read_etdump({bytes.data(), bytes.size()});
  if (!dump.ok()) return false;
  const std::vector<uint8_t> again = write_etdump(*dump);
  if (!read_etdump({again.data(), again.size()}).ok()) std::abort();
  const tools::Timeline timeline = tools::timeline_of(*dump);
  if (tools::perfetto_trace(timeline).empty() || tools::chrome_trace(timeline).empty())
    return false;
  try {
    const tools::ProfileResult profile = tools::profile_of(*dump);
    return !tools::profile_json(profile).empty() && !tools::profile_csv(profile).empty();
  } catch (const tools::InputError&) {
    return false;
  }
}

}  // namespace taper::fuzz
