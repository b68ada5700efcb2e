// Makes a .npz of .npy files.

#pragma once

#include <map>
#include <string>

#include "exir/writer/zip_writer.h"

namespace taper::test {

// `members` are names, without the suffix, and the bytes of a .npy.
inline std::string npz(const std::map<std::string, std::string>& members) {
  exir::ZipWriter zip;
  for (const auto& [name, bytes] : members) zip.add_text(name + ".npy", bytes);
  return zip.finish().joined();
}

}  // namespace taper::test
