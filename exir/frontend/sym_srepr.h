// Parses size expressions as an exported program states them: in the text form of sympy's srepr.
//
//   Add(Mul(Integer(2), FloorDiv(Symbol('s21', positive=True, integer=True), Integer(2))), Integer(2))
//
//   expr  := call | 'true' | 'false' | number
//   call  := Name '(' [ arg { ',' arg } ] ')'
//   arg   := expr | text | name '=' ( 'True' | 'False' | number )
//
// PyTorch evaluates this text as Python; here `Name` must be one of a fixed list of functions.

#pragma once

#include <string_view>

#include "exir/ir/sym.h"

namespace taper::exir {

// Booleans become 0 and 1. Throws Failure naming what is wrong with the text.
Sym parse_srepr(std::string_view text);

}  // namespace taper::exir
