// The CRC-32 of zip archives, fast enough to check every byte of the weights.

#pragma once

#include "exir/frontend/blob.h"

namespace taper::exir {

uint32_t crc32_of(Bytes bytes);

}  // namespace taper::exir
