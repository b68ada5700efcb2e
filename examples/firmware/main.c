/* A model that is compiled into the application: no file, no heap, memory of the exact size. */

#include <model.h>
#include <stdio.h>

static float image[64], logits[10];

int main(void) {
  for (int i = 0; i < 64; ++i) image[i] = 1;
  if (model_run(image, logits) != 0) return puts(model_error()), 1;
  for (int i = 0; i < 10; ++i) printf("%.3f ", (double)logits[i]);
  return 0;
}
