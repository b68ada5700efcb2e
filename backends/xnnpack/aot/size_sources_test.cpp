// Tests which sources are found for sizes given as expressions.

#include "backends/xnnpack/aot/size_sources.h"

#include <gtest/gtest.h>

#include "backends/xnnpack/aot/compile_for_test.h"

namespace taper::xnnpack {
namespace {

using exir::Sym;

// "1.0 * 2 / 3" means dimension 0 of value 1, times 2, divided by 3.
std::string text(const KnownSizes& known, const std::vector<Sym>& sizes) {
  const auto sources = known.sources(sizes);
  if (!sources) return "none";
  std::string out;
  for (const SizeSource& s : *sources) {
    out += out.empty() ? "" : ", ";
    if (s.value == UINT32_MAX) {
      out += "-";
      continue;
    }
    out += std::to_string(s.value) + "." + std::to_string(s.dim);
    if (s.times != 1) out += " * " + std::to_string(s.times);
    if (s.over != 1) out += " / " + std::to_string(s.over);
  }
  return out;
}

TEST(KnownSizes, AreFoundInTheFirstValueThatHasThem) {
  const Sym b = Sym::symbol("s0"), t = Sym::symbol("s1");
  KnownSizes known;
  known.add(3, {b, 8, t * 64});
  known.add(4, {t, b});
  EXPECT_EQ(text(known, {b, t, 4, 16}), "3.0, 4.0, -, -");
  EXPECT_EQ(text(known, {t * 64, b}), "3.2, 3.0");
}

TEST(KnownSizes, OneMayBeWhatIsLeft) {
  const Sym b = Sym::symbol("s0"), t = Sym::symbol("s1");
  KnownSizes known;
  known.add(0, {b, t});
  EXPECT_EQ(text(known, {b * t, 2, t}), "-, -, 0.1");
  EXPECT_EQ(text(known, {b * t, b + t}), "none");
}

TEST(KnownSizes, MayBeMultipliedAndDivided) {
  const Sym h = Sym::symbol("s0"), w = Sym::symbol("s1");
  KnownSizes known;
  known.add(0, {h * 4, w});
  EXPECT_EQ(text(known, {h, 4, w * 3}), "0.0 / 4, -, 0.1 * 3");
  EXPECT_EQ(text(known, {h * 6, w}), "0.0 * 3 / 2, 0.1");
  // Whether floor_div(w, 2) is a half depends on the size.
  EXPECT_EQ(text(known, {exir::floor_div(w, 2), exir::floor_div(h, 3)}), "none");
}

// The upper bounds of 2*n and 12 - 2*n do not add up to 12.
TEST(SizeSources, DynamicPartsOfAFixedSizeStayOutside) {
  const Compiled r = compile(R"(  range s0 = [1, 5]
  input %x: float32[2*s0, 4]
  input %z: float32[-2*s0 + 12, 4]
  constant %c: float32[12, 4] = zeros
  %a: float32[12, 4] = aten::cat([%x, %z], 0)
  %b: float32[12, 4] = aten::tanh(%a)
  %y: float32[12, 4] = aten::add.Tensor(%b, %c)
  return %y)");
  ASSERT_FALSE(r.outside.empty());
  EXPECT_EQ(r.outside[0], "aten::cat: the upper bounds of its parts do not add up to its size");
}

// What is padded to a multiple of 4 has at most 70 + 3 elements as far as the bounds say, and 73
// are no rows of 4: XNNPACK could not lay out the graph.
TEST(SizeSources, ReshapesThatDoNotFitTheUpperBoundsStayOutside) {
  const Compiled r = compile(R"(  range s0 = [2, 70]
  input %x: float32[mod(3*s0, 4) + s0]
  constant %c: float32[4, 4] = zeros
  %a: float32[mod(3*s0, 4) + s0] = aten::tanh(%x)
  %w: float32[(mod(3*s0, 4) + s0)//4, 4] = aten::view_copy(%a, [-1, 4])
  %y: float32[(mod(3*s0, 4) + s0)//4, 4] = aten::mm(%w, %c)
  return %y)");
  ASSERT_EQ(r.outside.size(), 2U);  // The first is tanh, which does not pay alone.
  EXPECT_EQ(r.outside[1],
            "aten::view_copy: the upper bounds of its sizes make another number of elements");
}

}  // namespace
}  // namespace taper::xnnpack
