// A model file as a document: what `taper view` shows, and `taper compare --html`.

#pragma once

#include <string>

#include "exir/export.h"
#include "tools/view/document.h"

namespace taper::tools {

// Adds the graph of the model of a .pt2 as it was exported.
void add_exported_graph(const exir::ExportRequest& request, ViewDocument& document);

// Adds the same, the graph after each pass, and the program. A model that cannot be compiled is
// shown as far as it gets: the document says why, and false is returned. Throws exir::Failure if
// the model cannot be read.
bool add_compiled_model(exir::ExportRequest request, ViewDocument& document);

// Adds the program of a .pte. Throws InputError.
void add_program_file(const std::string& path, ViewDocument& document);

}  // namespace taper::tools
