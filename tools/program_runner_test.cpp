// Tests running one method on a hand-written program, a chain of additions.

#include "tools/program_runner.h"

#include <gtest/gtest.h>

#include <cstring>

#include "exir/export.h"
#include "test/support/program_builder.h"
#include "test/support/scratch_folder.h"
#include "test/support/synthetic_program.h"
#include "tools/atomic_file.h"
#include "tools/error.h"
#include "tools/pte_summary.h"

namespace taper::tools {
namespace {

NpyArray floats(std::vector<int64_t> shape, std::vector<float> values) {
  NpyArray array{ScalarType::kFloat, std::move(shape), ""};
  array.data.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  return array;
}

class Runner : public testing::Test {
 protected:
  void SetUp() override {
    // y1 = x + x; y2 = y1 + x; y3 = y2 + x.
    const std::vector<uint8_t> bytes = test::chain_of_adds(3, 4);
    write_file(path_, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }

  std::string problem(const NpyArray& array) {
    ProgramRunner runner({path_, "", ""});
    try {
      runner.set_inputs({array}, {"x.npy"});
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  }

  const test::ScratchFolder scratch_;
  const std::string folder_ = scratch_.path(), path_ = scratch_ / "adds.pte";
};

TEST_F(Runner, RunsOnGivenInputsAndOnOnes) {
  ProgramRunner runner({path_, "", ""});
  runner.set_inputs({floats({4}, {1, 2, -3, 0.5f})}, {"x.npy"});
  runner.execute();
  EXPECT_EQ(runner.outputs().at(0).array.data, floats({4}, {4, 8, -12, 2}).data);
  runner.set_ones();
  runner.execute();
  EXPECT_EQ(runner.outputs().at(0).array.data, floats({4}, {4, 4, 4, 4}).data);
  runner.overwrite_input(0, floats({4}, {0, 1, 2, 3}).data);
  runner.execute();
  EXPECT_EQ(runner.outputs().at(0).array.data, floats({4}, {0, 4, 8, 12}).data);
}

TEST_F(Runner, SaysWhatWasExpectedAndWhatWasGiven) {
  EXPECT_EQ(problem(floats({3}, {1, 2, 3})),
            "input 0 ('x.npy'): expected float32 (4,), given float32 (3,): dimension 0 must be 4");
  EXPECT_EQ(problem(floats({2, 2}, {1, 2, 3, 4})),
            "input 0 ('x.npy'): expected float32 (4,), given float32 (2, 2)");
  EXPECT_EQ(problem({ScalarType::kDouble, {4}, std::string(32, '\0')}),
            "input 0 ('x.npy'): expected float32 (4,), given float64 (4,)");
}

TEST_F(Runner, CountsInputs) {
  ProgramRunner runner({path_, "", ""});
  try {
    runner.set_inputs({}, {});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "method 'forward' takes 1 tensor input, given 0");
  }
}

TEST_F(Runner, TakesNumbersThatVaryBetweenTheTensors) {
  test::ProgramBuilder builder;
  test::MethodSpec& m = builder.method("forward");
  m.inputs = {m.integer(3), m.integer(4), m.real(0.5), m.boolean(true)};
  m.outputs = {m.inputs[0], m.inputs[2], m.inputs[3]};
  const test::Bytes bytes = builder.finish();
  write_file(path_, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  ProgramRunner runner({path_, "", ""});
  const auto results = [&](const std::vector<std::string>& given) -> std::string {
    try {
      runner.set_inputs(read_all(given), given);
    } catch (const InputError& error) {
      return error.what();
    }
    runner.execute();
    std::string text;
    for (const Output& output : runner.outputs()) text += output.text + "; ";
    return text;
  };
  EXPECT_EQ(results({}), "int 3; float 0.5; bool True; ");
  EXPECT_EQ(results({"-7", "1.5", "false"}), "int -7; float 1.5; bool False; ");
  EXPECT_EQ(runner.varying_numbers(), 3u);
  EXPECT_EQ(runner.input_values().at(0).to_int(), -7);
  EXPECT_TRUE(is_number("-7") && is_number("true") && !is_number(path_) && !is_number("x.npy"));
  EXPECT_EQ(results({"1.5", "1.5", "true"}),
            "input 0 ('1.5'): expected a number of int64, given float64 ()");
  EXPECT_EQ(results({"1"}),
            "method 'forward' takes 0 tensor inputs, or these and 3 numbers between them, given 1");
}

// A number varies if an instruction or an output reads it, here not the second.
TEST_F(Runner, InspectSaysWhichNumbersVary) {
  test::ProgramBuilder builder;
  test::MethodSpec& m = builder.method("forward");
  m.inputs = {m.integer(3), m.integer(4), m.real(0.5), m.boolean(true)};
  m.outputs = {m.inputs[0], m.inputs[2], m.inputs[3]};
  const test::Bytes bytes = builder.finish();
  const PteSummary summary =
      summarise_pte({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "x.pte");
  std::string text;
  for (const ValueSummary& input : summary.methods.at(0).inputs) text += value_text(input) + "; ";
  EXPECT_EQ(text, "int 3, varies; int 4; double 0.500000, varies; bool True, varies; ");
}

TEST_F(Runner, SaysWhichConditionIsBrokenAndWhatWasGiven) {
  const std::string path = TAPER_SOURCE_DIR "/test/models/data/dynamic_rows.pt2";
  exir::ExportRequest request;
  request.methods = {{"forward", path}};
  write_file(path_, exir::export_program(request).files.pte.joined());
  ProgramRunner runner({path_, "", ""});
  const NpyArray x = floats({2, 6}, std::vector<float>(12, 1));
  const NpyArray y = floats({3, 6}, std::vector<float>(18, 1));
  runner.set_inputs({x, y}, {"x.npy", "y.npy"});
  try {
    runner.execute();
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()),
              "'" + path_ +
                  "': the program refuses its inputs: exported for y.size()[0] == x.size()[0] "
                  "only; given (2, 6), (3, 6)");
  }
  runner.set_inputs({x, x}, {"x.npy", "x.npy"});
  runner.execute();
}

TEST_F(Runner, NamesTheMethodsThereAre) {
  try {
    ProgramRunner runner({path_, "", "backward"});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()),
              "'" + path_ + "' has no method 'backward'; it has forward");
  }
}

TEST_F(Runner, NamesTheFileThatIsNoProgram) {
  for (const std::string& bytes : {std::string(), std::string("ET12"), std::string(500, 'x')}) {
    write_file(folder_ + "/bad.pte", bytes);
    try {
      ProgramRunner runner({folder_ + "/bad.pte", "", ""});
      FAIL();
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("bad.pte"), std::string::npos);
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace taper::tools
