#include "exir/frontend/pickle.h"

#include <gtest/gtest.h>

#include <deque>

#include "exir/frontend/archive_for_test.h"

namespace taper::exir {
namespace {

using test::blob_of;
using test::failure_of;
using test::put;

std::string text(std::string_view value) {
  std::string out = "X";
  put(out, value.size(), 4);
  return out + std::string(value);
}

std::string global(const std::string& module, const std::string& name) {
  return "c" + module + "\n" + name + "\n";
}

std::string number(int value) {
  std::string out = "J";
  put(out, static_cast<uint32_t>(value), 4);
  return out;
}

std::string storage(const std::string& type, const std::string& key) {
  return "(" + text("storage") + type + text(key) + text("cpu") + number(6) + "tQ";
}

// The call of _rebuild_tensor_v2 for float32[2, 3].
std::string tensor(const std::string& key, int offset = 0) {
  return global("torch._utils", "_rebuild_tensor_v2") + "(" +
         storage(global("torch", "FloatStorage"), key) + number(offset) + number(2) + number(3) +
         "\x86" + number(3) + number(1) + "\x86\x89" + global("collections", "OrderedDict") +
         ")RtR";
}

const std::string kHead = "\x80\x02";

Pickle run(const std::string& program) {
  static std::deque<Budget> budgets;
  return Pickle(blob_of(program), budgets.emplace_back(program.size()), "w.pt");
}

std::string failure_of_running(const std::string& program) {
  return failure_of([&] { run(program); });
}

// An object of the class mine.Weight, as PyTorch saves a subclass of tensors: an enum, an object with
// a state of its own, a tensor and a number.
const std::string kObject =
    global("torch._tensor", "_rebuild_from_type_v2") + "(" +
    global("torch._utils", "_rebuild_wrapper_subclass") + global("mine", "Weight") + ")}(" +
    text("kind") + global("mine", "Kind") + text("auto") + "\x85R" + text("how") +
    global("mine", "How") + ")\x81}(" + text("mode") + number(2) + "ub" + text("data") +
    tensor("0") + text("block") + number(16) + text("none") + "NutR";

TEST(Pickle, DescribesObjects) {
  static Budget budget(1 << 16);
  const std::string program = kHead + kObject + ".";
  const Pickle p(blob_of(program), budget, "w.pt", Objects::kDescribed);
  ASSERT_EQ(p.root().kind, PickleKind::kObject);
  EXPECT_EQ(p.root().text, "Weight");
  ASSERT_EQ(p.root().items.size(), 10u);
  EXPECT_EQ(p[p.root().items[1]].text, "Kind");
  EXPECT_EQ(p[p.root().items[3]].text, "How");
  EXPECT_EQ(p[p.root().items[5]].kind, PickleKind::kTensor);
  EXPECT_EQ(p[p.root().items[7]].number, 16);
  EXPECT_EQ(p[p.root().items[9]].kind, PickleKind::kNone);
  EXPECT_NE(failure_of_running(program).find("holds an object of the Python type"),
            std::string::npos);
}

TEST(Pickle, MakesObjectsOfClassesAlone) {
  EXPECT_NE(failure_of_running(kHead + text("a") + ")\x81.").find("unknown object"),
            std::string::npos);
  EXPECT_NE(
      failure_of_running(kHead + global("torch", "float32") + ")\x81.").find("unknown object"),
      std::string::npos);
}

TEST(Pickle, ReadsADictionaryOfTensors) {
  const Pickle p =
      run(kHead + "}q\x01(" + text("a") + tensor("0") + text("b") + tensor("0", 3) + "u.");
  ASSERT_EQ(p.root().kind, PickleKind::kDict);
  ASSERT_EQ(p.root().items.size(), 4u);
  EXPECT_EQ(p[p.root().items[0]].text, "a");
  const TensorView& b = p.tensor(p[p.root().items[3]]);
  EXPECT_EQ(b.dtype, ScalarType::kFloat);
  EXPECT_EQ(b.storage, "data/0");
  EXPECT_EQ(b.offset, 3);
  EXPECT_EQ(b.sizes, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(b.strides, (std::vector<int64_t>{3, 1}));
}

TEST(Pickle, ReadsParametersAndTypedTensors) {
  const std::string parameter = global("torch._utils", "_rebuild_parameter") + "(" + tensor("1") +
                                "\x88" + global("collections", "OrderedDict") + ")RtR";
  const Pickle p = run(kHead + parameter + ".");
  EXPECT_EQ(p.root().kind, PickleKind::kTensor);
  const Pickle q =
      run(kHead + global("torch._utils", "_rebuild_tensor_v3") + "(" +
          storage(global("torch.storage", "UntypedStorage"), "7") + number(0) + number(2) + "\x85" +
          number(1) + "\x85\x89" + global("collections", "OrderedDict") + ")R" +
          global("torch", "uint16") + "tR.");
  EXPECT_EQ(q.tensor(q.root()).dtype, ScalarType::kUInt16);
}

TEST(Pickle, ComplexNumbersArePairs) {
  const std::string call = global("torch._utils", "_rebuild_tensor_v2") + "(" +
                           storage(global("torch", "ComplexFloatStorage"), "0") + number(2) +
                           number(3) + "\x85" + number(5) + "\x85\x89" +
                           global("collections", "OrderedDict") + ")R";
  const Pickle p = run(kHead + call + "tR.");
  const TensorView& view = p.tensor(p.root());
  EXPECT_TRUE(view.pairs);
  EXPECT_EQ(view.dtype, ScalarType::kFloat);
  EXPECT_EQ(view.offset, 4);
  EXPECT_EQ(view.sizes, (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(view.strides, (std::vector<int64_t>{10, 1}));
  const std::string conjugate = "}" + text("conj") + "\x88s";
  EXPECT_NE(failure_of_running(kHead + call + conjugate + "tR.").find("conjugate"),
            std::string::npos);
}

TEST(Pickle, FloatsOfEightBitsAreBytes) {
  const Pickle p =
      run(kHead + global("torch._utils", "_rebuild_tensor_v3") + "(" +
          storage(global("torch.storage", "UntypedStorage"), "7") + number(0) + number(2) + "\x85" +
          number(1) + "\x85\x89" + global("collections", "OrderedDict") + ")R" +
          global("torch", "float8_e5m2") + "tR.");
  EXPECT_EQ(p.tensor(p.root()).dtype, ScalarType::kByte);
}

TEST(Pickle, ReadsNumbersTextsAndTheMemo) {
  using namespace std::string_literals;
  const Pickle p =
      run(kHead + "(" + number(-5) + "K\xff" + "M\x01\x02" + "\x8a\x02\xff\xff"s + "\x8a\x00"s +
          "G\x3f\xf8\0\0\0\0\0\0"s + "Nq\x05" + "h\x05" + "r\0\1\0\0"s + "j\0\1\0\0"s + "\x88t.");
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < 5; ++i) numbers.push_back(p[p.root().items[i]].number);
  EXPECT_EQ(numbers, (std::vector<int64_t>{-5, 255, 513, -1, 0}));
  EXPECT_EQ(p[p.root().items[5]].real, 1.5);
  EXPECT_EQ(p.root().items[6], p.root().items[7]);
  EXPECT_EQ(p.root().items[7], p.root().items[8]);
  EXPECT_EQ(p[p.root().items[9]].kind, PickleKind::kBool);
}

TEST(Pickle, ReadsProtocolFour) {
  using namespace std::string_literals;
  const Pickle p = run("\x80\x04\x95\x00\x00\x00\x00\x00\x00\x00\x00"s + "}\x94\x8c\x01k" +
                       "\x8c\x0b"
                       "collections\x8c\x0bOrderedDict\x93)Rs.");
  ASSERT_EQ(p.root().kind, PickleKind::kDict);
  EXPECT_EQ(p[p.root().items[0]].text, "k");
  EXPECT_EQ(p[p.root().items[1]].kind, PickleKind::kDict);
}

TEST(Pickle, ForeignFunctionsAreNamedAndNotRun) {
  const std::string said =
      failure_of_running(kHead + global("os", "system") + text("true") + "\x85R.");
  EXPECT_NE(said.find("w.pt: holds an object of the Python type 'os.system'"), std::string::npos)
      << said;
}

TEST(Pickle, BrokenProgramsAreRefused) {
  using namespace std::string_literals;
  const std::string programs[] = {"",
                                  ".",
                                  kHead + ".",
                                  kHead + "N",
                                  kHead + "t.",
                                  kHead + "Na.",
                                  kHead + "](Nu.",
                                  kHead + "h\x01.",
                                  kHead + "NR.",
                                  kHead + "N)R.",
                                  kHead + "NQ.",
                                  kHead + ")Q.",
                                  kHead + "ctorch\n",
                                  kHead + "X\xff\xff\xff\xff",
                                  kHead + "\x8a\x09" + std::string(9, '\1') + ".",
                                  kHead + "}(Nu.",
                                  kHead + "i.",
                                  kHead + global("torch._utils", "_rebuild_tensor_v2") + ")R.",
                                  kHead + global("collections", "OrderedDict") + "N\x85R.",
                                  kHead + global("torch", "FloatStorage") + ")R.",
                                  kHead + global("torch._tensor", "_rebuild_from_type_v2") + "(" +
                                      global("torch._tensor", "_rebuild_from_type_v2") + "N)NtR."};
  for (const std::string& program : programs) EXPECT_NE(failure_of_running(program), "") << program;
}

TEST(Pickle, SelfReferenceIsHarmless) {
  EXPECT_EQ(failure_of_running(kHead + "]q\x01h\x01"
                                       "a."),
            "");
}

TEST(Pickle, RepeatedCallsOnOneBigListRunOutOfBudget) {
  std::string program = kHead + global("collections", "OrderedDict") + "q\x01(]q\x02(";
  for (int i = 0; i < 1000; ++i) program += "NN\x86";
  program += "e\x85q\x03";
  for (int i = 0; i < 2000; ++i) program += "h\x01h\x03R";
  EXPECT_NE(failure_of_running(program + ".").find("more entries than a file of this size"),
            std::string::npos);
}

}  // namespace
}  // namespace taper::exir
