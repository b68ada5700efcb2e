// A hand-written program, loaded with the test kernels into exactly the memory that it needs.

#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "taper/method.h"
#include "taper/program.h"
#include "test/support/method_memory.h"
#include "test/support/program_builder.h"
#include "test/support/test_kernels.h"

namespace taper::test {

class LoadedMethod {
 public:
  explicit LoadedMethod(const ProgramBuilder& builder, MethodOptions options = {test_tables()},
                        size_t temp_bytes = 0, const std::string& name = "forward")
      : file_(builder.finish()), loader_(file_.data(), file_.size()) {
    options.diagnostics = {
        [](void* to, const Diagnostic& found) { static_cast<LoadedMethod*>(to)->remember(found); },
        this};
    Result<Program> opened = Program::open(loader_, options.diagnostics);
    status_ = opened.status();
    if (!status_.ok()) return;
    program_.emplace(*opened);
    memory_.emplace(*program_->method_meta(name), temp_bytes);
    Result<Method> loaded = Method::load(*program_, name, memory_->manager(), options);
    status_ = loaded.status();
    if (status_.ok()) method_.emplace(std::move(*loaded));
  }
  LoadedMethod(const LoadedMethod&) = delete;
  LoadedMethod& operator=(const LoadedMethod&) = delete;

  // The status of opening and loading.
  Status status() const { return status_; }
  // The subjects of the diagnostics, in order.
  const std::vector<std::string>& subjects() const { return subjects_; }
  // REQUIRES: status() is ok.
  Method& method() { return *method_; }
  Method* operator->() { return &*method_; }
  MethodMemory& memory() { return *memory_; }
  const Program& program() const { return *program_; }

 private:
  void remember(const Diagnostic& found) { subjects_.emplace_back(found.subject); }

  std::vector<std::string> subjects_;
  Bytes file_;
  BufferDataLoader loader_;
  Status status_;
  std::optional<Program> program_;
  std::optional<MethodMemory> memory_;
  std::optional<Method> method_;
};

// A float32 tensor that owns its values.
class FloatTensor {
 public:
  FloatTensor(std::vector<int32_t> sizes, std::vector<float> values)
      : values_(std::move(values)),
        sizes_(std::move(sizes)),
        order_(sizes_.size()),
        strides_(sizes_.size()) {
    for (size_t i = 0; i < order_.size(); ++i) order_[i] = static_cast<uint8_t>(i);
    tensor_ = Tensor(ScalarType::kFloat, sizes_.size(), sizes_.data(), order_.data(),
                     strides_.data(), values_.data());
  }
  FloatTensor(const FloatTensor&) = delete;
  FloatTensor& operator=(const FloatTensor&) = delete;

  EValue value() { return EValue(&tensor_); }
  Tensor& tensor() { return tensor_; }
  std::vector<float>& values() { return values_; }

 private:
  std::vector<float> values_;
  std::vector<int32_t> sizes_;
  std::vector<uint8_t> order_;
  std::vector<int32_t> strides_;
  Tensor tensor_;
};

// The float32 values of output `i`; empty if there is no such tensor.
inline std::vector<float> floats(const Method& method, size_t i = 0) {
  const Result<EValue> output = method.get_output(i);
  if (!output.ok() || !output->is_tensor()) return {};
  const Tensor& tensor = output->to_tensor();
  return {tensor.const_data_ptr<float>(), tensor.const_data_ptr<float>() + tensor.numel()};
}

}  // namespace taper::test
