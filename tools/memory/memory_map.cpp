// Lifetimes and places of planned tensors, derived from a program's instructions.

#include "tools/memory/memory_map.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include "schema/program_generated.h"
#include "taper/scalar_type.h"
#include "tools/text/markup.h"
#include "tools/text/terminal.h"
#include "tools/text/wire_text.h"

namespace taper::tools {
namespace {

uint64_t bytes_of(const wire::Tensor& tensor) {
  uint64_t bytes = element_size(static_cast<ScalarType>(tensor.scalar_type()));
  for (unsigned i = 0; i < count_of(tensor.sizes()); ++i) {
    bytes *= static_cast<uint64_t>(tensor.sizes()->Get(i));
  }
  return bytes;
}

class MemoryReader {
 public:
  explicit MemoryReader(const wire::ExecutionPlan& plan) : plan_(plan) {}

  MethodMemory read() {
    out_.name = text_of(plan_.name());
    for (unsigned i = 0; i < count_of(plan_.values()); ++i) {
      if (is_state(*plan_.values()->Get(i))) use(static_cast<int32_t>(i), "state");
    }
    for (unsigned i = 0; i < count_of(plan_.inputs()); ++i) {
      use(plan_.inputs()->Get(i), "input " + std::to_string(i));
    }
    for (unsigned c = 0; c < count_of(plan_.chains()); ++c) {
      const auto* steps = plan_.chains()->Get(c)->instructions();
      for (unsigned i = 0; i < count_of(steps); ++i, ++now_) read_step(*steps->Get(i));
    }
    out_.instructions = now_;
    for (unsigned i = 0; i < count_of(plan_.outputs()); ++i) {
      use(plan_.outputs()->Get(i), "output " + std::to_string(i));
    }
    finish();
    return std::move(out_);
  }

 private:
  // `argument` is negative for what no instruction names.
  void use(int32_t slot, const std::string& origin, int64_t argument = -1) {
    const wire::EValue& value = *plan_.values()->Get(static_cast<unsigned>(slot));
    if (const auto* list = value.val_as_TensorList())
      return use_items(list->items(), origin, argument);
    if (const auto* list = value.val_as_OptionalTensorList())
      return use_items(list->items(), origin, argument);
    const wire::Tensor* tensor = value.val_as_Tensor();
    if (tensor == nullptr || tensor->allocation_info() == nullptr) return;
    const auto [found, fresh] = rows_.try_emplace(slot);
    MemoryRow& row = found->second;
    row.last = now_;
    if (!fresh) return;
    row.slot = slot;
    const wire::AllocationDetails& place = *tensor->allocation_info();
    row.buffer = place.memory_id();
    row.offset = place.memory_offset_low() | uint64_t{place.memory_offset_high()} << 32;
    row.bytes = bytes_of(*tensor);
    row.first = now_;
    row.origin = origin;
    if (argument >= 0) {
      row.instruction = static_cast<uint32_t>(now_);
      row.argument = static_cast<uint32_t>(argument);
    }
    if (is_state(value)) always_.push_back(slot);
  }

  // State stays alive between calls, even if no instruction names it.
  static bool is_state(const wire::EValue& value) {
    const wire::Tensor* tensor = value.val_as_Tensor();
    if (tensor == nullptr || tensor->allocation_info() == nullptr) return false;
    return tensor->data_buffer_idx() != 0 || tensor->extra_tensor_info() != nullptr;
  }

  void use_items(const flatbuffers::Vector<int32_t>* slots, const std::string& origin,
                 int64_t argument) {
    for (unsigned i = 0; i < count_of(slots); ++i) {
      if (slots->Get(i) >= 0) use(slots->Get(i), origin, argument);
    }
  }

  void use_all(const flatbuffers::Vector<int32_t>* slots, const std::string& origin) {
    for (unsigned i = 0; i < count_of(slots); ++i) {
      if (slots->Get(i) >= 0) use(slots->Get(i), origin, i);
    }
  }

  void read_step(const wire::Instruction& step) {
    if (const auto* call = step.instr_args_as_KernelCall()) {
      use_all(call->args(),
              operator_name(*plan_.operators()->Get(static_cast<unsigned>(call->op_index()))));
    } else if (const auto* delegate = step.instr_args_as_DelegateCall()) {
      use_all(delegate->args(), "delegate");
      out_.delegate_calls.try_emplace(static_cast<uint32_t>(delegate->delegate_index()),
                                      static_cast<uint32_t>(now_));
    } else if (const auto* move = step.instr_args_as_MoveCall()) {
      use(move->move_from(), "move");
      use(move->move_to(), "move");
    } else if (const auto* jump = step.instr_args_as_JumpFalseCall()) {
      use(jump->cond_value_index(), "jump");
      const auto to = static_cast<size_t>(jump->destination_instruction());
      if (to <= now_) loops_.push_back({to, now_});
    }
  }

  void finish() {
    const size_t end = now_ == 0 ? 0 : now_ - 1;
    for (const int32_t slot : always_) rows_[slot].last = end;
    for (auto& [slot, row] : rows_) {
      // A tensor that is made before a loop and used in it is alive until the loop ends.
      for (const auto& [first, last] : loops_) {
        if (row.first < first && row.last >= first) row.last = std::max(row.last, last);
      }
      row.last = std::min(row.last, end);
      row.first = std::min(row.first, row.last);
      out_.rows.push_back(std::move(row));
    }
    std::stable_sort(out_.rows.begin(), out_.rows.end(),
                     [](const MemoryRow& a, const MemoryRow& b) { return a.first < b.first; });
    for (unsigned i = 1; i < count_of(plan_.non_const_buffer_sizes()); ++i) {
      out_.buffers.push_back(peak_of(out_.rows, i, now_));
      out_.buffers.back().bytes = static_cast<uint64_t>(plan_.non_const_buffer_sizes()->Get(i));
    }
  }

  const wire::ExecutionPlan& plan_;
  MethodMemory out_;
  std::map<int32_t, MemoryRow> rows_;
  std::vector<int32_t> always_;
  std::vector<std::pair<size_t, size_t>> loops_;
  size_t now_ = 0;
};

std::string bytes(uint64_t n) { return bytes_text(static_cast<double>(n)); }

// Text for an SVG, which may come from a file: at most 80 bytes, no control characters.
std::string label_of(std::string text) {
  text.resize(std::min(text.size(), size_t{80}));
  for (char& c : text) c = static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  return escaped(text);
}

constexpr double kWidth = 960, kHeight = 320, kMargin = 40;

std::string picture(const MethodMemory& method, uint32_t buffer, double top) {
  const BufferUse& use = method.buffers[buffer - 1];
  const double x_step = kWidth / static_cast<double>(std::max<size_t>(method.instructions, 1));
  const double y_step = kHeight / static_cast<double>(std::max<uint64_t>(use.bytes, 1));
  char text[512];
  std::snprintf(text, sizeof text,
                "<text x=\"%g\" y=\"%g\">%s, buffer %u: %s, peak %s at instruction %zu</text>\n"
                "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" class=\"arena\"/>\n",
                kMargin, top - 8, label_of(method.name).c_str(), buffer, bytes(use.bytes).c_str(),
                bytes(use.peak).c_str(), use.peak_at, kMargin, top, kWidth, kHeight);
  std::string out = text;
  for (size_t i = 0; i < method.rows.size(); ++i) {
    const MemoryRow& row = method.rows[i];
    if (row.buffer != buffer) continue;
    const double height = std::max(y_step * static_cast<double>(row.bytes), 0.5);
    const double y = top + kHeight - y_step * static_cast<double>(row.offset) -
                     y_step * static_cast<double>(row.bytes);
    std::snprintf(text, sizeof text,
                  "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
                  "fill=\"hsl(%zu,60%%,70%%)\"><title>%s: %llu bytes at %llu, %zu to %zu</title>"
                  "</rect>\n",
                  kMargin + x_step * static_cast<double>(row.first), y,
                  x_step * static_cast<double>(row.last - row.first + 1), height, i * 47 % 360,
                  label_of(row.origin).c_str(), static_cast<unsigned long long>(row.bytes),
                  static_cast<unsigned long long>(row.offset), row.first, row.last);
    out += text;
  }
  return out;
}

}  // namespace

std::vector<MethodMemory> read_memory(std::string_view file) {
  return read_memory(*wire::GetProgram(file.data()));
}

std::vector<MethodMemory> read_memory(const wire::Program& program) {
  std::vector<MethodMemory> methods;
  for (const wire::ExecutionPlan* plan : *program.execution_plan()) {
    methods.push_back(MemoryReader(*plan).read());
  }
  return methods;
}

BufferUse peak_of(const std::vector<MemoryRow>& rows, uint32_t buffer, size_t steps) {
  BufferUse use;
  for (size_t t = 0; t < std::max<size_t>(steps, 1); ++t) {
    std::vector<std::pair<uint64_t, uint64_t>> spans;
    for (const MemoryRow& row : rows) {
      if (row.buffer != buffer || row.first > t || row.last < t) continue;
      spans.emplace_back(row.offset, row.offset + row.bytes);
    }
    std::sort(spans.begin(), spans.end());
    uint64_t live = 0, reached = 0, all = 0;
    for (const auto& [from, to] : spans) {
      if (to > reached) live += to - std::max(from, reached);
      reached = std::max(reached, to);
      all += to - from;
    }
    use.peak_without_sharing = std::max(use.peak_without_sharing, all);
    if (live > use.peak) {
      use.peak = live;
      use.peak_at = t;
    }
  }
  return use;
}

std::vector<MemoryRow> alive_at(const std::vector<MemoryRow>& rows, uint32_t buffer, size_t step) {
  std::vector<MemoryRow> alive;
  for (const MemoryRow& row : rows) {
    if (row.buffer == buffer && row.first <= step && step <= row.last) alive.push_back(row);
  }
  std::stable_sort(alive.begin(), alive.end(),
                   [](const MemoryRow& a, const MemoryRow& b) { return a.bytes > b.bytes; });
  return alive;
}

std::string memory_svg(const std::vector<MethodMemory>& methods) {
  std::string body;
  double top = kMargin;
  for (const MethodMemory& method : methods) {
    for (uint32_t buffer = 1; buffer <= method.buffers.size(); ++buffer) {
      body += picture(method, buffer, top);
      top += kHeight + kMargin;
    }
  }
  char head[512];
  std::snprintf(head, sizeof head,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\">\n"
                "<style>text{font:12px sans-serif} .arena{fill:#f6f6f6;stroke:#999}</style>\n",
                kWidth + 2 * kMargin, top);
  return head + body + "</svg>\n";
}

}  // namespace taper::tools
