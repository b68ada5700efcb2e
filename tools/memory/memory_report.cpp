// Lines of `taper inspect --memory`. Tensors have the exporter's names and the lines of the model's
// source where the program has them.

#include "tools/memory/memory_report.h"

#include <algorithm>
#include <cstdio>

#include "tools/text/terminal.h"

namespace taper::tools {
namespace {

constexpr size_t kListed = 8;

std::string bytes(uint64_t n) { return bytes_text(static_cast<double>(n)); }

// A tensor as people know it.
struct Described {
  std::string name, by, line;
};

// "relu, dropout" if the program says which of the exporter's tensors it holds.
std::string names_of(const exir::InstructionOrigin& origin, uint32_t argument) {
  for (const exir::HeldResult& result : origin.results) {
    if (result.argument != argument || result.names.empty()) continue;
    std::string names;
    for (const std::string& name : result.names) names += (names.empty() ? "" : ", ") + name;
    return names;
  }
  return origin.node.name;
}

Described describe(const MemoryRow& row, const exir::DebugInfo& origins) {
  if (!row.instruction) return {row.origin, "", ""};
  const auto origin = origins.find(*row.instruction);
  if (origin == origins.end()) return {"", row.origin, ""};
  Described tensor = {names_of(origin->second, row.argument), row.origin, origin->second.node.line};
  for (const exir::Origin& part : origin->second.parts) {
    if (part.name == tensor.name) tensor.line = part.line;
  }
  return tensor;
}

// Of the intermediate results of a delegate.
Described describe(const PlacedResult& result, const std::vector<exir::Origin>& parts) {
  const auto known = [&](int64_t node) {
    return node >= 0 && static_cast<size_t>(node) < parts.size();
  };
  if (!known(result.node)) return {"", "of no node", ""};
  const exir::Origin& node = parts[static_cast<size_t>(result.node)];
  if (!known(result.last_node)) return {node.name, node.op, node.line};
  std::string name = node.name;
  if (result.last_node != result.node) {
    name += " to " + parts[static_cast<size_t>(result.last_node)].name;
  }
  return {name, "scratch memory", node.line};
}

void print_tensor(uint64_t size, uint64_t first, uint64_t last, const Described& tensor) {
  std::printf("  %12llu %6llu %6llu  %-24s %-30s %s\n", static_cast<unsigned long long>(size),
              static_cast<unsigned long long>(first), static_cast<unsigned long long>(last),
              tensor.name.c_str(), tensor.by.c_str(), tensor.line.c_str());
}

void print_head(const char* of, const std::string& step) {
  std::printf("\n  alive at the peak of %s, %s\n  %12s %6s %6s  %-24s %-30s %s\n", of, step.c_str(),
              "bytes", "from", "to", "tensor", "by", "source line");
}

void print_rest(size_t count, size_t listed) {
  if (count > listed) std::printf("  and %zu more; --all lists them\n", count - listed);
}

void print_peak(const MemoryReport& report, size_t buffer, size_t most) {
  const size_t at = report.planned.buffers[buffer].peak_at;
  const std::vector<MemoryRow> alive =
      alive_at(report.planned.rows, static_cast<uint32_t>(buffer + 1), at);
  print_head(("buffer " + std::to_string(buffer + 1)).c_str(), "instruction " + std::to_string(at));
  for (size_t i = 0; i < std::min(alive.size(), most); ++i) {
    print_tensor(alive[i].bytes, alive[i].first, alive[i].last, describe(alive[i], report.origins));
  }
  print_rest(alive.size(), most);
}

// The results of a block as rows, each with its number in place of an instruction.
std::vector<MemoryRow> rows_of(const DelegateBlock& block) {
  std::vector<MemoryRow> rows;
  for (const PlacedResult& result : block.results) {
    MemoryRow row;
    row.offset = result.offset;
    row.bytes = result.bytes;
    row.first = result.first;
    row.last = result.last;
    row.instruction = static_cast<uint32_t>(rows.size());
    rows.push_back(row);
  }
  return rows;
}

size_t steps_of(const std::vector<MemoryRow>& rows) {
  size_t steps = 0;
  for (const MemoryRow& row : rows) steps = std::max(steps, row.last + 1);
  return steps;
}

std::vector<exir::Origin> parts_of(const MemoryReport& report, size_t delegate) {
  const auto call = report.planned.delegate_calls.find(static_cast<uint32_t>(delegate));
  if (call == report.planned.delegate_calls.end()) return {};
  const auto origin = report.origins.find(call->second);
  return origin == report.origins.end() ? std::vector<exir::Origin>() : origin->second.parts;
}

void print_peaks_of_delegate(const MemoryReport& report, size_t delegate, size_t most) {
  const std::vector<exir::Origin> parts = parts_of(report, delegate);
  for (const DelegateBlock& block : report.loaded.delegates[delegate].blocks) {
    if (block.results.empty()) continue;
    const std::vector<MemoryRow> rows = rows_of(block);
    const size_t at = peak_of(rows, 0, steps_of(rows)).peak_at;
    const std::vector<MemoryRow> alive = alive_at(rows, 0, at);
    print_head(("delegate " + std::to_string(delegate)).c_str(), "its step " + std::to_string(at));
    for (size_t i = 0; i < std::min(alive.size(), most); ++i) {
      print_tensor(alive[i].bytes, alive[i].first, alive[i].last,
                   describe(block.results[*alive[i].instruction], parts));
    }
    print_rest(alive.size(), most);
  }
}

const char* text_of(MemoryBlock::Kind kind) {
  switch (kind) {
    case MemoryBlock::Kind::kOwn:
      return "";
    case MemoryBlock::Kind::kShared:
      return ", shared with other delegates";
    case MemoryBlock::Kind::kFile:
      return ", pages of a file";
    case MemoryBlock::Kind::kDevice:
      return ", on the device";
  }
  return "";
}

// The blocks that the backend tells of, and the rest of what was measured.
void print_delegate(const MemoryReport& report, size_t number) {
  const DelegateMemory& delegate = report.loaded.delegates[number];
  const std::string id =
      number < report.summary.delegates.size() ? report.summary.delegates[number].id : "";
  std::printf("  delegate %-3zu  %s\n", number, id.c_str());
  uint64_t told = 0;
  for (const DelegateBlock& block : delegate.blocks) {
    if (block.bytes == 0) continue;
    if (block.kind == MemoryBlock::Kind::kOwn) told += block.bytes;
    const std::vector<MemoryRow> rows = rows_of(block);
    const uint64_t peak = peak_of(rows, 0, steps_of(rows)).peak;
    std::printf("    %10s  %s%s%s\n", bytes(block.bytes).c_str(), block.what.c_str(),
                text_of(block.kind), rows.empty() ? "" : (", peak " + bytes(peak)).c_str());
  }
  if (delegate.heap_bytes > told) {
    std::printf("    %10s  everything else that loading it took from the heap\n",
                bytes(delegate.heap_bytes - told).c_str());
  }
}

void print_measured(const char* label, const MeasuredLoad& measured) {
  std::printf("%s%s while it loads, %s while it runs; loaded in %s\n", label,
              bytes(measured.peak_while_loading).c_str(),
              bytes(measured.peak_while_running).c_str(), time_text(measured.seconds).c_str());
}

// What options change, or have changed: computed from the file, or measured.
void print_options(const MemoryReport& report, const PteSummary& file) {
  std::printf("\n  what options change\n");
  for (size_t i = 0; i < report.planned.buffers.size(); ++i) {
    const BufferUse& use = report.planned.buffers[i];
    if (use.peak_without_sharing <= use.peak) continue;
    std::printf(
        "    in place            the peak of buffer %zu would be %s if no result lay on\n"
        "                        another's memory, as they do\n",
        i + 1, bytes(use.peak_without_sharing).c_str());
  }
  uint64_t debug = 0;
  for (const NamedDataSummary& each : file.named_data) {
    if (each.key.compare(0, exir::kDebugKey.size(), exir::kDebugKey) == 0) debug += each.bytes;
  }
  if (file.constant_bytes > 0) {
    std::printf("    --external-weights  moves %s of the file's %s into a .ptd\n",
                bytes(file.constant_bytes).c_str(), bytes(file.file_bytes).c_str());
  }
  if (debug > 0) {
    std::printf("    --strip-debug       takes %s from the file\n", bytes(debug).c_str());
  }
  if (report.loaded.with_prepared) {
    const std::string label = "    --cache             with " +
                              bytes(report.loaded.prepared_bytes) +
                              " of what backends prepare in a file:\n                        ";
    print_measured(label.c_str(), *report.loaded.with_prepared);
  }
}

void print_all(const MethodMemory& method, const exir::DebugInfo& origins) {
  std::printf("\n  %6s %12s %12s %7s %7s  %s\n", "buffer", "offset", "bytes", "from", "to", "by");
  for (const MemoryRow& row : method.rows) {
    const std::string name = describe(row, origins).name;
    std::printf("  %6u %12llu %12llu %7zu %7zu  %s%s%s\n", row.buffer,
                static_cast<unsigned long long>(row.offset),
                static_cast<unsigned long long>(row.bytes), row.first, row.last, row.origin.c_str(),
                name.empty() || name == row.origin ? "" : "  ",
                name == row.origin ? "" : name.c_str());
  }
}

}  // namespace

void print_memory(const MemoryReport& report, const PteSummary& file, bool list_all) {
  const MethodMemory& planned = report.planned;
  std::printf("method %s: %zu instructions\n  method block  %s\n", planned.name.c_str(),
              planned.instructions, bytes(report.summary.method_bytes).c_str());
  for (size_t i = 0; i < planned.buffers.size(); ++i) {
    const BufferUse& use = planned.buffers[i];
    std::printf("  buffer %-5zu  %s planned, peak %s at instruction %zu\n", i + 1,
                bytes(use.bytes).c_str(), bytes(use.peak).c_str(), use.peak_at);
  }
  for (size_t i = 0; i < report.loaded.delegates.size(); ++i) print_delegate(report, i);
  if (!report.loaded.problem.empty()) {
    std::printf("  measured      not: %s\n", report.loaded.problem.c_str());
  } else if (report.loaded.measured) {
    print_measured("  measured      ", *report.loaded.measured);
  } else {
    std::printf("  measured      not: this system does not tell\n");
  }
  const size_t most = list_all ? SIZE_MAX : kListed;
  for (size_t i = 0; i < planned.buffers.size(); ++i) print_peak(report, i, most);
  for (size_t i = 0; i < report.loaded.delegates.size(); ++i) {
    print_peaks_of_delegate(report, i, most);
  }
  print_options(report, file);
  if (list_all) print_all(planned, report.origins);
}

}  // namespace taper::tools
