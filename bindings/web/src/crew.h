// The threads of a module with shared memory. Each is a worker with an instance of the same module
// on the same memory, which calls web_serve() and stays there until the worker is ended (crew.js).
// A module serves one model, so it has one crew.

#pragma once

#include <stddef.h>

#include "taper/taper.h"

// What taper_options::parallel_for is: the calling thread does its part of the work.
void crew_run(void* context, size_t count, taper_task task, void* data);
