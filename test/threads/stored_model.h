// Programs that are committed with inputs and expected outputs, and what runs them: the C API, or a
// Method of a Program that others use, too.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "taper/backend_device.h"
#include "taper/method.h"
#include "taper/taper.h"
#include "test/support/method_memory.h"
#include "test/support/test_tensor.h"

namespace taper::test {

struct Array {
  std::vector<int32_t> sizes;
  bool is_float32 = false;
  std::string bytes;
};

struct StoredModel {
  std::string name;
  std::string path;
  std::string backend;  // Empty: the kernels alone run it.
  std::vector<Array> inputs, outputs;

  // Empty if these are the expected outputs; quantised ones may differ by one step.
  std::string problem_of(const std::vector<std::string>& given) const;
};

// Programs for the kernels, and for each backend of this build.
std::vector<StoredModel> stored_models();

void PrintTo(const StoredModel& model, std::ostream* out);

// A model of the C API, which this object opens and closes. Messages are empty without an error.
class OpenedModel {
 public:
  // `pool` runs tasks; null: none.
  OpenedModel(const StoredModel& model, taper_parallel_for pool);
  ~OpenedModel() { taper_close(handle_); }
  OpenedModel(const OpenedModel&) = delete;
  OpenedModel& operator=(const OpenedModel&) = delete;

  taper_model handle() const { return handle_; }
  const char* message() const { return error_.code == TAPER_OK ? "" : error_.message; }

  taper_code set_inputs();
  // Runs once; a recording hears of it if it is not null.
  taper_code run(taper_recording* recording);
  std::vector<std::string> outputs();

 private:
  const StoredModel& model_;
  taper_model handle_ = 0;
  taper_error error_ = {};
};

// A Method with its own memory.
class LoadedModel {
 public:
  // `device` may be null. Both must outlive this object.
  LoadedModel(const StoredModel& model, const Program& program, Device* device);

  Status status() const { return status_; }
  // REQUIRES: status() is ok.
  Method& method() { return *method_; }
  // Sets the inputs and runs once.
  Status run(EventTracer& tracer);
  std::vector<std::string> outputs() const;

 private:
  std::vector<TestTensor> inputs_;
  std::optional<Backend> backend_;
  std::optional<MethodMemory> memory_;
  std::optional<Method> method_;
  Status status_;
};

}  // namespace taper::test
