// What taper quantize says of its result: as text, as JSON, as a page of HTML.

#pragma once

#include <string>

#include "exir/quantize/report.h"

namespace taper::tools {

struct QuantizedFile {
  std::string from, to;
  size_t bytes_before = 0, bytes_after = 0;
};

// Layers are sorted by sensitivity where it was measured, else in execution order.
std::string report_text(const exir::QuantizeReport& report, const QuantizedFile& file);
std::string report_json(const exir::QuantizeReport& report, const QuantizedFile& file);
std::string report_html(const exir::QuantizeReport& report, const QuantizedFile& file);

}  // namespace taper::tools
