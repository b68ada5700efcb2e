// The delegates of a method: finding their backends, initialising and destroying them.

#include <new>

#include "runtime/executor/method_state.h"
#include "runtime/program/wire_access.h"

namespace taper {

size_t CompileSpecs::size() const {
  using List = flatbuffers::Vector<flatbuffers::Offset<wire::CompileSpec>>;
  return internal::count(static_cast<const List*>(wire_));
}

CompileSpec CompileSpecs::operator[](size_t i) const {
  using List = flatbuffers::Vector<flatbuffers::Offset<wire::CompileSpec>>;
  const wire::CompileSpec* spec = static_cast<const List*>(wire_)->Get(static_cast<uint32_t>(i));
  return {internal::text(spec->key()), internal::items(spec->value())};
}

Result<NamedData> BackendInitContext::find_data(std::string_view key) const {
  TAPER_REQUIRE(program_ != nullptr, Error::kNotFound, "there is no data of that name");
  Result<Span<const uint8_t>> bytes = program_->named_data(key);
  if (bytes.ok()) {
    NamedData data;
    data.bytes = *bytes;
    data.is_in_program = true;
    return data;
  }
  TAPER_REQUIRE(external_ != nullptr, Error::kNotFound, "there is no data of that name");
  return external_->find(key);
}

void BackendInitContext::release(Span<const uint8_t> bytes) const {
  if (program_ != nullptr) program_->release(bytes);
}

uint64_t BackendInitContext::version_of(Span<const uint8_t> bytes) const {
  return program_ != nullptr ? program_->version_of(bytes) : 0;
}

const Kernel* BackendInitContext::find_kernel(std::string_view name) const {
  if (options_ == nullptr) return nullptr;
  for (const KernelTable& table : options_->kernels) {
    if (const Kernel* kernel = taper::find_kernel(table, name)) return kernel;
  }
  return nullptr;
}

ThreadPool BackendInitContext::pool() const {
  return options_ == nullptr ? ThreadPool() : options_->pool;
}

void BackendInitContext::report(const Status& status, std::string_view subject) const {
  if (options_ != nullptr) options_->diagnostics({status, method_name_, subject, -1, -1});
}

void* BackendInitContext::allocate(size_t bytes, size_t alignment) {
  const uintptr_t base = reinterpret_cast<uintptr_t>(memory_.data());
  const size_t skip = static_cast<size_t>((alignment - base % alignment) % alignment);
  if (skip > memory_.size() || bytes > memory_.size() - skip) return nullptr;
  uint8_t* place = memory_.data() + skip;
  memory_ = {place + bytes, memory_.size() - skip - bytes};
  return place;
}

namespace internal {
namespace {

BackendInterface* find(BackendTable backends, std::string_view id) {
  for (const Backend& backend : backends) {
    if (backend.name == id) return backend.interface;
  }
  return nullptr;
}

Result<Span<const uint8_t>> payload_of(const Program& program,
                                       const wire::BackendDelegateDataReference& reference) {
  if (reference.location() == wire::DataLocation::SEGMENT) {
    return program.segment(reference.index());
  }
  return items(program.wire().backend_delegate_data()->Get(reference.index())->data());
}

}  // namespace

Status find_backends(MethodState& state, const MethodOptions& options) {
  Status result;
  std::string_view reported;  // Consecutive delegates of one backend are reported once.
  const auto* delegates = state.plan->delegates();
  for (uint32_t i = 0; i < count(delegates); ++i) {
    const std::string_view id = text(delegates->Get(i)->id());
    BackendInterface* backend = find(options.backends, id);
    Status status;
    if (backend == nullptr) {
      status = Status(Error::kNotFound, "the application provides no backend of this name");
    } else if (!backend->is_available()) {
      status = Status(Error::kNotSupported, "the backend cannot run on this device");
    }
    new (&state.delegates[i]) DelegateState{backend, nullptr};
    if (status.ok()) continue;
    if (reported.data() == nullptr || id != reported) {
      options.diagnostics({status, text(state.plan->name()), id, -1, -1});
    }
    reported = id;
    result = status;
  }
  return result;
}

Status init_delegates(MethodState& state, const MethodOptions& options, Span<uint8_t> spare) {
  const auto* delegates = state.plan->delegates();
  for (uint32_t i = 0; i < count(delegates); ++i) {
    const wire::BackendDelegate& delegate = *delegates->Get(i);
    Result<Span<const uint8_t>> payload = payload_of(*state.program, *delegate.processed());
    if (!payload.ok()) return payload.status();
    BackendInitContext context(text(state.plan->name()), state.program, state.external, spare,
                               &options);
    Result<void*> handle =
        state.delegates[i].backend->init(context, *payload, CompileSpecs(delegate.compile_specs()));
    spare = context.remaining();
    if (!handle.ok()) {
      options.diagnostics({handle.status(), text(state.plan->name()), text(delegate.id()), -1, -1});
      return handle.status();
    }
    state.delegates[i].handle = *handle;
    ++state.live_delegates;
  }
  return {};
}

void destroy_delegates(MethodState& state) {
  while (state.live_delegates > 0) {
    const DelegateState& delegate = state.delegates[--state.live_delegates];
    delegate.backend->destroy(delegate.handle);
  }
}

}  // namespace internal
}  // namespace taper
