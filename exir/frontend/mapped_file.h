// Maps a whole file as read-only memory. Pages are read when they are touched, so unused weights
// cost nothing.

#pragma once

#include <string>

#include "exir/frontend/blob.h"

namespace taper::exir {

// Maps `path`; the owner of the blob keeps the mapping. Truncating the file while it is mapped is
// not guarded against. Throws Failure if it is not a readable, non-empty regular file.
Blob map_file(const std::string& path);

}  // namespace taper::exir
