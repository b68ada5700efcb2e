// Loads a program several times: first to touch the code that is needed and to ask the backends,
// then to measure. Each backend is wrapped in one that looks at the heap around init().

#include "tools/memory/loaded_memory.h"

#include <deque>
#include <filesystem>

#include "tools/error.h"
#include "tools/memory/resident_memory.h"
#include "tools/program_runner.h"
#include "tools/system.h"
#include "tools/temporary_file.h"

#ifdef __GLIBC__
#include <malloc.h>
#define TAPER_TELLS_HEAP __GLIBC_PREREQ(2, 33)
#else
#define TAPER_TELLS_HEAP 0
#endif

namespace taper::tools {
namespace {

uint64_t heap_bytes() {
#if TAPER_TELLS_HEAP
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
#else
  return 0;
#endif
}

// Gives pages that the heap does not need back to the system, so that they count when they are
// taken again.
void trim_heap() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

class Metered final : public BackendInterface, public MemoryListener {
 public:
  Metered(BackendInterface* inner, const Backends& all, std::vector<DelegateMemory>& delegates)
      : inner_(inner), all_(all), delegates_(delegates) {}

  bool is_available() const override { return inner_->is_available(); }
  Result<void*> init(BackendInitContext& context, Span<const uint8_t> payload,
                     CompileSpecs specs) override {
    const uint64_t before = heap_bytes();
    Result<void*> handle = inner_->init(context, payload, specs);
    const uint64_t after = heap_bytes();
    delegates_.emplace_back();
    if (after > before) delegates_.back().heap_bytes = after - before;
    if (handle.ok()) all_.tell_memory(inner_, *handle, *this);
    return handle;
  }
  Status execute(BackendExecutionContext& context, void* handle,
                 Span<EValue* const> args) override {
    return inner_->execute(context, handle, args);
  }
  Status reset(void* handle) override { return inner_->reset(handle); }
  void destroy(void* handle) override { inner_->destroy(handle); }

  void add(const MemoryBlock& block) override {
    delegates_.back().blocks.push_back({block.what, block.bytes, block.kind, {}});
  }
  void add(const PlacedResult& result) override {
    delegates_.back().blocks.back().results.push_back(result);
  }

 private:
  BackendInterface* inner_;
  const Backends& all_;
  std::vector<DelegateMemory>& delegates_;
};

using PackedPaths = std::map<std::string, std::string>;

class Measurement {
 public:
  Measurement(const std::string& path, const std::string& weights, const std::string& method) {
    options_.path = path;
    options_.data_path = weights;
    options_.method = method;
    options_.threads = 1;
  }

  // Loads and runs once, and asks the backends what they keep; they write files that are missing.
  void ask(const PackedPaths& paths, std::vector<DelegateMemory>& delegates) {
    delegates.clear();
    std::deque<Metered> metered;
    std::vector<Backend> table;
    options_.packed_paths = paths;
    options_.wrap_backends = [&](const Backends& all) {
      for (const Backend& each : all.table()) {
        metered.emplace_back(each.interface, all, delegates);
        table.push_back({each.name, &metered.back()});
      }
      return BackendTable(table);
    };
    ProgramRunner runner(options_);
    runner.set_default_inputs();
    runner.execute();
  }

  std::optional<MeasuredLoad> measure(const PackedPaths& paths) {
    options_.packed_paths = paths;
    options_.wrap_backends = nullptr;
    trim_heap();
    if (!restart_peak()) return std::nullopt;
    const uint64_t before = resident_memory().now_bytes;
    const auto beyond = [&] {
      const uint64_t peak = resident_memory().peak_bytes;
      return peak > before ? peak - before : 0;
    };
    MeasuredLoad result;
    ProgramRunner runner(options_);
    result.seconds = runner.open_seconds() + runner.load_seconds();
    result.peak_while_loading = beyond();
    restart_peak();
    runner.set_default_inputs();
    runner.execute();
    result.peak_while_running = beyond();
    return result;
  }

 private:
  RunnerOptions options_;
};

}  // namespace

LoadedMemory loaded_memory(const std::string& path, const std::string& weights,
                           const std::string& method) {
  LoadedMemory found;
  try {
    Measurement measurement(path, weights, method);
    measurement.ask({}, found.delegates);
    found.measured = measurement.measure({});
    if (!found.measured || found.delegates.empty()) return found;
    std::deque<TemporaryFile> files;
    PackedPaths paths;
    for (const auto& [backend, ignored] : packed_paths_of(path)) {
      const auto stem = std::filesystem::temp_directory_path() / ("taper_inspect." + backend);
      paths[backend] = files.emplace_back(system::as_text(stem)).path;
    }
    std::vector<DelegateMemory> the_same;
    for (int i = 0; i < 2; ++i) measurement.ask(paths, the_same);  // Writes the files, reads them.
    std::error_code ignored;
    for (const TemporaryFile& file : files) {
      const uintmax_t bytes = std::filesystem::file_size(system::as_path(file.path), ignored);
      if (!ignored) found.prepared_bytes += bytes;
    }
    if (found.prepared_bytes > 0) found.with_prepared = measurement.measure(paths);
  } catch (const InputError& error) {
    found.problem = error.what();
  }
  return found;
}

}  // namespace taper::tools
