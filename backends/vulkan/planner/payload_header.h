// The header before the flatbuffer of a payload.
//
//     0  4   nothing (room for a flatbuffer's root offset)
//     4  4   "VH00"
//     8  2   the length of the header, at least 30
//    10  4   the offset of the flatbuffer      14  4   its length
//    18  4   the offset of the constants       22  8   their length; 0: up to the end
//
// All numbers are little-endian, all offsets are from the start of the header.

#pragma once

#include <cstddef>

namespace taper::vulkan {

inline constexpr char kMagic[] = "VH00";
inline constexpr size_t kHeaderBytes = 30;
inline constexpr size_t kPaddedHeaderBytes = 32;  // As it is written.

}  // namespace taper::vulkan
