// Calibration samples for a program: a .npz, or a folder of .npy or .npz files.
//
//   data.npz, folder/*.npy   one array for each input; its first dimension counts the samples:
//                            the rows of one after another, or whole inputs that are stacked
//   folder/0007.npy          for a program with one input: each file holds one or several samples
//   folder/0007.npz          each file holds one or several samples, in an array for each input
//   folder/0007/*.npy        one folder for each sample, in it an array for each input
//
// Files and folders are taken in the order of their names, numbers by value.

#pragma once

#include <string>
#include <vector>

#include "exir/quantize/engine.h"

namespace taper::tools {

// `graph` says what a sample must look like. Throws InputError that names the file, what was
// expected and what is there: no samples, another shape or dtype, NaN or infinity.
std::vector<exir::Sample> read_samples(const std::string& path, const exir::Graph& graph);

// One class per row of an output: a .npy of integers, of any shape. Throws InputError.
std::vector<int64_t> read_labels(const std::string& path);

}  // namespace taper::tools
