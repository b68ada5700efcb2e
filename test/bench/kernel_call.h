// A kernel call that can be repeated, and owns all of its arguments.
//
//   KernelCall call("aten::mm.out");
//   call.tensor({256, 256}).tensor({256, 256}).tensor({256, 256});
//   call.run();

#pragma once

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <initializer_list>
#include <numeric>
#include <string>
#include <vector>

#include "kernels_portable/kernel_table.h"
#if TAPER_OPTIMIZED
#include "kernels_optimized/kernel_table.h"
#endif
#include "taper/kernel.h"

namespace taper::bench {

class KernelCall {
 public:
  // Finds the optimized kernel of that name, or the portable one if there is none or if
  // `portable_only`.
  explicit KernelCall(const char* name, bool portable_only = false)
      : kernel_(find(name, portable_only)),
        temp_(16u << 20),
        context_({temp_.data(), temp_.size()}) {}

  bool exists() const { return kernel_ != nullptr; }

  // Adds a float tensor of small numbers.
  KernelCall& tensor(std::vector<int32_t> sizes) {
    Storage& s = storage_.emplace_back();
    s.sizes = std::move(sizes);
    s.order.resize(s.sizes.size());
    std::iota(s.order.begin(), s.order.end(), uint8_t{0});
    s.strides.resize(s.sizes.size());
    size_t count = 1;
    for (const int32_t size : s.sizes) count *= static_cast<size_t>(size);
    s.data.resize(count);
    for (size_t i = 0; i < count; ++i) s.data[i] = static_cast<float>(i % 13) * 0.25f - 1.5f;
    s.tensor = Tensor(ScalarType::kFloat, s.sizes.size(), s.sizes.data(), s.order.data(),
                      s.strides.data(), s.data.data());
    return add(EValue(&s.tensor));
  }
  KernelCall& none() { return add(EValue()); }
  KernelCall& number(int64_t value) { return add(EValue(value)); }
  KernelCall& number(double value) { return add(EValue(value)); }
  KernelCall& flag(bool value) { return add(EValue(value)); }
  KernelCall& list(std::initializer_list<int64_t> items) {
    List& l = lists_.emplace_back();
    for (const int64_t item : items) l.values.emplace_back(item);
    for (EValue& value : l.values) l.items.push_back(&value);
    l.unboxed.resize(items.size());
    l.boxed = {l.items.data(), l.unboxed.data()};
    return add(EValue(&l.boxed, static_cast<uint32_t>(items.size())));
  }

  void run() {
    if (args_.size() != values_.size()) {
      for (EValue& value : values_) args_.push_back(&value);
    }
    const Status status = kernel_->run(context_, args_.data());
    context_.reset_temp();
    if (!status.ok()) {
      std::fprintf(stderr, "%s: %s\n", kernel_->name, status.message());
      std::exit(1);
    }
  }

  static const Kernel* find(const char* name, [[maybe_unused]] bool portable_only) {
#if TAPER_OPTIMIZED
    const Kernel* fast = find_kernel(optimized::optimized_kernels(), name);
    if (fast != nullptr && !portable_only) return fast;
#endif
    return find_kernel(portable::portable_kernels(), name);
  }

 private:
  struct Storage {
    std::vector<int32_t> sizes, strides;
    std::vector<uint8_t> order;
    std::vector<float> data;
    Tensor tensor;
  };
  struct List {
    std::deque<EValue> values;
    std::vector<EValue*> items;
    std::vector<int64_t> unboxed;
    BoxedIntList boxed{};
  };

  KernelCall& add(EValue value) {
    values_.push_back(value);
    return *this;
  }

  const Kernel* kernel_;
  std::vector<unsigned char> temp_;
  KernelContext context_;
  std::deque<Storage> storage_;
  std::deque<List> lists_;
  std::deque<EValue> values_;
  std::vector<EValue*> args_;
};

}  // namespace taper::bench
