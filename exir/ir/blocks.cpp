// Extents are compared with sizes as they are, numbers or symbols; see blocks.h.

#include "exir/ir/blocks.h"

#include <algorithm>
#include <vector>

namespace taper::exir {
namespace {

bool reaches(const Argument& extent, const Sym& size) {
  if (extent.is_value()) return extent.value()->sym == size;
  return extent.is_int() && Sym(extent.to_int()) == size;
}

bool are_blocks(const Argument& block_size, const std::vector<Sym>& extents) {
  const Argument::List& block = block_size.list();
  return extents.size() >= 2 &&
         std::equal(block.begin(), block.end(), extents.begin(), extents.end(), reaches);
}

}  // namespace

bool are_rows(const Value& x, const Argument& block_size) {
  std::vector<Sym> row(x.type.rank(), Sym(1));
  if (!row.empty()) row.back() = x.type.sizes.back();
  return are_blocks(block_size, row);
}

bool is_one_block(const Value& x, const Argument& block_size) {
  return are_blocks(block_size, x.type.sizes);
}

}  // namespace taper::exir
