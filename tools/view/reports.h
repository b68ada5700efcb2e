// Reports of other commands on the model that is shown: times and errors of its nodes.

#pragma once

#include <string>

#include "tools/view/document.h"

namespace taper::tools {

// Reads what `taper profile --json` and `taper compare --json` print, and adds it to the document,
// whose steps are complete. Throws InputError if the file is not such a report, or is one of
// another model.
void add_profile(const std::string& path, ViewDocument& document);
void add_comparison(const std::string& path, ViewDocument& document);

}  // namespace taper::tools
