// One call of a function of taper/taper.h: it takes the model behind the handle, does one thing,
// and reports an error as a code, a message and a site.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/module/model_table.h"
#include "runtime/module/value_copy.h"
#include "taper/c_error.h"
#include "taper/out_of_memory.h"

namespace taper {

// All models of the process.
ModelTable& models();

// One call on a model and, if `method` is given, on one of its methods.
class Call {
 public:
  Call(const char* function, taper_model handle, taper_error* error)
      : function_(function), handle_(handle), error_(error) {
    switch (models().take(handle, &model_)) {
      case ModelTable::Found::kYes:
        code_ = report(error, Error::kOk, "", "");
        break;
      case ModelTable::Found::kNone:
        fail(Error::kInvalidArgument, "the handle is not that of an open model");
        break;
      case ModelTable::Found::kBusy:
        fail(Error::kInvalidState, "the model is in use by another thread");
        break;
    }
  }
  Call(const char* function, taper_model handle, const char* method, taper_error* error)
      : Call(function, handle, error) {
    if (!ok()) return;
    if (method == nullptr) {
      fail(Error::kInvalidArgument, "the method's name is a null pointer");
      return;
    }
    method_ = method;
    find(method);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() {
    if (model_ != nullptr) models().give_back(handle_);
  }

  bool ok() const { return code_ == TAPER_OK; }
  taper_code code() const { return code_; }
  Model& model() { return *model_; }
  MethodRecord& method() { return *record_; }
  MethodMeta meta() { return *model_->module.method_meta(record_->name); }

  taper_code fail(Error error, const std::string& message) {
    std::string site = function_;
    if (method_ != nullptr) site += std::string(" ") + method_;
    return code_ = report(error_, error, site, message);
  }
  // Reports a failure of the module, with its error text.
  taper_code fail(Status status) {
    const std::string& text = model_->module.last_error_text();
    return fail(status.error(), text.empty() ? status.message() : text);
  }
  taper_code check(Status status) { return status.ok() ? code_ : fail(status); }
  // Reports an error and returns false if `pointer`, where the result belongs, is null.
  bool asks(const void* pointer, const char* what) {
    if (ok() && pointer == nullptr) {
      fail(Error::kInvalidArgument, std::string(what) + " is a null pointer");
    }
    return ok();
  }
  bool in_range(size_t index, size_t count, const char* what) {
    if (ok() && index >= count) {
      fail(Error::kInvalidArgument, "there are " + std::to_string(count) + " " + what +
                                        "s, no number " + std::to_string(index));
    }
    return ok();
  }

 private:
  void find(std::string_view name) {
    for (const auto& each : model_->methods) {
      if (each->name == name) record_ = each.get();
    }
    if (record_ != nullptr) return;
    std::string known;
    for (const std::string& each : model_->method_names) {
      known += (known.empty() ? "" : ", ") + each;
      if (each != name) continue;
      auto record = std::make_unique<MethodRecord>();
      record->name = name;
      record->inputs.resize(model_->module.method_meta(name)->num_inputs());
      model_->methods.push_back(std::move(record));
      record_ = model_->methods.back().get();
      return;
    }
    fail(Error::kNotFound, "no method has that name; there are: " + known);
  }

  const char* const function_;
  const char* method_ = nullptr;
  const taper_model handle_;
  taper_error* const error_;
  Model* model_ = nullptr;
  MethodRecord* record_ = nullptr;
  taper_code code_ = TAPER_OK;
};

// What `act` returns. It ends in an error if there is not enough memory, be it for a text.
template <typename Act>
taper_code with_memory(const char* function, taper_error* error, const Act& act) {
  return with_memory(act, [&] { return report(error, kOutOfMemory, function); });
}

// Makes a Call on a model, or on one of its methods, and returns what `act` makes of it.
template <typename Act>
taper_code on_model(const char* function, taper_model handle, taper_error* error, const Act& act) {
  return with_memory(function, error, [&] {
    Call call(function, handle, error);
    return act(call);
  });
}
template <typename Act>
taper_code on_method(const char* function, taper_model handle, const char* method,
                     taper_error* error, const Act& act) {
  return with_memory(function, error, [&] {
    Call call(function, handle, method, error);
    return act(call);
  });
}

// Runs the call's method on the inputs that are set. `execute` is given the module, the method's
// name, the values and the place of the outputs. Takes nothing from the heap if it has run before.
template <typename Execute>
taper_code run(Call& call, const Execute& execute) {
  MethodRecord& record = call.method();
  record.ran = false;
  record.outputs.clear();
  record.values.clear();
  const MethodMeta meta = call.meta();
  for (size_t i = 0; i < record.inputs.size(); ++i) {
    HeldInput& input = record.inputs[i];
    if (*meta.input_tag(i) != Tag::kTensor) {
      const Result<EValue> own = input.set ? input.number : meta.input_value(i);
      if (!own.ok()) return call.fail(own.status());
      record.values.push_back(*own);
      continue;
    }
    if (!input.set) {
      return call.fail(Error::kInvalidState, "input " + std::to_string(i) + " was never set");
    }
    record.values.emplace_back(&input.bound->tensor);
  }
  const Status status = execute(call.model().module, record.name, record.values, &record.outputs);
  if (!status.ok()) return call.fail(status);
  record.ran = true;
  return call.code();
}

}  // namespace taper
