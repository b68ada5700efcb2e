// The values of operator cases: conversion from text to tensors, and comparison with results.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "taper/evalue.h"
#include "test/support/op_case_file.h"

namespace taper::test {

// The largest allowed difference from an expected number: absolute + relative * |expected|.
struct Tolerance {
  double relative;
  double absolute;
};

// The default tolerance of the dtype.
Tolerance tolerance_of(ScalarType type);
// The tolerance that the case states, if any.
std::optional<Tolerance> own_tolerance(const OpCase& c);

// Parse a number in the text of a case; "true" is 1.
int64_t parse_int(const std::string& text);
double parse_double(const std::string& text);

// The number of values that the text of a tensor must have: two for each complex element.
size_t value_count(const CaseTensor& text);
// Writes the values into `tensor`, which must have the text's dtype and sizes, and any dim order.
void fill(const CaseTensor& text, const Tensor& tensor);

// Converts a tensor to the form of a case.
CaseTensor text_of(const Tensor& tensor);

// Returns what is wrong with `got`, in one line; empty if nothing is. Without a tolerance that of
// the dtype is used, and integers must be equal. If a tensor has no values in the text, only its
// dtype and sizes are compared.
std::string mismatch(const CaseTensor& want, const Tensor& got,
                     const std::optional<Tolerance>& tolerance);
std::string mismatch(const CaseValue& want, const EValue& got,
                     const std::optional<Tolerance>& tolerance);

}  // namespace taper::test
