package dev.taper;

/** The type of a tensor's elements; the numbers are PyTorch's. */
public enum DType {
  UINT8(0, 1),
  INT8(1, 1),
  INT16(2, 2),
  INT32(3, 4),
  INT64(4, 8),
  FLOAT16(5, 2),
  FLOAT32(6, 4),
  FLOAT64(7, 8),
  COMPLEX32(8, 4),
  COMPLEX64(9, 8),
  COMPLEX128(10, 16),
  BOOL(11, 1),
  BFLOAT16(15, 2),
  UINT16(27, 2),
  UINT32(28, 4),
  UINT64(29, 8);

  final int number;
  private final int size;

  DType(int number, int size) {
    this.number = number;
    this.size = size;
  }

  /** The size of an element in bytes. */
  public int size() {
    return size;
  }

  /** PyTorch's name, such as "float32". */
  @Override
  public String toString() {
    return name().toLowerCase(java.util.Locale.ROOT);
  }

  static DType of(int number) {
    for (DType each : values()) {
      if (each.number == number) return each;
    }
    throw new TaperException("NotSupported", "unknown dtype " + number);
  }
}
