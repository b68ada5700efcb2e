// The operators that ExecuTorch's Vulkan runtime has, and what each asks of its arguments: the one
// table that payloads for that runtime are written by, and checked with.
//
// Source: op_registry.py of ExecuTorch 1.5.1. Its runtime has no other way to refuse an argument
// than to end the program.

#pragma once

#include <cstdint>
#include <string_view>

#include "backends/vulkan/schema_generated.h"
#include "taper/span.h"

namespace taper::vulkan {

// Sets of ways to store a tensor: in a buffer or in a texture, with elements of the width, the
// height or the channels next to each other.
using Storages = uint8_t;
enum : Storages {
  kNoStorage = 0,  // Not a tensor, or one that the operator stores itself.
  kBufferWidth = 1,
  kBufferHeight = 2,
  kBufferChannels = 4,
  kTextureWidth = 8,
  kTextureHeight = 16,
  kTextureChannels = 32,
  kAnyBuffer = kBufferWidth | kBufferHeight | kBufferChannels,
  kAnyTexture = kTextureWidth | kTextureHeight | kTextureChannels,
  kAnyStorage = kAnyBuffer | kAnyTexture,
  kContiguous = kBufferWidth | kTextureWidth,
};

using DtypeKinds = uint8_t;
enum : DtypeKinds { kFloats = 1, kIntegers = 2, kBooleans = 4, kAnyKind = 255 };

// What a row says beside dtypes and storages.
using OperatorTraits = uint8_t;
enum : OperatorTraits {
  kResizes = 1,      // Its sizes may depend on inputs.
  kManyDims = 2,     // Tensors may have more than four dimensions.
  kStoresOwn = 4,    // Takes constants as they are, but for its first tensor.
  kIsReduction = 8,  // How it stores depends on the dimensions that it reduces.
  kIsConvolution = 16,
  kIsTable = 32,     // Its first tensor is the second argument: embedding(weight, indices).
  kIsSymbolic = 64,  // Computes with sizes.
};

struct ExecutorchOperator {
  std::string_view name;
  DtypeKinds first, others, results;
  OperatorTraits traits;
  Storages storage = kAnyStorage;  // Of the first tensor; and of all others, unless these differ.
  Storages others_storage = kNoStorage;   // Of other tensors; none: that of the first one.
  Storages results_storage = kNoStorage;  // Of result 0; none: that of the first tensor.
  Storages later_results = kNoStorage;    // Of the others; none: that of result 0.
};

// Null if the runtime has none of that name.
const ExecutorchOperator* find_executorch_operator(std::string_view name);

// How ExecuTorch's runtime limits a texture, and the elements of a buffer.
inline constexpr int64_t kMostTexels[3] = {16384, 16384, 2048};
inline constexpr int64_t kMostElements = int64_t{128} << 20;

}  // namespace taper::vulkan
