// How a backend meets the runtime: it turns a delegate's payload into a handle when the method is
// loaded, runs the handle, and destroys it with the method.
//
// The application hands the backends it has to Method::load; there is no registry.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "taper/evalue.h"
#include "taper/external_data.h"
#include "taper/span.h"
#include "taper/status.h"

namespace taper {

class Program;

// An option that the compiler half left for the device half.
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

// What init() may use besides its arguments.
class BackendInitContext {
 public:
  BackendInitContext(std::string_view method_name, const Program* program,
                     const NamedDataMap* external, Span<uint8_t> memory)
      : method_name_(method_name), program_(program), external_(external), memory_(memory) {}

  std::string_view method_name() const { return method_name_; }

  // Named data of the program file, or else of the external map. kNotFound if neither has the key.
  // The bytes hold as long as the Method.
  Result<NamedData> find_data(std::string_view key) const;

  // Says that bytes of the program file, the payload's among them, will hardly be read again, so
  // that memory may be given back for them. They stay valid.
  void release(Span<const uint8_t> bytes) const;

  // What stands for the content of the program file if these bytes are of it: DataLoader's
  // version_of(). 0 if that is not known.
  uint64_t version_of(Span<const uint8_t> bytes) const;

  // Memory that lives as long as the Method: what the application's method block holds beyond
  // MethodMeta::method_bytes(). Null when used up; `alignment` is a power of two.
  void* allocate(size_t bytes, size_t alignment = 16);
  // What allocate() has left.
  Span<uint8_t> remaining() const { return memory_; }

 private:
  std::string_view method_name_;
  const Program* program_;
  const NamedDataMap* external_;
  Span<uint8_t> memory_;
};

// What execute() may use besides its arguments.
class BackendExecutionContext {
 public:
  BackendExecutionContext(std::string_view method_name, Span<uint8_t> temp)
      : method_name_(method_name), temp_(temp) {}

  std::string_view method_name() const { return method_name_; }
  // Scratch for the length of the call; may be empty.
  Span<uint8_t> temp() const { return temp_; }

 private:
  std::string_view method_name_;
  Span<uint8_t> temp_;
};

// Threads: one object serves all Methods and may be called from several threads at once, though
// never for the same handle.
class BackendInterface {
 public:
  // False if this device cannot run it (no GPU, no driver).
  virtual bool is_available() const = 0;

  // Builds whatever executing `payload` needs and returns a handle of the backend's choice, which
  // may be null. `payload` and `specs` hold as long as the Method. The payload comes from a file
  // and must be checked as such: a bad one is refused with kDelegateInvalidCompatibility.
  virtual Result<void*> init(BackendInitContext& context, Span<const uint8_t> payload,
                             CompileSpecs specs) = 0;

  // Runs the handle. `args` are the slots of the DelegateCall in the order that the compiler half
  // wrote them, inputs and outputs. Tags, dtypes, ranks and sizes are whatever the file says and
  // must be checked; tensors with elements have data; a tensor with is_constant() must not be
  // written. Outputs are resized with Tensor::resize().
  virtual Status execute(BackendExecutionContext& context, void* handle,
                         Span<EValue* const> args) = 0;

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
