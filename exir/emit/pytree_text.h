// The nesting of inputs and outputs, in the short text form that a program file carries.
//
//   T2#1#1($,$)        a tuple of two leaves; each child's number of leaves follows a '#'
//   D2#1#2("a":$,"b":L2#1#1($,$))

#pragma once

#include <string>

namespace taper::exir {

// Converts the exporter's JSON ([1, {"type": ..., "context": ..., "children_spec": [...]}]). Empty
// if the JSON is empty or contains a container for which the short form has no letter.
std::string pytree_text(const std::string& json);

}  // namespace taper::exir
