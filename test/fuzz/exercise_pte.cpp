// Exercises a program as applications would, with what ships: fast kernels or portable ones, the
// backends of this build, threads, a mapped file. Which of these is drawn from the content of the
// file, so that a failure can be repeated.

#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/devices.h"
#include "exir/ir/failure.h"
#include "taper/data_loader.h"
#include "taper/file_data_loader.h"
#include "taper/program.h"
#include "test/fuzz/exercise.h"
#include "test/fuzz/method_run.h"
#include "test/fuzz/pair.h"
#include "test/fuzz/scratch_file.h"
#include "tools/error.h"
#include "tools/program_runner.h"
#include "tools/view/model_explorer.h"
#include "tools/view/program_step.h"

namespace taper::fuzz {
namespace {

constexpr uint64_t kMaxInstructions = 2000;

// What belongs to a program beside its file.
struct Companions {
  const NamedDataMap* weights = nullptr;
  const char* packed_path = nullptr;  // A file of packed weights.
};

// The devices and kernels that a program runs with.
class Host {
 public:
  Host(Random& random, const Companions& companions) {
    DeviceOptions limited;
    limited.threads = random.one_in(8) ? 2 : 1;
    limited.max_bytes = MethodRun::kMaxBytes;
    for (const DeviceDescriptor* each : backend_devices()) {
      // Compiled shaders are code, which a driver trusts.
      const bool takes_weights = each->packed_key != nullptr;
      limited.packed_path = takes_weights ? companions.packed_path : nullptr;
      devices_.push_back(each->make(limited));
      if (devices_.back() == nullptr) std::abort();
      table_.push_back({each->identity.delegate_id, &devices_.back()->interface()});
      if (devices_.back()->has_threads()) options_.pool = devices_.back()->thread_pool();
    }
    options_.kernels = tools::kernel_tables(!random.one_in(3));
    options_.backends = table_;
    options_.external_data = companions.weights;
    options_.max_instructions = kMaxInstructions;
  }

  const MethodOptions& options() const { return options_; }
  void save_packed() {
    for (const auto& device : devices_) (void)device->save_packed();
  }

 private:
  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<Backend> table_;
  MethodOptions options_;
};

// Where the bytes of a file come from: memory of exactly its size or, now and then, a mapped file.
class Source {
 public:
  Source(const char* name, std::string_view file, Random& random) : block_(file.size()) {
    if (!file.empty()) std::memcpy(block_.span().data(), file.data(), file.size());
    buffer_.emplace(block_.span().data(), file.size());
    if (!random.one_in(8)) return;
    scratch_.emplace(name, file);
    Result<MmapDataLoader> loader = MmapDataLoader::open(scratch_->path().c_str());
    if (loader.ok()) mapped_.emplace(std::move(*loader));
  }
  DataLoader& loader() {
    if (mapped_) return *mapped_;
    return *buffer_;
  }

 private:
  Block block_;
  std::optional<ScratchFile> scratch_;
  std::optional<BufferDataLoader> buffer_;
  std::optional<MmapDataLoader> mapped_;
};

// Loads all methods, runs them in one order and in the other, and misuses one.
bool run_methods(const Program& program, Random& random, const Companions& companions) {
  Host host(random, companions);
  std::deque<MethodRun> methods;
  bool all = true;
  for (size_t i = 0; i < program.num_methods(); ++i) {
    methods.emplace_back(program, program.method_meta(program.method_name(i)).value());
    if (methods.back().load(host.options())) continue;
    methods.pop_back();
    all = false;
  }
  if (companions.packed_path != nullptr) host.save_packed();
  for (MethodRun& method : methods) all &= method.run();
  if (methods.empty()) return all;
  methods[random.below(methods.size())].misuse(random);
  for (size_t i = methods.size(); i-- > 0;) all &= methods[i].run();
  return all;
}

// Makes a page of the program.
bool view(const Program& program) {
  try {
    tools::ViewDocument document;
    tools::add_program(program, {}, {}, document);
    return !document.json().empty() && !tools::model_explorer_json(document).empty();
  } catch (const exir::Failure&) {  // What it says of its origin is damaged.
    return false;
  } catch (const tools::InputError&) {  // It is too large for a page.
    return false;
  }
}

bool exercise(std::string_view file, Random& random, const Companions& companions) {
  Source source("taper_fuzz.pte", file, random);
  const Result<Program> program = Program::open(source.loader());
  return program.ok() && run_methods(*program, random, companions) && view(*program);
}

}  // namespace

bool exercise_pte(std::string_view file) {
  Random random = drawn_from(file);
  return exercise(file, random, {});
}

bool exercise_ptd(std::string_view pair) {
  const auto [program, weights] = split_pair(pair);
  Random random = drawn_from(weights);
  Source source("taper_fuzz.ptd", weights, random);
  Result<ExternalData> data = ExternalData::open(source.loader());
  if (!data.ok()) return false;
  std::vector<uint32_t> index(data->num_keys());
  if (!data->build_index({index.data(), index.size()}).ok()) return false;
  return exercise(program, random, {&*data});
}

bool exercise_packed(std::string_view pair) {
  const auto [program, packed] = split_pair(pair);
  Random random = drawn_from(packed);
  const ScratchFile file("taper_fuzz_packed", packed);
  return exercise(program, random, {nullptr, file.path().c_str()});
}

}  // namespace taper::fuzz
