// What Swift sees of Taper: the C API.

#pragma once

#include "taper/taper.h"
