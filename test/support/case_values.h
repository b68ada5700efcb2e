// The values of operator cases: from their text into tensors, and compared with what was computed.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "taper/evalue.h"
#include "test/support/op_case_file.h"

namespace taper::test {

// How far a number may be from the one wanted: absolute + relative * |wanted|.
struct Tolerance {
  double relative;
  double absolute;
};

// That of the dtype.
Tolerance tolerance_of(ScalarType type);
// The one that the case states, if it does.
std::optional<Tolerance> own_tolerance(const OpCase& c);

// A number as the text of a case has it; "true" is 1.
int64_t parse_int(const std::string& text);
double parse_double(const std::string& text);

// How many values the text of a tensor must have: two for each complex element.
size_t value_count(const CaseTensor& text);
// Writes the values into `tensor`, which has the text's dtype and sizes and any dim order.
void fill(const CaseTensor& text, const Tensor& tensor);

// A tensor as a case would write it.
CaseTensor text_of(const Tensor& tensor);

// What is wrong with `got`, in one line; empty if nothing is. Without a tolerance that of each
// dtype holds, and whole numbers are equal. A tensor without values is compared by its dtype and
// sizes alone.
std::string mismatch(const CaseTensor& want, const Tensor& got,
                     const std::optional<Tolerance>& tolerance);
std::string mismatch(const CaseValue& want, const EValue& got,
                     const std::optional<Tolerance>& tolerance);

}  // namespace taper::test
