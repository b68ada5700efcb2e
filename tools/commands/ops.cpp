// taper ops: every operator, what becomes of it, and who runs it.

#include <cstdio>

#include "exir/ops/refusals.h"
#include "exir/support.h"
#include "tools/commands.h"
#include "tools/error.h"
#include "tools/json_writer.h"
#include "tools/options.h"

namespace taper::tools {
namespace {

using exir::OperatorRow;
using exir::OperatorTable;

CommandLine describe() {
  return {"taper ops",
          "Lists every operator that an exported program may name: its dialect, what it becomes,\n"
          "the kernel with the dtypes that it takes and the memory that its result may share, and\n"
          "whether sizes may change from call to call.\n",
          "[OPTIONS]",
          {{"Ops",
            {{"json", "Print one JSON object; what is not supported is listed too"},
             {"markdown", "Print docs/operators.md"}}}}};
}

std::string dtypes_of(const OperatorRow& row) {
  std::string out;
  for (const ScalarType dtype : row.dtypes) {
    out += (out.empty() ? "" : " ") + std::string(exir::short_name(dtype));
  }
  return out;
}

void print_text(const OperatorTable& table) {
  std::printf("%-52s %-11s %-44s %-8s %-13s %s\n", "operator", "dialect", "becomes", "dynamic",
              "memory", "dtypes");
  for (const OperatorRow& row : table.rows) {
    std::printf("%-52s %-11s %-44s %-8s %-13s %s\n", row.name.c_str(), row.dialect.c_str(),
                row.becomes.c_str(), row.dynamic.c_str(), row.memory.c_str(),
                dtypes_of(row).c_str());
  }
}

void print_json(const OperatorTable& table) {
  JsonWriter json;
  json.open('{').key("operators").open('[');
  for (const OperatorRow& row : table.rows) {
    json.open('{').key("name").text(row.name).key("dialect").text(row.dialect);
    json.key("becomes").text(row.becomes).key("kernel").text(row.kernel).key("dtypes").open('[');
    for (const ScalarType dtype : row.dtypes) json.text(to_string(dtype));
    json.close(']').key("dynamic").text(row.dynamic).key("memory").text(row.memory);
    json.key("scalar").text(row.scalar).close('}');
  }
  json.close(']').key("unsupported").open('[');
  for (const std::string& name : table.unsupported) json.text(name);
  json.close(']').close('}');
  std::printf("%s\n", json.str().c_str());
}

constexpr char kIntro[] =
    "# Operators\n"
    "\n"
    "Made by `taper ops --markdown > docs/operators.md`; a test compares. Every operator that an "
    "exported\n"
    "program may name and what becomes of it.\n"
    "\n"
    "| dialect | is |\n"
    "|---|---|\n"
    "| core | in the Core ATen set |\n"
    "| decomposed | a rule of `exir/decompose` breaks it down into simpler ones |\n"
    "| aten | in exported programs only: writes become values, views copies, the rest goes |\n"
    "| edge | kept whole for its kernel, though not in the Core ATen set |\n"
    "| backend | a kernel or control flow that only a compiled program names |\n"
    "\n"
    "Dtypes are those of the first tensor that the kernel takes. Memory: where its first result "
    "may "
    "lie,\n"
    "in memory of its `own`, in that of `any operand` (it is element-wise), of the `first operand` "
    "(which it\n"
    "updates), or as a `view` of the first. Numbers: the operator for a number as second operand. "
    "Dynamic:\n"
    "`any` size may change from call to call, `bounded` results depend on values and need an upper "
    "bound,\n"
    "`parts` as the operators that it becomes. The columns are those of `kernels_portable/ops.def` "
    "and\n"
    "`exir/ops/facts.def`.\n"
    "\n";

void print_markdown(const OperatorTable& table) {
  std::fputs(kIntro, stdout);
  std::printf("%zu operators:\n\n", table.rows.size());
  std::puts("| operator | dialect | becomes | dtypes | memory | numbers | dynamic |");
  std::puts("|---|---|---|---|---|---|---|");
  for (const OperatorRow& row : table.rows) {
    const bool name = row.becomes.find("::") != std::string::npos;
    const std::string quote = name ? "`" : "";
    const std::string numbers = row.scalar.empty() ? "" : "`" + row.scalar + "`";
    std::printf("| `%s` | %s | %s | %s | %s | %s | %s |\n", row.name.c_str(), row.dialect.c_str(),
                (quote + row.becomes + quote).c_str(), dtypes_of(row).c_str(), row.memory.c_str(),
                numbers.c_str(), row.dynamic.c_str());
  }
  std::printf(
      "\n## Not supported\n\nKnown by name and schema, refused with the line that calls them "
      "(%zu):\n\n",
      table.unsupported.size());
  for (const std::string& name : table.unsupported) {
    const char* reason = exir::refusal_reason(name);
    std::printf("- `%s`: %s\n", name.c_str(), reason != nullptr ? reason : "use other operators");
  }
}

}  // namespace

int ops_command(int argc, char** argv) {
  CommandLine line = describe();
  if (!line.parse(argc, argv)) return 0;
  if (!line.files().empty()) throw UsageError("'" + line.files()[0] + "': no file is expected");
  const OperatorTable table = exir::operator_table();
  if (line.given("json")) {
    print_json(table);
  } else if (line.given("markdown")) {
    print_markdown(table);
  } else {
    print_text(table);
  }
  return 0;
}

}  // namespace taper::tools
