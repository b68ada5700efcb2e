// The way back: a graph that was imported from a .pt2 and changed is written as a .pt2 again.
//
// The program's text is copied; only what the graph says differently is written anew:
//
//   nodes      those that the graph no longer has are left out, new ones are written before the node
//              that they precede; of the others only the tensors that they take and their operator
//   weights    those that nothing uses are left out, new ones are added as buffers
//   outputs    the names of their values
//
// The graph must still mirror the file: functional rewrites of single nodes, no other dialect. The
// archive is in the form of PyTorch 2.9 and later, whatever the original's.

#pragma once

#include <string>
#include <string_view>

#include "exir/emit/program_file.h"
#include "exir/ir/graph.h"

namespace taper::exir {

// A file, and what its pieces point into beside the graph.
struct Pt2File {
  FilePieces pieces;
  std::shared_ptr<const void> owner;
};

// `path` and `model` are those that `graph`, which must outlive the result, was imported from.
// Throws Failure.
Pt2File write_pt2(const std::string& path, std::string_view model, const Graph& graph);

}  // namespace taper::exir
