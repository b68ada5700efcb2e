/* Runs a program from C: opens it, prints its inputs and outputs, runs it on tensors of ones. With
   "fast" it uses the kernels for this processor, and the backends that are named after that, or all
   backends of the library if none is named. With "--record FILE" it prints how long each
   instruction took, and writes FILE for ExecuTorch's Inspector and `taper profile`. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "taper/taper.h"

static int fail(const taper_error* error) {
  fprintf(stderr, "c_api: %s: %s (%s)\n", error->site, error->message,
          taper_code_name(error->code));
  return 1;
}

static void print_info(const char* what, size_t index, const taper_value_info* info) {
  printf("%s %zu %s (", what, index, taper_dtype_name(info->dtype));
  for (int d = 0; d < info->rank; ++d) printf("%s%d", d > 0 ? ", " : "", (int)info->sizes[d]);
  printf(")\n");
}

/* Sets input `index` to ones of its largest size, if it is a tensor of floats. */
static taper_code set_ones(taper_model model, size_t index, taper_error* error) {
  taper_value_info info;
  taper_code code = taper_describe_input(model, "forward", index, &info, error);
  if (code != TAPER_OK || info.kind != TAPER_TENSOR) return code;
  print_info("input", index, &info);
  taper_value value = {0};
  value.kind = TAPER_TENSOR;
  value.dtype = info.dtype;
  value.rank = info.rank;
  for (int d = 0; d < info.rank; ++d) value.sizes[d] = info.sizes[d];
  value.bytes = (size_t)info.bytes;
  float* ones = malloc(value.bytes + sizeof(float));
  for (size_t i = 0; i < value.bytes / sizeof(float); ++i) ones[i] = 1;
  value.data = ones;
  code = taper_set_input(model, "forward", index, &value, error);
  free(ones); /* Inputs are copied. */
  return code;
}

static taper_code print_output(taper_model model, size_t index, taper_error* error) {
  taper_value_info info;
  taper_code code = taper_describe_output(model, "forward", index, &info, error);
  if (code != TAPER_OK) return code;
  print_info("output", index, &info);
  taper_value value;
  code = taper_get_output(model, "forward", index, &value, error);
  if (code != TAPER_OK || value.kind != TAPER_TENSOR || value.dtype != TAPER_FLOAT32) return code;
  const float* data = value.data;
  for (size_t i = 0; i < value.bytes / sizeof(float); ++i) printf(" %g", (double)data[i]);
  printf("\n");
  return TAPER_OK;
}

#ifndef PORTABLE_ONLY /* Linked statically with nothing else, there are no others. */
#define MOST_BACKENDS 8
static const taper_backend* backends[MOST_BACKENDS];

/* Finds the backends with these names, or all that the library has. Those that are traced tell
   recordings what happens within their delegates. */
static taper_code find_backends(char** names, size_t count, int traced, taper_options* options,
                                taper_error* error) {
  const size_t wanted = count > 0 ? count : taper_backend_count();
  options->backends = backends;
  for (size_t i = 0; i < wanted && i < MOST_BACKENDS; ++i) {
    const char* name = count > 0 ? names[i] : taper_backend_name(i);
    backends[i] = traced ? taper_find_traced_backend(name, error) : taper_find_backend(name, error);
    if (backends[i] == NULL) return error->code;
    options->backend_count = i + 1;
  }
  return TAPER_OK;
}

static void print_event(void* context, const taper_event* event) {
  (void)context;
  fprintf(stderr, "%s%d  %s  %llu ns\n", event->step < 0 ? "" : "  ",
          (int)(event->step < 0 ? event->instruction : event->step), event->name,
          (unsigned long long)(event->end_ns - event->begin_ns));
}

/* Runs the model, and writes what it did to a file. */
static taper_code run_recorded(taper_model model, const char* path, taper_error* error) {
  taper_recording* recording = taper_start_recording(print_event, NULL);
  const void* data = NULL;
  size_t size = 0;
  taper_code code = taper_run_recorded(model, "forward", recording, error);
  if (code == TAPER_OK) code = taper_recorded_file(recording, &data, &size, error);
  if (code == TAPER_OK) {
    FILE* file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size) fprintf(stderr, "cannot write\n");
    if (file != NULL) fclose(file);
  }
  taper_end_recording(recording);
  return code;
}
#endif

int main(int argc, char** argv) {
#ifndef PORTABLE_ONLY
  const char* record = NULL;
  if (argc > 2 && strcmp(argv[1], "--record") == 0) {
    record = argv[2];
    argc -= 2;
    argv += 2;
  }
#endif
  if (argc < 2) {
    fprintf(stderr, "usage: c_api [--record FILE] MODEL.pte [fast [BACKEND...]]\n");
    return 2;
  }
  taper_options options = {0};
  options.struct_size = sizeof(options);
  options.kernels = taper_portable_kernels();
  taper_model model;
  taper_error error;
#ifndef PORTABLE_ONLY
  if (argc > 2) {
    options.kernels = taper_fast_kernels();
    if (find_backends(argv + 3, (size_t)argc - 3, record != NULL, &options, &error) != TAPER_OK)
      return fail(&error);
  }
#endif
  if (taper_open_path(argv[1], &options, &model, &error) != TAPER_OK) return fail(&error);
  taper_method_info method;
  taper_code code = taper_describe_method(model, "forward", &method, &error);
  for (size_t i = 0; code == TAPER_OK && i < method.inputs; ++i) code = set_ones(model, i, &error);
#ifndef PORTABLE_ONLY
  if (code == TAPER_OK && record != NULL) {
    code = run_recorded(model, record, &error);
  } else
#endif
      if (code == TAPER_OK) {
    code = taper_run(model, "forward", &error);
  }
  for (size_t i = 0; code == TAPER_OK && i < method.outputs; ++i) {
    code = print_output(model, i, &error);
  }
  taper_close(model);
  return code == TAPER_OK ? 0 : fail(&error);
}
