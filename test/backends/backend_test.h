// What the tests of all backends share: one object for each, and the graph that each must take.

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
  // One for the whole test, with one thread.
  Device& device();
  // Lowers for the backend, which must take something.
  Lowered lower(const std::string& graph_text) const;
  // The program on device().
  std::unique_ptr<DelegatedProgram> load(Lowered lowered);

 private:
  std::unique_ptr<Device> device_;
};

// For INSTANTIATE_TEST_SUITE_P.
std::vector<const Subject*> all_subjects();
std::string subject_name(const testing::TestParamInfo<const Subject*>& info);

// A method of that name that computes x * {1, -2, 3, 0.5} + x for `rows` rows of four: "s0" with a
// range, or a number. Every backend takes it whole.
std::string scaled_sum(const std::string& rows, const std::string& name = "forward");
// Small whole numbers, different in each place, for so many rows; and what becomes of them exactly.
std::vector<float> some_rows(int32_t rows);
std::vector<float> scaled_sum_of(const std::vector<float>& values);

std::vector<float> floats_of(const EValue& value);

}  // namespace taper::test
