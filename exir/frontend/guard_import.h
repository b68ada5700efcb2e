// The guards of an exported program: what must hold of the sizes of its inputs, in Python.
//
//   (L['x'].size()[0] % 4) == 0        max(3, L['d']['a'][1].size()[0]) == L['d']['a'][1].size()[0]
//
//   guard      := conjunction {"or" conjunction}        conjunction := negation {"and" negation}
//   negation   := "not" negation | comparison
//   comparison := bits {("==" | "!=" | "<" | "<=" | ">" | ">=") bits}
//   bits       := shift {("&" | "^" | "|") shift}       shift := sum {("<<" | ">>") sum}
//   sum        := product {("+" | "-") product}
//   product    := sign {("*" | "/" | "//" | "%") sign}  sign  := ["-" | "+"] sign | power
//   power      := primary ["**" sign]
//   primary    := number | "True" | "False" | "(" guard ["if" guard "else" guard] ")"
//               | function "(" guard {"," guard} ")"
//               | "L" {"[" key "]" | "." name} [".size()" "[" integer "]"]

#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "exir/ir/graph.h"

namespace taper::exir {

// The input that a path such as ['d']['a'][1] leads to, by the name that export gives it: "d_a_1".
// Null if there is none.
using InputByName = std::function<const Value*(const std::string& name)>;

// Throws Failure naming what cannot be read.
Guard parse_guard(std::string_view code, const InputByName& input);

}  // namespace taper::exir
