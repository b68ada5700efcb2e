/* Compiles a program from C, in memory: reads MODEL.pt2, writes MODEL.pte, and prints what the
   compiler says about it. Words after the two names are options of `taper export`. */

#include <stdio.h>
#include <stdlib.h>

#include "taper/compiler.h"

/* The whole file; the caller frees it. Null if it cannot be read. */
static void* read_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) return NULL;
  fseek(file, 0, SEEK_END);
  const long length = ftell(file);
  rewind(file);
  void* data = length > 0 ? malloc((size_t)length) : NULL;
  *size = data == NULL ? 0 : fread(data, 1, (size_t)length, file);
  fclose(file);
  return data;
}

static int write_file(const char* path, const void* data, size_t size) {
  FILE* file = fopen(path, "wb");
  if (file == NULL) return 0;
  const size_t written = fwrite(data, 1, size, file);
  return fclose(file) == 0 && written == size;
}

int main(int argc, char** argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: c_compile MODEL.pt2 MODEL.pte [OPTIONS]\n");
    return 2;
  }
  size_t size = 0;
  void* const model = read_file(argv[1], &size);
  if (model == NULL) {
    fprintf(stderr, "c_compile: %s cannot be read\n", argv[1]);
    return 1;
  }
  const taper_source source = {"forward", model, size};
  taper_error error;
  taper_compilation* made = NULL;
  const taper_code code = taper_compile((const char* const*)argv + 3, (size_t)argc - 3, &source, 1,
                                        &made, &error);
  free(model);
  printf("%s\n", taper_compilation_report(made));
  int status = 0;
  if (code != TAPER_OK) {
    fprintf(stderr, "c_compile: %s\n", error.message);
    status = 1;
  } else {
    const void* const program = taper_compiled_program(made, &size);
    if (!write_file(argv[2], program, size)) {
      fprintf(stderr, "c_compile: %s cannot be written\n", argv[2]);
      status = 1;
    }
  }
  taper_free_compilation(made);
  return status;
}
