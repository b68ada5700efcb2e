// Reads .npz files; see npy.h. Apart from npy.cpp, which programs without the compiler link.

#include "exir/frontend/mapped_file.h"
#include "exir/frontend/zip_archive.h"
#include "tools/error.h"
#include "tools/npy.h"

namespace taper::tools {

std::vector<NamedArray> read_npz(const std::string& path, const std::string& what) {
  std::vector<NamedArray> arrays;
  try {
    const exir::Blob file = exir::map_file(path);
    exir::Budget budget(file.bytes.size());
    const exir::ZipArchive archive(file, budget);
    for (const exir::ZipMember& member : archive.members()) {
      std::string stem(member.name);
      const std::string name = path + ":" + stem;
      if (stem.ends_with(".npy")) stem.resize(stem.size() - 4);
      arrays.push_back({name, parse_npy(archive.read(member).text(), name), std::move(stem)});
    }
  } catch (const exir::Failure& failure) {
    throw InputError(what + " '" + path + "': " + failure.what());
  }
  return arrays;
}

}  // namespace taper::tools
