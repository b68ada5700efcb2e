// The interface of a backend: it makes a handle from a delegate's payload when the method is
// loaded, executes the handle, and destroys it with the method.
//
// The application passes its backends to Method::load; there is no registry.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "taper/evalue.h"
#include "taper/external_data.h"
#include "taper/kernel.h"
#include "taper/span.h"
#include "taper/status.h"

namespace taper {

class Program;
struct MethodOptions;

// An option that the backend's compiler half wrote for its device half.
struct CompileSpec {
  std::string_view key;
  Span<const uint8_t> value;
};

// The options of one delegate. A view of the program file.
class CompileSpecs {
 public:
  explicit CompileSpecs(const void* wire = nullptr) : wire_(wire) {}
  size_t size() const;
  // REQUIRES: i < size().
  CompileSpec operator[](size_t i) const;

 private:
  const void* wire_;
};

// What init() has access to besides its arguments.
class BackendInitContext {
 public:
  // `options` may be null: then there are no kernels.
  BackendInitContext(std::string_view method_name, const Program* program,
                     const NamedDataMap* external, Span<uint8_t> memory,
                     const MethodOptions* options = nullptr)
      : method_name_(method_name),
        program_(program),
        external_(external),
        memory_(memory),
        options_(options) {}

  std::string_view method_name() const { return method_name_; }

  // Named data of the program file or, if it has none of that key, of the external map. kNotFound
  // if neither has the key. The bytes are valid as long as the Method.
  Result<NamedData> find_data(std::string_view key) const;

  // Hints that bytes of the program file, for example of the payload, will hardly be read again, so
  // that their memory may be released. They stay valid.
  void release(Span<const uint8_t> bytes) const;

  // A number that identifies the content of the program file if `bytes` are part of it; 0 if that
  // is not known. See DataLoader::version_of().
  uint64_t version_of(Span<const uint8_t> bytes) const;

  // The kernel of that name that the Method's own instructions would get; null if there is none.
  const Kernel* find_kernel(std::string_view name) const;
  // The Method's threads for kernels.
  ThreadPool pool() const;
  // Reports a problem with `subject`, for which the Status that init() returns has no room.
  void report(const Status& status, std::string_view subject) const;

  // Memory that is valid as long as the Method, from what the application's method block has beyond
  // MethodMeta::method_bytes(). Null if it is used up. `alignment` is a power of two.
  void* allocate(size_t bytes, size_t alignment = 16);
  // The memory that allocate() has left.
  Span<uint8_t> remaining() const { return memory_; }

 private:
  std::string_view method_name_;
  const Program* program_;
  const NamedDataMap* external_;
  Span<uint8_t> memory_;
  const MethodOptions* options_;
};

// What execute() has access to besides its arguments.
class BackendExecutionContext {
 public:
  BackendExecutionContext(std::string_view method_name, Span<uint8_t> temp)
      : method_name_(method_name), temp_(temp) {}

  std::string_view method_name() const { return method_name_; }
  // Scratch memory for the duration of the call; may be empty.
  Span<uint8_t> temp() const { return temp_; }

 private:
  std::string_view method_name_;
  Span<uint8_t> temp_;
};

// A backend. Threads: one object serves all Methods and may be called from several threads at once,
// but never for the same handle.
class BackendInterface {
 public:
  // False if the backend cannot run on this device (no GPU, no driver).
  virtual bool is_available() const = 0;

  // Prepares `payload` for execution and returns a handle of the backend's choice, which may be
  // null. `payload` and `specs` are valid as long as the Method. The payload comes from an
  // untrusted file and must be verified: return kDelegateInvalidCompatibility for a bad one.
  virtual Result<void*> init(BackendInitContext& context, Span<const uint8_t> payload,
                             CompileSpecs specs) = 0;

  // Runs the handle. `args` are the slots of the DelegateCall, inputs and outputs, in the order in
  // which the compiler half wrote them. Tags, dtypes, ranks and sizes come from the file and must
  // be checked; tensors with elements have data; a tensor with is_constant() must not be written.
  // Outputs are resized with Tensor::resize().
  virtual Status execute(BackendExecutionContext& context, void* handle,
                         Span<EValue* const> args) = 0;

  // Buffers of the program that the handle keeps become what they were after init().
  virtual Status reset(void*) { return {}; }

  // Whether the handle keeps such buffers.
  virtual bool has_state(void*) const { return false; }

  // Called once for each handle that init() returned.
  virtual void destroy(void* handle) = 0;

 protected:
  ~BackendInterface() = default;
};

struct Backend {
  const char* name;  // The delegate id on the wire, such as "XnnpackBackend".
  BackendInterface* interface;
};

// Searched in order. The backends must outlive every Method.
using BackendTable = Span<const Backend>;

}  // namespace taper
