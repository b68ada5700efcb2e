// Shared parts of the conformance suite: a fixture, and the graph that every backend must take.

#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "test/backends/delegated_program.h"
#include "test/support/loaded_method.h"

namespace taper::test {

class BackendTest : public testing::TestWithParam<const Subject*> {
 protected:
  const Subject& subject() const { return *GetParam(); }
  // A single-threaded device, shared by the whole test.
  Device& device();
  // Lowers for the backend, which must take at least one node.
  Lowered lower(const std::string& graph_text) const;
  // Loads the program on device().
  std::unique_ptr<DelegatedProgram> load(Lowered lowered);

 private:
  std::unique_ptr<Device> device_;
};

// For INSTANTIATE_TEST_SUITE_P.
std::vector<const Subject*> all_subjects();
std::string subject_name(const testing::TestParamInfo<const Subject*>& info);

// The method `name`, which computes x * {1, -2, 3, 0.5} + x for rows of four. `rows` is a number,
// or "s0" for a bounded dynamic size. Every backend must take the whole graph.
std::string scaled_sum(const std::string& rows, const std::string& name = "forward");
// Small varied integers for that many rows, and the exact result of scaled_sum() for them.
std::vector<float> some_rows(int32_t rows);
std::vector<float> scaled_sum_of(const std::vector<float>& values);

std::vector<float> floats_of(const EValue& value);

}  // namespace taper::test
