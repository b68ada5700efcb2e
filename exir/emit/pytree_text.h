// How inputs and outputs nest, in the short text that a program file carries.
//
//   T2#1#1($,$)        a tuple of two leaves; each child's number of leaves follows a '#'
//   D2#1#2("a":$,"b":L2#1#1($,$))

#pragma once

#include <string>

namespace taper::exir {

// From the exporter's JSON ([1, {"type": ..., "context": ..., "children_spec": [...]}]). Empty if
// the text is empty or uses a container that the short form has no letter for.
std::string pytree_text(const std::string& json);

}  // namespace taper::exir
