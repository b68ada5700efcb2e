// Writes a number as a table of its own.

#pragma once

#include <flatbuffers/flatbuffers.h>

#include <cmath>

namespace taper::exir {

// What create(fbb, value) gives. FlatBuffers leaves out a field that equals its default, and -0.0
// equals 0: it would lose its sign.
template <typename Create>
auto create_number(flatbuffers::FlatBufferBuilder& fbb, double value, const Create& create) {
  fbb.ForceDefaults(std::signbit(value));
  const auto number = create(fbb, value);
  fbb.ForceDefaults(false);
  return number;
}

}  // namespace taper::exir
