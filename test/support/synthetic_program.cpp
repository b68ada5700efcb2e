// Writes the synthetic program with the FlatBuffers builder.

#include "test/support/synthetic_program.h"

#include "schema/program_generated.h"

namespace taper::test {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

template <typename T>
Offset<wire::EValue> slot(FlatBufferBuilder& b, wire::KernelTypes type, Offset<T> value) {
  return wire::CreateEValue(b, type, value.Union());
}

// A tensor that is planned at `offset` of arena 1, or not planned if `offset` is negative.
Offset<wire::EValue> tensor(FlatBufferBuilder& b, int32_t elements, int64_t offset) {
  const auto sizes = b.CreateVector(std::vector<int32_t>{elements});
  const auto order = b.CreateVector(std::vector<uint8_t>{0});
  Offset<wire::AllocationDetails> where;
  if (offset >= 0) {
    where = wire::CreateAllocationDetails(b, 1, static_cast<uint32_t>(offset), 0);
  }
  return slot(b, wire::KernelTypes::Tensor,
              wire::CreateTensor(b, wire::ScalarType::FLOAT, 0, sizes, order, false, 0, where));
}

Offset<wire::Instruction> call(FlatBufferBuilder& b, const std::vector<int32_t>& args) {
  const auto kernel_call = wire::CreateKernelCall(b, 0, b.CreateVector(args));
  return wire::CreateInstruction(b, wire::InstructionArguments::KernelCall, kernel_call.Union());
}

}  // namespace

std::vector<uint8_t> chain_of_adds(int calls, int32_t elements) {
  FlatBufferBuilder b;
  const int64_t bytes = (int64_t{elements} * 4 + 63) / 64 * 64;
  // Slots: 0 the input, 1 alpha, 2 and 3 the planned tensors.
  const auto values = b.CreateVector(std::vector<Offset<wire::EValue>>{
      tensor(b, elements, -1), slot(b, wire::KernelTypes::Int, wire::CreateInt(b, 1)),
      tensor(b, elements, 0), tensor(b, elements, bytes)});
  std::vector<Offset<wire::Instruction>> instructions;
  for (int i = 0; i < calls; ++i) {
    const int32_t from = i == 0 ? 0 : 3 - i % 2, to = 2 + i % 2;
    instructions.push_back(call(b, {from, 0, 1, to, to}));
  }
  const auto none = b.CreateVector(std::vector<int32_t>{});
  const auto chain = wire::CreateChain(b, none, none, b.CreateVector(instructions));
  const auto op = wire::CreateOperator(b, b.CreateString("aten::add"), b.CreateString("out"));
  const auto plan = wire::CreateExecutionPlan(
      b, b.CreateString("forward"), 0, values, b.CreateVector(std::vector<int32_t>{0}),
      b.CreateVector(std::vector<int32_t>{2 + (calls - 1) % 2}), b.CreateVector(&chain, 1),
      b.CreateVector(&op, 1), 0, b.CreateVector(std::vector<int64_t>{0, 2 * bytes}));
  const auto program = wire::CreateProgram(b, 0, b.CreateVector(&plan, 1));
  wire::FinishProgramBuffer(b, program);
  return {b.GetBufferPointer(), b.GetBufferPointer() + b.GetSize()};
}

}  // namespace taper::test
