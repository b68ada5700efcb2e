// What float16 or bfloat16 changes: a program is run with the kernels' numbers, then with values
// rounded where the devices of its backends round them.

#pragma once

#include <string>
#include <vector>

namespace taper::tools {

struct OutputChange {
  size_t output = 0;
  double largest = 0;   // The largest difference, over the largest value.
  double decibels = 0;  // The signal to noise ratio; infinite if nothing differs.
};

// Of the floating-point outputs of a method. Inputs are .npy files; without them, floats are drawn
// from the normal distribution, always the same, and all else is 1. Throws InputError.
std::vector<OutputChange> changes_by_rounding(const std::string& path, const std::string& data_path,
                                              const std::string& method,
                                              const std::vector<std::string>& inputs);

// "output 0 changes by 7.2e-04 of its largest value, SNR 61.2 dB"
std::string text_of(const OutputChange& change);

}  // namespace taper::tools
