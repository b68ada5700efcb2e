// Stages that compute with bytes what XNNPACK computes with floats alone: a table of any function,
// the means of windows of any size, and a softmax. Sums are exact; a result is rounded once.

#pragma once

#include <memory>

#include "backends/xnnpack/runtime/stages/stage.h"

namespace taper::xnnpack {

// Replaces each byte by an entry of a table.
class TableStage final : public Stage {
 public:
  TableStage(const XnnNode& node, Span<const XnnValue> values, pthreadpool_t pool)
      : input_(node.inputs[0]),
        output_(node.output),
        table_(values[node.inputs[1]].data),
        pool_(pool) {}

  Status reshape(Span<const XnnValue> values) override;
  Status bind(Span<void* const> places, void* scratch) override;
  Status run() override;

 private:
  static void run_part(void* stage, size_t first, size_t count);

  const uint32_t input_, output_;
  const uint8_t* const table_;  // 256 bytes, from the entry of -128 to that of 127.
  const pthreadpool_t pool_;
  size_t count_ = 0;
  const uint8_t* from_ = nullptr;
  uint8_t* to_ = nullptr;
};

// Scale and zero point of a tensor of bytes.
struct ByteScale {
  float scale;
  int32_t zero_point;
};

// The mean of the pixels of each window that lie in the image.
class BytePoolStage final : public Stage {
 public:
  BytePoolStage(const XnnNode& node, Span<const XnnValue> values, pthreadpool_t pool);

  Status reshape(Span<const XnnValue> values) override;
  Status bind(Span<void* const> places, void* scratch) override;
  Status run() override;

 private:
  static void run_rows(void* stage, size_t first, size_t count);
  void run_pixel(const int8_t* image, int64_t top, int64_t left, int8_t* to) const;

  const XnnNode& node_;
  const ByteScale from_, to_;
  const pthreadpool_t pool_;
  int64_t images_ = 0, height_ = 0, width_ = 0, channels_ = 0, rows_ = 0, columns_ = 0;
  const int8_t* in_ = nullptr;
  int8_t* out_ = nullptr;
};

class ByteSoftmaxStage final : public Stage {
 public:
  ByteSoftmaxStage(const XnnNode& node, Span<const XnnValue> values, pthreadpool_t pool);

  Status reshape(Span<const XnnValue> values) override;
  Status bind(Span<void* const> places, void* scratch) override;
  Status run() override;

 private:
  static void run_parts(void* stage, size_t first, size_t count);
  void run_row(const int8_t* from, int8_t* to) const;
  void run_columns(const int8_t* from, int8_t* to, size_t columns) const;

  const XnnNode& node_;
  const ByteScale to_;
  const pthreadpool_t pool_;
  float powers_[256];  // e to the power of -i steps.
  size_t outer_ = 0, length_ = 0, inner_ = 0;
  const int8_t* in_ = nullptr;
  int8_t* out_ = nullptr;
};

// The stage of a node of these kinds; null if there is no memory.
std::unique_ptr<Stage> make_bytes_stage(const XnnNode& node, Span<const XnnValue> values,
                                        pthreadpool_t pool);

}  // namespace taper::xnnpack
