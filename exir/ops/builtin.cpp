#include "exir/ops/builtin.h"

namespace taper::exir {
namespace {

struct Row {
  const char* schema;
  const char* tags;
};

constexpr Row kSchemas[] = {
#define TAPER_SCHEMA(schema, tags) {schema, tags},
#define TAPER_OUT(functional, schema)
#include "exir/ops/aten_schemas.def"
#include "exir/ops/other_ops.def"
#undef TAPER_SCHEMA
#undef TAPER_OUT
};

struct OutRow {
  const char* functional;
  const char* schema;
};

constexpr OutRow kOutVariants[] = {
#define TAPER_SCHEMA(schema, tags)
#define TAPER_OUT(functional, schema) {functional, schema},
#include "exir/ops/other_ops.def"
#include "exir/ops/out_variants.def"
#undef TAPER_SCHEMA
#undef TAPER_OUT
};

Operators read_tables() {
  const auto operators = std::make_shared<OperatorRegistry>();
  for (const Row& row : kSchemas) operators->add(row.schema, row.tags);
  for (const OutRow& row : kOutVariants) operators->add_out_variant(row.functional, row.schema);
  return operators;
}

}  // namespace

const Operators& builtin_operators() {
  static const Operators operators = read_tables();
  return operators;
}

std::unique_ptr<Graph> parse_graph(std::string_view text) {
  return parse_graph(text, builtin_operators());
}

}  // namespace taper::exir
