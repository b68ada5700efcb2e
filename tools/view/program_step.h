// The methods of a .pte as steps of what `taper view` shows, with the places of their tensors in
// memory. Delegates are opened: they show the nodes that they were compiled from, if the program
// says which (exir/emit/debug_info.h).

#pragma once

#include "taper/program.h"
#include "tools/view/delegate_inside.h"
#include "tools/view/document.h"

namespace taper::tools {

// Adds a step and the memory of each method. `notes` says something about calls of those names,
// such as why no backend took them. Throws exir::Failure if what the program says of its origin is
// damaged, and InputError if it is too large for a page.
void add_program(const Program& program, const std::map<std::string, std::string>& notes,
                 const DelegateInside& inside, ViewDocument& document);

}  // namespace taper::tools
