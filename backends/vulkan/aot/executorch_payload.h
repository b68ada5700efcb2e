// Payloads for ExecuTorch's runtime, which has a fixed set of operators and wants to be told how
// each tensor is stored.
//
//     before   %c = aten.relu(%x)                 after   %c = aten.relu(%x)          buffer
//              %d = aten.convolution(%c, %w, ...)         %e = aten.clone(%c)         texture
//                                                         %d = aten.convolution(%e, %w, ...)
//
// Tensors stay as they are stored as long as operators take them so; where one does not, a clone
// stands between. Constants that an operator does not store itself are stored by et_vk.prepack.
// int64 becomes int32, which is all that that runtime has.

#pragma once

#include <span>
#include <string>

#include "exir/delegate/backend_compiler.h"

namespace taper::vulkan {

// Rewrites a payload of PayloadWriter's. Throws Failure naming a call that ExecuTorch's runtime
// does not have.
void make_executorch_payload(exir::Delegate& delegate);

// What is wrong with a payload for ExecuTorch's runtime; empty if nothing is. The payload must be
// one that PayloadGraph reads.
std::string executorch_problem(std::span<const uint8_t> payload);

// Which of its calls cannot have sizes that depend on inputs; empty if all can.
std::string executorch_resize_problem(std::span<const uint8_t> payload);

}  // namespace taper::vulkan
