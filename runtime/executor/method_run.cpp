// Method::execute() for those who do not want to know where its time goes.

#include "runtime/executor/method_loop.h"

namespace taper {

Status Method::execute() {
  internal::NoProbe probe;
  return internal::run_method(*state_, probe);
}

}  // namespace taper
