// FlatBuffers' headers, with their size limit of 2 GiB as a 32-bit number.
//
// The limit itself is the same. As the 64-bit number that it is by default, it makes their verifier
// divide 64-bit numbers; 32-bit processors have no instruction for that, and the library function
// that replaces it takes 800 bytes.

#pragma once

#include "flatbuffers/base.h"

#undef FLATBUFFERS_MAX_BUFFER_SIZE
#define FLATBUFFERS_MAX_BUFFER_SIZE 0x7fffffffu

#include "flatbuffers/flatbuffers.h"
