// A method of a program that may be damaged, with its memory and inputs: what an application does
// with it, and what a careless one does.

#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

#include "taper/method.h"
#include "test/fuzz/random.h"

namespace taper::fuzz {

// A separate allocation of exactly `bytes`, so that a sanitizer detects any access past the end.
class Block {
 public:
  explicit Block(size_t bytes);
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block();
  Span<uint8_t> span() const { return {static_cast<uint8_t*>(data_), size_}; }

 private:
  void* data_;
  size_t size_;
};

class MethodRun {
 public:
  // An application that limits what a method may need refuses larger ones.
  static constexpr uint64_t kMaxBytes = 16u << 20;

  MethodRun(const Program& program, const MethodMeta& meta) : program_(program), meta_(meta) {}

  // Returns false if the method is refused.
  bool load(const MethodOptions& options);
  // Sets the inputs, runs twice, and reads what comes out. Returns false if a run fails.
  // REQUIRES: load() returned true.
  bool run();
  // Hands over values that are not as the method declares them, and runs it where they are taken.
  void misuse(Random& random);

 private:
  struct Input {
    std::vector<int32_t> sizes, strides;
    std::vector<uint8_t> order;
    Tensor tensor;
  };

  bool reserve();
  bool make_inputs();
  bool bind_outputs();
  void read_outputs() const;
  // A tensor of zeros, which are valid indices; null if it would be too large.
  Tensor* add_tensor(ScalarType dtype, std::vector<int32_t> sizes, std::vector<uint8_t> order);
  // Something else than the i-th input is declared to be; nothing if there is nothing to change.
  std::optional<EValue> wrong_value(size_t i, Random& random);

  const Program& program_;
  MethodMeta meta_;
  std::deque<Block> blocks_;
  std::vector<Span<uint8_t>> planned_;
  std::deque<Input> inputs_;
  std::vector<EValue> values_;
  std::optional<Method> method_;
};

}  // namespace taper::fuzz
