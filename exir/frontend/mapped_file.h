// A whole file as read-only memory. Pages are read when they are touched, so weights that nobody
// looks at cost nothing.

#pragma once

#include <string>

#include "exir/frontend/blob.h"

namespace taper::exir {

// Maps `path`. The owner of the blob keeps the mapping; a file that is cut while it is mapped is
// not guarded against. Throws Failure if it is no readable, non-empty regular file.
Blob map_file(const std::string& path);

}  // namespace taper::exir
