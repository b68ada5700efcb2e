// The graphs of a document as the JSON that Google's Model Explorer opens.

#pragma once

#include <string>

#include "tools/view/document.h"

namespace taper::tools {

// A collection of graphs: one for each step. Modules and delegates are its namespaces.
std::string model_explorer_json(const ViewDocument& document);

}  // namespace taper::tools
