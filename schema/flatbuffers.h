// FlatBuffers' headers as the runtime takes them: the limit of 2 GiB as a 32-bit number.
//
// It is the same limit. Written with 64 bits, as it comes, their verifier divides in a way that
// processors of 32 bits have no instruction for, and the function that stands in takes 800 bytes.

#pragma once

#include "flatbuffers/base.h"

#undef FLATBUFFERS_MAX_BUFFER_SIZE
#define FLATBUFFERS_MAX_BUFFER_SIZE 0x7fffffffu

#include "flatbuffers/flatbuffers.h"
