// Writes one planned method as the tables of an ExecutionPlan.
//
// Arguments have the order of the format: schema arguments, then out arguments, then the returned
// values (the same slots again). Numbers, strings and lists are interned: one slot per distinct
// literal of the method.

#pragma once

#include <map>
#include <span>
#include <string>

#include "exir/delegate/backend_compiler.h"
#include "exir/emit/constant_pool.h"
#include "exir/emit/debug_info.h"
#include "exir/memory/plan.h"
#include "exir/memory/schedule.h"
#include "exir/memory/storage.h"
#include "schema/program_generated.h"

namespace taper::exir {

// A method that is ready to be written.
struct PlannedMethod {
  std::string name;
  std::string signature;  // signature_text() of the graph as exported.
  const Graph* graph = nullptr;
  Schedule schedule;
  Storages storages;
  MemoryPlan plan;
  std::map<std::string, std::vector<OwnedCompileSpec>> specs;  // Of delegates, by their id.
};

// Collects the bytes that methods refer to; shared by all methods of a file.
struct Pools {
  ConstantPool constants;
  ConstantPool mutable_data;
  ExternalWeights external;
  NamedPool named;                                 // Named data that delegates ask for.
  std::vector<std::span<const uint8_t>> payloads;  // Payloads of delegates; owned by the graphs.
  bool weights_outside = false;                    // Constants go into `external`.
};

// `debug` becomes where its instructions come from.
flatbuffers::Offset<wire::ExecutionPlan> emit_method(const PlannedMethod& method, Pools& pools,
                                                     flatbuffers::FlatBufferBuilder& builder,
                                                     DebugInfo& debug);

}  // namespace taper::exir
