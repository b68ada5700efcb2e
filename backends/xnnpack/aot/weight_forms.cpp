// Chooses the smallest form; see weight_forms.h.

#include "backends/xnnpack/aot/weight_forms.h"

#include <algorithm>
#include <cmath>

#include "exir/ir/scales.h"

namespace taper::xnnpack {
namespace {

using exir::Scales;
using wire::DataType;

constexpr int64_t kLeastGroup = 32;  // XNNPACK requires multiples of it.

// Scales of groups are rounded to 16 bits, which may not make them infinite.
bool is_usable(float scale) { return std::isnormal(scale) && scale > 0 && scale < 1e38f; }

}  // namespace

std::optional<WeightForm> form_of(const Scales& scales, const Dims& dims, bool by_rows) {
  if (!exir::is_symmetric(scales) || dims.size() != 2) return std::nullopt;
  if (!std::all_of(scales.items.begin(), scales.items.end(), is_usable)) return std::nullopt;
  const int64_t columns = dims[1].as_int();
  const int64_t group = exir::group_of(scales, exir::TensorType(ScalarType::kFloat, dims));
  if (group == 0) return std::nullopt;
  const bool has_half_bytes = scales.bits <= 4 && columns % 2 == 0;
  if (group == columns) return has_half_bytes ? WeightForm::kHalfBytes : WeightForm::kBytes;
  const bool has_groups = has_half_bytes && by_rows && group % kLeastGroup == 0;
  return has_groups ? std::optional(WeightForm::kHalfByteGroups) : std::nullopt;
}

Id add_weights(NodeList& list, const Scales& scales, const Dims& dims, WeightForm form) {
  const int64_t rows = dims[0].as_int(), columns = dims[1].as_int();
  const int64_t bits = form == WeightForm::kBytes ? 8 : 4;
  const Id made = list.add_constant(
      dims, exir::packed_rows(scales, rows, columns, bits, exir::NibbleOrder::kLowFirst));
  Quantization& how = list.values[made].quantization;
  how.type = form == WeightForm::kBytes       ? DataType::QCINT8
             : form == WeightForm::kHalfBytes ? DataType::QCINT4
                                              : DataType::QBINT4;
  how.scales = scales.items;
  if (scales.items.size() == 1) how.scales.resize(static_cast<size_t>(rows), scales.items[0]);
  if (form == WeightForm::kHalfByteGroups) how.group = static_cast<int32_t>(scales.span);
  return made;
}

}  // namespace taper::xnnpack
