#include "test/support/guarded_program.h"

namespace taper::test {

Bytes guarded_program() {
  ProgramBuilder builder;
  MethodSpec& m = builder.method("forward");
  const int x = m.tensor({.sizes = {{4}}, .dynamism = 1, .memory_id = 1});
  const int y = m.tensor({.sizes = {{4}}, .dynamism = 1, .memory_id = 1, .offset = 16});
  const int rows = m.integer(0), few = m.boolean(false);
  m.call("test::rows", "", {x, rows});
  m.call("test::less", "", {rows, m.integer(3), few});
  m.call("test::assert", "", {few, m.string("fewer than\n3 rows")});
  m.call("test::add", "out", {x, x, y});
  m.buffer_sizes = {0, 32};
  m.inputs = {x};
  m.outputs = {y};
  return builder.finish();
}

}  // namespace taper::test
