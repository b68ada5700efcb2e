// Records executions with the names that ExecuTorch's runtime gives to events.

#include <algorithm>
#include <utility>

#include "taper/etdump.h"
#include "taper/out_of_memory.h"

namespace taper {
namespace {

// "native_call_add.out" for aten::add.out.
std::string name_of(const InstructionInfo& instruction) {
  if (instruction.is_delegate) return kEtDelegate;
  if (instruction.op.name.empty()) return "MOVE_OR_JUMP";
  std::string name(instruction.op.name.substr(instruction.op.name.rfind(':') + 1));
  if (!instruction.op.overload.empty()) name += "." + std::string(instruction.op.overload);
  return kEtKernel + name;
}

EtEvent event_of(std::string name, uint64_t begin, uint64_t end) {
  EtEvent event;
  event.name = std::move(name);
  event.instruction = 0;
  event.begin = begin;
  event.end = std::max(begin, end);
  return event;
}

}  // namespace

std::string unique_name(std::set<std::string>& taken, const std::string& name) {
  std::string own = name;
  for (size_t i = 2; !taken.insert(own).second; ++i) own = name + " #" + std::to_string(i);
  return own;
}

EtRecorder::EtRecorder(size_t most)
    : memory_(most), ring_({memory_.data(), memory_.size()}, clock_.counter()) {}

void EtRecorder::add(const ProfiledStep& step) {
  if (ring_.count() == 0) return;  // Of an execution that is not recorded.
  with_memory(  // A backend calls this while it executes: a step too many is left out.
      [&] {
        steps_.push_back({ring_.count() - 1, std::string(step.op), step.begin, step.seconds});
      },
      [] {});
}

void EtRecorder::add_loading(uint64_t begin, uint64_t end) {
  EtBlock block;
  block.name = kEtLoading;
  for (const char* name : {kEtInit, kEtLoad}) {
    block.events.push_back(
        event_of(name, clock_.nanoseconds_at(begin), clock_.nanoseconds_at(end)));
  }
  dump_.blocks.push_back(std::move(block));
}

// A step that does not say when it began is put behind the one before it.
void EtRecorder::add_steps(uint64_t number, const EtEvent& call, EtBlock& block) {
  std::set<std::string> taken;
  double after = 0;
  const auto first =
      std::lower_bound(steps_.begin(), steps_.end(), number,
                       [](const Step& step, uint64_t wanted) { return step.number < wanted; });
  for (auto at = first; at != steps_.end() && at->number == number; ++at) {
    const Step& step = *at;
    const double begin = step.begin < 0 ? after : step.begin;
    after = begin + step.seconds;
    EtEvent event = event_of(step.op, call.begin + static_cast<uint64_t>(begin * 1e9),
                             call.begin + static_cast<uint64_t>(after * 1e9));
    event.chain = call.chain;
    event.instruction = call.instruction;
    event.delegate_name = unique_name(taken, step.op);
    block.events.push_back(std::move(event));
  }
}

bool EtRecorder::finish_run(const Method& method, int32_t bundled_input) {
  EtBlock block;
  block.name = kEtRun;
  block.bundled_input = bundled_input;
  const uint64_t lost = ring_.count() - ring_.size();
  for (size_t i = 0; i < ring_.size(); ++i) {
    const TraceRecord& record = ring_[i];
    const Result<InstructionInfo> info = method.instruction(record.chain, record.instruction);
    EtEvent event =
        event_of(info.ok() ? name_of(*info) : std::string(), clock_.nanoseconds_at(record.begin),
                 clock_.nanoseconds_at(record.end));
    event.chain = static_cast<int32_t>(record.chain);
    event.instruction = static_cast<int32_t>(record.instruction);
    event.temp_bytes = record.temp_bytes;
    block.events.push_back(event);
    add_steps(lost + i, event, block);
  }
  const bool any = !block.events.empty();
  if (any) {
    const uint64_t end = clock_.nanoseconds_at(ring_[ring_.size() - 1].end);
    block.events.push_back(event_of(kEtExecute, block.events.front().begin, end));
    dump_.blocks.push_back(std::move(block));
  }
  ring_.clear();
  steps_.clear();
  return any;
}

}  // namespace taper
