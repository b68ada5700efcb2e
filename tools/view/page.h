// The page that `taper view` writes: one HTML file with everything in it, which asks no server.

#pragma once

#include <span>
#include <string>
#include <string_view>

namespace taper::tools {

// A file of page/.
struct PageFile {
  std::string_view name, text;
};
std::span<const PageFile> page_files();

// The page with a document (ViewDocument::json()) in it. Its texts may hold anything: they become
// neither markup nor code.
std::string view_page(std::string_view title, std::string_view document);

}  // namespace taper::tools
