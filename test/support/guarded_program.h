// A program that states a condition on the size of its input.

#pragma once

#include "test/support/program_builder.h"

namespace taper::test {

// forward(x) = x + x of up to 4 rows, but fewer than 3: instruction 2 says so, in two lines.
Bytes guarded_program();

}  // namespace taper::test
