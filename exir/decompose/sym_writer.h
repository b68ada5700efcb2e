// Writes the nodes that compute a Sym: a condition on sizes, whatever functions it is made of.
//
//     ne(mod(s0, 4), 0)        %n: int(s0) = aten::sym_size.int(%x, 0)       defined before
//                              %a: int(mod(s0, 4)) = python::mod(%n, 4)
//                              %b: bool(ne(mod(s0, 4), 0)) = python::ne(%a, 0)

#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "exir/ir/rewrite.h"

namespace taper::exir {

class SymWriter {
 public:
  explicit SymWriter(Rewriter& rewriter) : rewriter_(rewriter) {}

  // From here on `value`, a number, holds `sym`; what was defined first stays.
  void define(const Sym& sym, const Argument& value) { values_.emplace(sym.text(), value); }
  // Whether all that `sym` is made of is defined.
  bool knows(const Sym& sym) const;
  // A literal, or a number of the graph. REQUIRES: knows(sym).
  Argument write(const Sym& sym);
  // A call of `target`, whose result is a number.
  Value* call(std::string_view target, const std::vector<Argument>& args, ValueKind kind,
              const Sym& sym);

 private:
  Argument compute(const Sym& sym);
  Argument fold(const Sym& sym, std::string_view target, bool of_truths);
  Argument truth(const Sym& sym);
  Argument through_tensor(const Sym& sym);
  Argument call(std::string_view target, const std::vector<Argument>& args, const Sym& sym);

  Rewriter& rewriter_;
  std::unordered_map<std::string, Argument> values_;
};

}  // namespace taper::exir
