#include "backends/vulkan/planner/operators.h"
namespace taper::vulkan {
const Span<const Operator> kPoolOperators = {};
const Span<const Operator> kIndexOperators = {};
}  // namespace taper::vulkan
