// Module::execute() for those who want to know where its time goes; linked only where it is used.

#include "taper/event_tracer.h"
#include "taper/module.h"

namespace taper {

Result<std::vector<EValue>> Module::execute(std::string_view name, Span<const EValue> inputs,
                                            EventTracer& tracer) {
  const auto run = [](Method& method, void* context) {
    return method.execute(*static_cast<EventTracer*>(context));
  };
  std::vector<EValue> outputs;
  TAPER_TRY(execute_by(name, inputs, run, &tracer, &outputs));
  return outputs;
}

}  // namespace taper
