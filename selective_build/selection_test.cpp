// What programs need, what is selected for them, and what is refused.

#include "selective_build/selection.h"

#include <gtest/gtest.h>

#include "selective_build/bill.h"
#include "selective_build/write_table.h"
#include "taper/selected_kernels.h"
#include "test/support/program_builder.h"

namespace taper::select {
namespace {

using test::MethodSpec;
using test::ProgramBuilder;

std::string text_of(const ProgramBuilder& builder) {
  const test::Bytes bytes = builder.finish();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A program that computes x + x in a dtype and, if `own`, calls a custom operator.
std::string adding(ScalarType type, bool own = false) {
  ProgramBuilder builder;
  MethodSpec& m = builder.method("forward");
  const int x = m.tensor({.scalar_type = static_cast<int8_t>(type), .sizes = {{2}}});
  const int y = m.tensor({.scalar_type = static_cast<int8_t>(type), .sizes = {{2}}});
  const int alpha = m.integer(1);
  m.call("aten::add", "out", {x, x, alpha, y, y});
  if (own) m.call("my::op", "out", {x, y});
  m.inputs = {x};
  m.outputs = {y};
  return text_of(builder);
}

Needs needs_of(const std::vector<std::string>& files) {
  Needs needs;
  int number = 0;
  for (const std::string& file : files) {
    EXPECT_EQ(add_needs(file, "m" + std::to_string(number++), &needs), "");
  }
  return needs;
}

std::vector<std::string> names(const Selection& selection) {
  std::vector<std::string> out;
  for (const SelectedKernel& each : selection.kernels) out.push_back(each.kernel.name);
  return out;
}

Selection selected(const Needs& needs, const Request& request = {}) {
  std::vector<std::string> problems;
  Selection selection = select(needs, request, &problems);
  EXPECT_TRUE(problems.empty()) << problems[0];
  return selection;
}

std::vector<std::string> refusals(const Needs& needs, const Request& request) {
  std::vector<std::string> problems;
  select(needs, request, &problems);
  return problems;
}

constexpr DtypeSet kF32 = dtype_bit(ScalarType::kFloat);
constexpr DtypeSet kI64 = dtype_bit(ScalarType::kLong);

TEST(Selection, IsWhatTheProgramsName) {
  const Selection one = selected(needs_of({adding(ScalarType::kFloat)}));
  EXPECT_EQ(names(one), std::vector<std::string>{"aten::add.out"});
  EXPECT_EQ(one.dtypes, kF32);
  EXPECT_EQ(one.files, (std::map<std::string, DtypeSet>{{"ops/binary/op_add", kF32}}));
  const Selection two =
      selected(needs_of({adding(ScalarType::kFloat), adding(ScalarType::kShort)}));
  EXPECT_EQ(two.kernels.size(), 1u);
  EXPECT_EQ(two.kernels[0].need.calls, 2);
  EXPECT_EQ(two.kernels[0].need.models, (std::set<std::string>{"m0", "m1"}));
  EXPECT_EQ(two.kernels[0].need.dtypes, kF32 | dtype_bit(ScalarType::kShort));
  EXPECT_EQ(two.dtypes, kF32 | kI64 | dtype_bit(ScalarType::kShort));
}

TEST(Selection, EachOperatorIsBuiltForItsOwnDtypes) {
  Request request;
  request.names = {"aten::sub.out"};
  request.own = {"my::op.out=src/my op.cpp"};
  Selection selection = selected(needs_of({adding(ScalarType::kFloat, true)}), request);
  EXPECT_EQ(selection.files, (std::map<std::string, DtypeSet>{{"ops/binary/op_add", kF32},
                                                              {"ops/binary/op_sub", kAllDtypes}}));
  EXPECT_EQ(selection.own_files, (std::map<std::string, DtypeSet>{{"src/my op.cpp", kF32}}));
  EXPECT_EQ(selection.dtypes, kAllDtypes) << "what they share";
  const std::string fragment = cmake_fragment(selection);
  for (const char* part : {"set(TAPER_SELECTED_FILES_0x40u ops/binary/op_add)\n",
                           "set(TAPER_SELECTED_OWN_FILES_0x40u \"src/my op.cpp\")\n",
                           "set(TAPER_SELECTED_FILES_0xffffffffu ops/binary/op_sub)\n"}) {
    EXPECT_NE(fragment.find(part), fragment.npos) << part << "\n" << fragment;
  }
  request.dtypes = kF32 | kI64;
  selection = selected(needs_of({adding(ScalarType::kFloat, true)}), request);
  EXPECT_EQ(selection.files.at("ops/binary/op_add"), kF32 | kI64) << "as asked";
}

TEST(Selection, FastFormsStandBeforePortableOnes) {
  Request request;
  request.optimized = true;
  request.names = {"aten::_conj_physical.out"};
  const Selection selection = selected(needs_of({adding(ScalarType::kFloat)}), request);
  ASSERT_EQ(names(selection),
            (std::vector<std::string>{"aten::_conj_physical.out", "aten::add.out"}));
  EXPECT_FALSE(selection.kernels[0].optimized) << "it has none";
  EXPECT_TRUE(selection.kernels[1].optimized);
  const std::string source = table_source(selection, {});
  EXPECT_NE(source.find("    &portable::kConjPhysicalOut,\n    &optimized::kAddOut,\n"),
            source.npos)
      << source;
  EXPECT_NE(source.find("namespace taper::optimized {\nextern const Kernel kAddOut;\n}"),
            source.npos)
      << source;
  // A file of fast kernels selects the portable ones that they all fall back to, for the same
  // dtypes.
  EXPECT_EQ(selection.files.at("ops/binary/op_add"), selection.dtypes);
  EXPECT_EQ(selection.files.count("ops/activation/op_gelu"), 1u);
}

TEST(Selection, KernelsOfTwoOperatorsComeWithBoth) {
  Request request;
  request.names = {"aten::convolution.out", "aten::relu.out"};
  EXPECT_EQ(names(selected({}, request)), request.names) << "portable kernels compute one";
  request.optimized = true;
  const Selection both = selected({}, request);
  EXPECT_EQ(names(both),
            (std::vector<std::string>{"aten::convolution.out",
                                      "aten::convolution.out+aten::relu.out", "aten::relu.out"}));
  EXPECT_EQ(both.files.count("ops/convolution"), 0u) << "it is no file of portable kernels";
  EXPECT_NE(table_source(both, {}).find("    &optimized::kConvolutionReluOut,\n"),
            std::string::npos);
  request.names = {"aten::convolution.out"};
  EXPECT_EQ(names(selected({}, request)), request.names);
}

TEST(Selection, ListsAndProgramsCombine) {
  Request request;
  request.names = {"aten::sub.out", "aten::add.out"};
  const Selection both = selected(needs_of({adding(ScalarType::kFloat)}), request);
  EXPECT_EQ(names(both), (std::vector<std::string>{"aten::add.out", "aten::sub.out"}));
  EXPECT_EQ(both.dtypes, kAllDtypes) << "what is asked for may be given anything";
  request.dtypes = kF32;
  EXPECT_EQ(selected(needs_of({adding(ScalarType::kFloat)}), request).dtypes, kF32);
  request.all = true;
  request.without = {"aten::sub.out"};
  const Selection all = selected(needs_of({adding(ScalarType::kFloat)}), request);
  EXPECT_GT(all.kernels.size(), 300u);
  EXPECT_TRUE(find_portable_kernel("aten::sub.out") != nullptr);
  const std::vector<std::string> held = names(all);
  EXPECT_EQ(std::count(held.begin(), held.end(), "aten::sub.out"), 0);
}

TEST(Selection, WhatIsLackingIsListedWhole) {
  const Needs needs = needs_of({adding(ScalarType::kShort, true), adding(ScalarType::kFloat)});
  Request request;
  request.without = {"aten::add.out"};
  request.names = {"aten::no_such.out"};
  const std::vector<std::string> problems = refusals(needs, request);
  ASSERT_EQ(problems.size(), 3u);
  EXPECT_EQ(problems[0], "operator aten::add.out is excluded; needed by m0, m1");
  EXPECT_EQ(problems[1],
            "operator my::op.out has no portable kernel; needed by m0 (a kernel of yours is named "
            "by --own)");
  EXPECT_EQ(problems[2],
            "operator aten::no_such.out, which the list names, has no portable kernel; `taper ops` "
            "lists all");
  request = {};
  request.own = {"my::op.out"};
  request.without = {"aten::ad.out"};
  EXPECT_EQ(
      refusals(needs, request),
      std::vector<std::string>{"operator aten::ad.out, which is excluded, does not exist; `taper "
                               "ops` lists all"});
  request.without = {"aten::sub.out"};
  request.dtypes = kI64;
  EXPECT_EQ(refusals(needs, request),
            std::vector<std::string>{"operator aten::add.out is called with int16, which is not "
                                     "built; needed by m0, m1"});
}

TEST(Selection, ABackendMustBeLinked) {
  Needs needs;
  needs.backends["SomeBackend"].models = {"m"};
  EXPECT_EQ(refusals(needs, {}),
            std::vector<std::string>{"backend SomeBackend is not linked; needed by m"});
  Request request;
  request.backends = {"SomeBackend"};
  EXPECT_TRUE(refusals(needs, request).empty());
}

TEST(Needs, AFileThatIsNoProgramIsRefused) {
  Needs needs;
  EXPECT_EQ(add_needs("", "m", &needs).rfind("m: ", 0), 0u);
  EXPECT_EQ(add_needs(std::string(500, 'x'), "m", &needs).rfind("m: ", 0), 0u);
  std::string broken = adding(ScalarType::kFloat);
  for (size_t i = 40; i < broken.size(); i += 3) broken[i] = '\x7f';
  EXPECT_NE(add_needs(broken, "m", &needs), "");
  EXPECT_TRUE(needs.models.empty());
}

TEST(WriteTable, NamesKernelsDtypesAndKinds) {
  Request request;
  request.own = {"my::op.out"};
  const Selection selection = selected(needs_of({adding(ScalarType::kFloat, true)}), request);
  const std::string source = table_source(selection, request.own);
  for (const char* part :
       {"extern const Kernel kAddOut;", "    &portable::kAddOut,\n",
        "{\"aten::add.out\", 0x40u},  // float32", "kInstructions[] = {\"KernelCall\"}",
        "kOwn[] = {\"my::op.out\"}", "static_assert(internal::is_kernel_order(kOperators)"}) {
    EXPECT_NE(source.find(part), source.npos) << part << "\n" << source;
  }
  const std::string fragment = cmake_fragment(selection);
  for (const char* part :
       {"set(TAPER_SELECTED_DTYPES 0x40u)\n", "set(TAPER_SELECTED_GROUPS 0x40u)\n",
        "set(TAPER_SELECTED_FILES_0x40u ops/binary/op_add)\n"}) {
    EXPECT_NE(fragment.find(part), source.npos) << part << "\n" << fragment;
  }
  EXPECT_NE(table_source({}, {}).find("return {};"), std::string::npos);
}

TEST(WriteTable, ATableWithDuplicatesIsNoTable) {
  constexpr SelectedOperator kGood[] = {{"a", 1}, {"a.b", 1}, {"b", 1}};
  constexpr SelectedOperator kTwice[] = {{"a", 1}, {"a", 1}};
  constexpr SelectedOperator kUnordered[] = {{"b", 1}, {"a", 1}};
  EXPECT_TRUE(internal::is_kernel_order(kGood));
  EXPECT_FALSE(internal::is_kernel_order(kTwice));
  EXPECT_FALSE(internal::is_kernel_order(kUnordered));
}

TEST(Dtypes, HaveNames) {
  EXPECT_EQ(dtype_names(kF32 | kI64), "int64 float32");
  EXPECT_EQ(dtype_names(kAllDtypes), "all");
  EXPECT_EQ(dtype_of_name("bool"), ScalarType::kBool);
  EXPECT_FALSE(dtype_of_name("f32").has_value());
}

constexpr char kMap[] =
    "Archive member included\n\n .text  0x1 0x99 before.o\n"
    "Linker script and memory map\n\n"
    ".text           0x0000000000401000    0x200\n"
    " .text          0x0000000000401000       0x10 main.o\n"
    " .text._ZN5taper8portable4loopIfEEvv\n"
    "                0x0000000000401010       0x20 libapp_taper_kernels.a(op_add.cpp.o)\n"
    "                0x0000000000401010                void taper::portable::loop<float>()\n"
    " .text._ZN5taper8portable4loopIdEEvv\n"
    "                0x0000000000401030        0x8 libapp_taper_kernels.a(op_add.cpp.o)\n"
    " .text.gone     0x0000000000000000       0x30 libapp_taper_kernels.a(op_add.cpp.o)\n"
    " .text.all      0x0000000000401038        0x4 libapp_taper_kernels.a(sum.cpp.o)\n"
    " *fill*         0x000000000040103c        0x4 \n"
    " .text._Z4copyImEvv 0x0000000000401080   0x10 libapp_taper_kernels.a(op_add.cpp.o)\n"
    " .text.load     0x0000000000401040       0x40 libtaper_runtime.a(program.cpp.o)\n"
    ".bss            0x0000000000403000       0x50\n"
    " .bss           0x0000000000403000       0x50 main.o\n"
    ".comment        0x0000000000000000       0x27\n"
    " .comment       0x0000000000000001       0x27 main.o\n\n"
    "Cross Reference Table\n\nSymbol                          File\n"
    "taper::portable::kAddOut                     libapp_taper_kernels.a(op_add.cpp.o)\n"
    "                                             main.o\n"
    "taper::portable::sum(int)                    libapp_taper_kernels.a(sum.cpp.o)\n"
    "                                             libapp_taper_kernels.a(op_add.cpp.o)\n";

TEST(Bill, AddsUpWhatIsLoaded) {
  LinkMap map;
  ASSERT_TRUE(read_link_map(kMap, &map));
  const Bill bill =
      make_bill(map, selected(needs_of({adding(ScalarType::kFloat)})), {"libSomeBackend"});
  EXPECT_EQ(bill.total, 0x90u);
  EXPECT_EQ(bill.zeroed, 0x50u);
  EXPECT_EQ(bill.parts.at("application"), 0x10u);
  EXPECT_EQ(bill.parts.at("runtime"), 0x40u);
  EXPECT_EQ(bill.parts.at("kernels: operators"), 0x38u);
  EXPECT_EQ(bill.parts.at("kernels: shared"), 4u);
  EXPECT_EQ(bill.parts.at("padding"), 4u);
  EXPECT_EQ(bill.by_dtype.at("float32"), 0x20u);
  EXPECT_EQ(bill.by_dtype.at("float64"), 8u);
  EXPECT_EQ(bill.by_dtype.at("any"), 0x14u) << "no tensor is uint64: copy<unsigned long>() is not";
  ASSERT_EQ(bill.operators.size(), 1u);
  EXPECT_EQ(bill.operators[0].file, "op_add");
  EXPECT_EQ(bill.operators[0].own, 0x38u);
  EXPECT_EQ(bill.operators[0].saved, 0x3cu) << "sum.cpp goes with it";
  EXPECT_EQ(bill.operators[0].names, std::vector<std::string>{"aten::add.out"});
  EXPECT_FALSE(read_link_map("hello\n", &map));
  EXPECT_NE(
      bill_report(bill).find("saves 60  op_add (16 any, 32 float32, 8 float64)  aten::add.out"),
      std::string::npos)
      << bill_report(bill);
}

}  // namespace
}  // namespace taper::select
