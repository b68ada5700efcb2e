// What the JavaScript half calls beside taper/taper.h: web_open() opens a program with the kernels
// of this module and, if `weights` is not null, the weights of a .ptd. It runs on `threads`
// threads; more than one need shared memory. Here the layout of the structs that model.js reads and
// writes is held against the header.

#include <stddef.h>

#include "bindings/web/src/crew.h"
#include "taper/taper.h"

static_assert(sizeof(taper_error) == 640 && offsetof(taper_error, message) == 4);
static_assert(sizeof(taper_method_info) == 24 && offsetof(taper_method_info, outputs) == 4);
static_assert(sizeof(taper_value_info) == 104 && offsetof(taper_value_info, dtype) == 4 &&
              offsetof(taper_value_info, rank) == 8 && offsetof(taper_value_info, dynamic) == 12 &&
              offsetof(taper_value_info, sizes) == 16 && offsetof(taper_value_info, bytes) == 96);
static_assert(sizeof(taper_value) == 104 && offsetof(taper_value, dtype) == 4 &&
              offsetof(taper_value, rank) == 8 && offsetof(taper_value, sizes) == 12 &&
              offsetof(taper_value, data) == 76 && offsetof(taper_value, bytes) == 80 &&
              offsetof(taper_value, integer) == 88 && offsetof(taper_value, number) == 96);

extern "C" taper_code web_open(const void* program, size_t size, const void* weights,
                               size_t weights_size, uint32_t threads, taper_model* model,
                               taper_error* error) {
  taper_options options = {};
  options.struct_size = sizeof(options);
#if TAPER_WEB_SELECTED
  options.kernels = taper_selected_kernels();
#else
  options.kernels = taper_fast_kernels();
#endif
  options.data = weights;
  options.data_size = weights_size;
  options.parallel_for = crew_run;
  options.threads = threads;
  return taper_open_memory(program, size, &options, model, error);
}
