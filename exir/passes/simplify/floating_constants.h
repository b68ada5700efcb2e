// Constants of any floating-point dtype as doubles, for passes that compute new weights: what they
// read is exact, and what they write is rounded once.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "exir/ir/graph.h"

namespace taper::exir {

using Doubles = std::vector<double>;

// One element of a floating-point dtype.
double read_element(const uint8_t* at, ScalarType type);
void write_element(uint8_t* at, ScalarType type, double value);

// The elements of a contiguous floating-point constant; nullopt for any other argument.
std::optional<Doubles> read_doubles(const Argument& arg);

std::vector<uint8_t> to_bytes(const Doubles& data, ScalarType type);

// Names a constant that was made of another one for the files that hold it.
Value* named_after(Value* made, const Value& like);

// A batch norm with fixed statistics, for each channel: (x - mean) * scale + shift.
struct FixedNorm {
  Doubles mean, scale, shift;
};

// Nullopt if a parameter is no constant, or one has another number of channels than the mean.
std::optional<FixedNorm> read_fixed_norm(const Node& norm);

}  // namespace taper::exir
