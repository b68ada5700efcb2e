// One planned method as the tables of an ExecutionPlan.
//
// The order of arguments is the format's: schema arguments, then out arguments, then what the
// operator returns (the same slots again). Numbers, strings and lists are interned: one slot per
// different literal of the method.

#pragma once

#include <span>
#include <string>

#include "exir/emit/constant_pool.h"
#include "exir/memory/plan.h"
#include "exir/memory/schedule.h"
#include "exir/memory/storage.h"
#include "schema/program_generated.h"

namespace taper::exir {

// A method ready to be written.
struct PlannedMethod {
  std::string name;
  std::string signature;  // signature_text() of the inputs as exported.
  const Graph* graph = nullptr;
  Schedule schedule;
  Storages storages;
  MemoryPlan plan;
};

// Where the bytes that methods refer to are collected; shared by all methods of a file.
struct Pools {
  ConstantPool constants;
  ConstantPool mutable_data;
  ExternalWeights external;
  NamedPool named;                                 // What delegates ask for.
  std::vector<std::span<const uint8_t>> payloads;  // Of delegates; owned by the graphs.
  bool weights_outside = false;                    // Constants go into `external`.
};

flatbuffers::Offset<wire::ExecutionPlan> emit_method(const PlannedMethod& method, Pools& pools,
                                                     flatbuffers::FlatBufferBuilder& builder);

}  // namespace taper::exir
