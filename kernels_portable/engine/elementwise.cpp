// The engine behind elementwise.h: it converts blocks of the inputs to the compute type, runs the
// operator's loop over them, and converts the results to the dtype of out.

#include "kernels_portable/engine/elementwise.h"

#include <cstring>

#include "kernels_portable/engine/strided.h"

namespace taper::portable {
namespace {

constexpr int64_t kBlock = 256;  // In elements. Buffers of this size stay in the L1 cache.

template <typename C>
C scalar_as(Scalar scalar, ScalarType common) {
  if (is_floating(common)) {
    return scalar.is_double() ? convert<C>(scalar.to_double()) : convert<C>(scalar.to_int());
  }
  C value = convert<C>(common == ScalarType::kBool ? scalar.to_bool() : scalar.to_int());
  uint64_t narrow = 0;
  store_one<C>(value, &narrow, common);
  return load_one<C>(&narrow, common);
}

// Rounds or wraps each value of a block to one that `type` can represent.
template <typename C>
void narrow_block(C* block, int64_t count, ScalarType type) {
  uint64_t scratch[kBlock];
  storer<C>(type)(block, count, scratch, 1);
  loader<C>(type)(scratch, 1, count, block);
}

// One input or output of the engine, and how its blocks are read or written.
template <typename C>
struct Port {
  char* data = nullptr;
  size_t element_bytes = sizeof(C);
  int64_t stride = 0;
  bool direct = false;    // The loop works on the tensor's memory itself, without a buffer.
  bool constant = false;  // A number: the buffer is filled with it once.
  bool narrows = false;   // Values are narrowed to the dtype of the computation (or of the result).
  LoadFunction<C> load = nullptr;
  StoreFunction<C> store = nullptr;
};

template <typename C>
class Engine {
 public:
  Engine(Loop<C> loop, const void* op, ScalarType common, ScalarType result)
      : loop_(loop), op_(op), common_(common), result_(result) {}

  void run(const LoopNest& nest, Span<const Operand> in, Tensor& out) {
    set_output(nest, out);
    int operand = 1;
    for (size_t k = 0; k < in.size(); ++k) {
      if (in[k].tensor == nullptr) {
        set_number(in_[k], buffers_[k], in[k].scalar);
      } else {
        set_input(in_[k], nest.inner_stride(operand), *in[k].tensor);
        operand_of_[k] = operand++;
      }
    }
    count_ = in.size();
    nest.for_each_run([this](const int64_t* offsets, int64_t n) { run_blocks(offsets, n); });
  }

 private:
  void set_output(const LoopNest& nest, Tensor& out) {
    out_.data = static_cast<char*>(out.mutable_data());
    out_.element_bytes = element_size(out.scalar_type());
    out_.stride = nest.inner_stride(0);
    out_.narrows = out.scalar_type() != result_ && result_ != ScalarType::kBool;
    out_.direct = out.scalar_type() == native_type<C>() && out_.stride == 1 && !out_.narrows;
    out_.store = storer<C>(out.scalar_type());
  }

  void set_number(Port<C>& port, C* buffer, Scalar scalar) {
    const C value = scalar_as<C>(scalar, common_);
    for (int64_t i = 0; i < kBlock; ++i) buffer[i] = value;
    port.constant = true;
  }

  void set_input(Port<C>& port, int64_t stride, const Tensor& tensor) {
    port.data = static_cast<char*>(tensor.mutable_data());
    port.element_bytes = element_size(tensor.scalar_type());
    port.stride = stride;
    port.direct = tensor.scalar_type() == native_type<C>() && stride == 1;
    port.narrows = tensor.scalar_type() != common_ && is_integral(common_) &&
                   tensor.scalar_type() != ScalarType::kBool;
    port.direct = port.direct && !port.narrows;
    port.load = loader<C>(tensor.scalar_type());
  }

  // Reads elements [first, first + count) of the run that begins at `offset`.
  void read(Port<C>& port, C* buffer, int64_t offset, int64_t first, int64_t count) {
    const char* from =
        port.data + (offset + first * port.stride) * static_cast<int64_t>(port.element_bytes);
    port.load(from, port.stride, count, buffer);
    if (port.narrows) narrow_block(buffer, count, common_);
  }

  void run_blocks(const int64_t* offsets, int64_t n) {
    for (int64_t first = 0; first < n; first += kBlock) {
      const int64_t count = n - first < kBlock ? n - first : kBlock;
      const C* blocks[kMaxInputs];
      for (size_t k = 0; k < count_; ++k) {
        Port<C>& port = in_[k];
        blocks[k] = buffers_[k];
        if (port.constant) continue;
        const int64_t offset = offsets[operand_of_[k]];
        if (port.direct) {
          blocks[k] = reinterpret_cast<const C*>(port.data) + offset + first;
        } else if (port.stride != 0 || first == 0) {
          read(port, buffers_[k], offset, first, port.stride == 0 ? min_block(n) : count);
        }
      }
      write(offsets[0], first, count, blocks);
    }
  }

  static int64_t min_block(int64_t n) { return n < kBlock ? n : kBlock; }

  void write(int64_t offset, int64_t first, int64_t count, const C* const* blocks) {
    char* to =
        out_.data + (offset + first * out_.stride) * static_cast<int64_t>(out_.element_bytes);
    if (out_.direct) return loop_(op_, blocks, reinterpret_cast<C*>(to), count);
    loop_(op_, blocks, result_block_, count);
    if (out_.narrows) narrow_block(result_block_, count, result_);
    out_.store(result_block_, count, to, out_.stride);
  }

  Loop<C> loop_;
  const void* op_;
  ScalarType common_;
  ScalarType result_;
  size_t count_ = 0;
  Port<C> in_[kMaxInputs];
  Port<C> out_;
  int operand_of_[kMaxInputs] = {};
  C buffers_[kMaxInputs][kBlock];
  C result_block_[kBlock];
};

// True if the operator has a loop for the compute type of `common`.
bool has_loop(const Loops& loops, ScalarType common) {
  if (in_double(common)) return loops.f64 != nullptr;
  return in_float(common) ? loops.f32 != nullptr : loops.i64 != nullptr;
}

template <typename C>
Status run_engine(Loop<C> loop, const void* op, ScalarType common, ScalarType result,
                  const LoopNest& nest, Span<const Operand> in, Tensor& out) {
  Engine<C>(loop, op, common, result).run(nest, in, out);
  return {};
}

bool has_uint64(Span<const Operand> in) {
  for (const Operand& operand : in) {
    if (operand.tensor && operand.tensor->scalar_type() == ScalarType::kUInt64) return true;
  }
  return false;
}

Status resize_to_broadcast(Span<const Operand> in, Tensor& out) {
  Sizes sizes;
  for (const Operand& operand : in) {
    if (operand.tensor) TAPER_TRY(broadcast_sizes(sizes, operand.tensor->sizes(), &sizes));
  }
  return out.resize(sizes);
}

struct Identity {
  template <typename C>
  C operator()(C value) const {
    return value;
  }
};

template <typename C>
void convert_elements(const LoopNest& nest, const Tensor& self, Tensor& out) {
  Engine<C> engine(unary_loop<Identity, C>, nullptr, self.scalar_type(), out.scalar_type());
  const Operand in[] = {self};
  engine.run(nest, in, out);
}

}  // namespace

Status elementwise(ScalarType common, ScalarType result, const Loops& loops, const void* op,
                   Span<const Operand> in, Tensor& out) {
  TAPER_REQUIRE(can_cast(result, out.scalar_type()), Error::kInvalidType,
                "the result cannot be cast to the dtype of out");
  TAPER_REQUIRE(!has_uint64(in) && out.scalar_type() != ScalarType::kUInt64, Error::kInvalidType,
                "uint64 is not supported by element-wise operators");
  TAPER_REQUIRE(is_selected(common) && is_selected(result), Error::kInvalidType,
                "the kernels were built without a dtype that the operator computes in");
  TAPER_REQUIRE(has_loop(loops, common), Error::kInvalidType,
                "the operator does not take this dtype");
  TAPER_TRY(resize_to_broadcast(in, out));
  LoopNest nest = LoopNest::over(out);
  for (const Operand& operand : in) {
    if (operand.tensor) nest.add_operand(out, *operand.tensor);
  }
  nest.simplify();
  if (in_double(common)) {
    return run_engine(loops.f64, op, common, result, nest, in, out);
  }
  if (in_float(common)) return run_engine(loops.f32, op, common, result, nest, in, out);
  return run_engine(loops.i64, op, common, result, nest, in, out);
}

Status copy_elements(const Tensor& self, Tensor& out) {
  Sizes sizes;
  TAPER_TRY(broadcast_sizes(self.sizes(), out.sizes(), &sizes));
  TAPER_REQUIRE(self.dim() <= out.dim() && product(sizes, 0, out.dim()) == out.numel(),
                Error::kInvalidArgument, "self does not broadcast to the sizes of out");
  LoopNest nest = LoopNest::over(out);
  nest.add_operand(out, self);
  nest.simplify();
  const ScalarType from = self.scalar_type();
  const ScalarType to = out.scalar_type();
  if (from == to) {
    copy_strided(nest, out.mutable_data(), self.const_data(), element_size(from));
  } else if (in_double(from) ||
             (is_selected(ScalarType::kUInt64) && from == ScalarType::kUInt64 && is_floating(to))) {
    convert_elements<double>(nest, self, out);
  } else if (in_float(from)) {
    convert_elements<float>(nest, self, out);
  } else {
    convert_elements<int64_t>(nest, self, out);
  }
  return {};
}

bool has_integer_zero(const Operand& operand) {
  if (operand.tensor == nullptr) {
    return !operand.scalar.is_double() && operand.scalar.to_int() == 0;
  }
  const Tensor& tensor = *operand.tensor;
  // Element-wise operators refuse uint64 anyway, and report a wrong dtype before a wrong value.
  if (is_floating(tensor.scalar_type()) || tensor.scalar_type() == ScalarType::kUInt64)
    return false;
  int64_t block[kBlock];
  for (int64_t first = 0; first < tensor.numel(); first += kBlock) {
    const int64_t left = tensor.numel() - first;
    const int64_t count = left < kBlock ? left : kBlock;
    loader<int64_t>(tensor.scalar_type())(element(tensor.const_data(), first, tensor.scalar_type()),
                                          1, count, block);
    for (int64_t i = 0; i < count; ++i) {
      if (block[i] == 0) return true;
    }
  }
  return false;
}

}  // namespace taper::portable
