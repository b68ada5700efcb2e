// Programs with test cases (.bpte): writing them, and what the commands do with them.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "taper/bundled_program.h"
#include "taper/file_data_loader.h"
#include "taper/method_meta.h"
#include "tools/npy.h"

namespace taper::tools {

// A file that is mapped as long as this object lives.
class BundleFile {
 public:
  // Null if the file is not a bundle. Throws InputError if it is one that is damaged.
  static std::unique_ptr<BundleFile> open(const std::string& path);

  const BundledProgram& bundle() const { return bundle_; }

 private:
  BundleFile(MmapDataLoader file, BundledProgram bundle)
      : file_(std::move(file)), bundle_(bundle) {}

  MmapDataLoader file_;
  BundledProgram bundle_;
};

// The values of one call. Tensors are in the order of the method; in `values` is what is no tensor,
// at its place among all inputs or outputs.
struct CaseValues {
  std::vector<NpyArray> tensors;
  std::vector<EValue> values;
};

struct CasesOfMethod {
  struct Case {
    CaseValues inputs, expected;
  };

  MethodMeta meta;
  std::vector<Case> cases;
};

// The test cases that a bundle has for a method. Throws InputError if they are not for it.
CasesOfMethod cases_of(const BundledProgram& bundle, const MethodMeta& meta);

// A bundle of `program`. Throws InputError if an array is not what its method declares.
std::string bundle_bytes(std::string_view program, const std::vector<CasesOfMethod>& methods);

}  // namespace taper::tools
