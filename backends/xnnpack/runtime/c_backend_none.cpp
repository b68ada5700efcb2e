// taper_xnnpack_backends() of a libtaper.so without XNNPACK: it has none, and says so.

#include "taper/taper.h"

extern "C" const taper_backends* taper_xnnpack_backends(void) { return nullptr; }
