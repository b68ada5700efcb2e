// The order of elements, as integers: NaN is the largest, the two zeros are equal.

const int kNanKey = 0x7fffffff;

int key_of(uint word, bool is_float) {
  int key = int(word);
  if (!is_float) return key;
  if (is_nan(uintBitsToFloat(word))) return kNanKey;
  if ((word & 0x7fffffffu) == 0u) return 0;
  return key < 0 ? int(0x80000000u) - key : key;  // Larger magnitudes are smaller.
}
