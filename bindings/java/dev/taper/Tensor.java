package dev.taper;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Elements in row-major order, in a direct buffer. float16 and bfloat16 are the bits of each number,
 * as shorts; bool is one byte of 0 or 1; a complex number is two elements.
 */
public final class Tensor {
  private final DType dtype;
  private final int[] shape;
  private final ByteBuffer data; // From its beginning to its end, in the order of the processor.

  private Tensor(DType dtype, int[] shape, ByteBuffer data) {
    this.dtype = dtype;
    this.shape = shape;
    this.data = data;
  }

  /**
   * Uses the bytes between the buffer's position and its limit where they are if the buffer is
   * direct, and copies them if it is not. Elements have the byte order of the processor. They must
   * not change while a model runs on them.
   */
  public static Tensor wrap(ByteBuffer buffer, DType dtype, int... shape) {
    if (buffer == null || dtype == null || shape == null) {
      throw TaperException.invalid("a tensor needs a buffer, a dtype and a shape, given null");
    }
    int[] sizes = shape.clone();
    long bytes = bytesOf(dtype, sizes);
    if (bytes != buffer.remaining()) {
      throw TaperException.invalid(
          dtype + " " + text(sizes) + " has " + bytes + " bytes, not " + buffer.remaining());
    }
    ByteBuffer data = buffer.isDirect() ? buffer.slice() : copy(buffer);
    return new Tensor(dtype, sizes, data.order(ByteOrder.nativeOrder()));
  }

  /** Zeros. */
  public static Tensor zeros(DType dtype, int... shape) {
    if (dtype == null || shape == null) throw TaperException.invalid("given null");
    long bytes = bytesOf(dtype, shape);
    if (bytes > Integer.MAX_VALUE) {
      throw TaperException.invalid(
          "a buffer cannot hold the " + bytes + " bytes of " + dtype + " " + text(shape));
    }
    return new Tensor(dtype, shape.clone(), direct((int) bytes));
  }

  /** A copy of `elements`, as float32. */
  public static Tensor of(float[] elements, int... shape) {
    Tensor made = room(DType.FLOAT32, elements == null ? -1 : elements.length, shape);
    made.buffer().asFloatBuffer().put(elements);
    return made;
  }

  /** A copy of `elements`, as float64. */
  public static Tensor of(double[] elements, int... shape) {
    Tensor made = room(DType.FLOAT64, elements == null ? -1 : elements.length, shape);
    made.buffer().asDoubleBuffer().put(elements);
    return made;
  }

  /** A copy of `elements`, as int64. */
  public static Tensor of(long[] elements, int... shape) {
    Tensor made = room(DType.INT64, elements == null ? -1 : elements.length, shape);
    made.buffer().asLongBuffer().put(elements);
    return made;
  }

  /** A copy of `elements`, as int32. */
  public static Tensor of(int[] elements, int... shape) {
    Tensor made = room(DType.INT32, elements == null ? -1 : elements.length, shape);
    made.buffer().asIntBuffer().put(elements);
    return made;
  }

  /** A copy of `elements`, as bool. */
  public static Tensor of(boolean[] elements, int... shape) {
    Tensor made = room(DType.BOOL, elements == null ? -1 : elements.length, shape);
    ByteBuffer to = made.buffer();
    for (boolean each : elements) to.put((byte) (each ? 1 : 0));
    return made;
  }

  private static Tensor room(DType dtype, int count, int[] shape) {
    if (count < 0 || shape == null) {
      throw TaperException.invalid("a tensor needs elements and a shape, given null");
    }
    long bytes = bytesOf(dtype, shape);
    if (bytes != (long) count * dtype.size()) {
      throw TaperException.invalid(
          dtype + " " + text(shape) + " has " + bytes / dtype.size() + " elements, not " + count);
    }
    return zeros(dtype, shape);
  }

  public DType dtype() {
    return dtype;
  }

  public int[] shape() {
    return shape.clone();
  }

  /** The elements themselves: another view of the same memory at each call. */
  public ByteBuffer buffer() {
    return data.duplicate().order(ByteOrder.nativeOrder());
  }

  /** A copy of float32 elements; like the others, a TaperException for another dtype. */
  public float[] floats() {
    require(DType.FLOAT32);
    float[] out = new float[data.capacity() / 4];
    buffer().asFloatBuffer().get(out);
    return out;
  }

  /** A copy of float64 elements. */
  public double[] doubles() {
    require(DType.FLOAT64);
    double[] out = new double[data.capacity() / 8];
    buffer().asDoubleBuffer().get(out);
    return out;
  }

  /** A copy of int64 elements. */
  public long[] longs() {
    require(DType.INT64);
    long[] out = new long[data.capacity() / 8];
    buffer().asLongBuffer().get(out);
    return out;
  }

  /** A copy of int32 elements. */
  public int[] ints() {
    require(DType.INT32);
    int[] out = new int[data.capacity() / 4];
    buffer().asIntBuffer().get(out);
    return out;
  }

  private void require(DType wanted) {
    if (dtype != wanted) {
      throw new TaperException("InvalidType", "the elements are " + dtype + ", not " + wanted);
    }
  }

  /** For example "float32 (1, 10)". */
  @Override
  public String toString() {
    return dtype + " " + text(shape);
  }

  // The same tensor with its dims in that order in memory, from the outermost to the innermost.
  Tensor copyInOrder(int[] order) {
    ByteBuffer to = direct(data.capacity());
    move(buffer(), strides(shape, null), to, strides(shape, order), shape, dtype.size());
    return new Tensor(dtype, shape, to);
  }

  // A tensor whose elements lie in that order.
  static Tensor inOrder(ByteBuffer from, DType dtype, int[] shape, int[] order) {
    ByteBuffer to = direct(from.capacity());
    move(from, strides(shape, order), to, strides(shape, null), shape, dtype.size());
    return new Tensor(dtype, shape, to);
  }

  private static int[] strides(int[] shape, int[] order) {
    int[] strides = new int[shape.length];
    int next = 1;
    for (int i = shape.length - 1; i >= 0; --i) {
      int d = order == null ? i : order[i];
      strides[d] = next;
      next *= shape[d];
    }
    return strides;
  }

  private static void move(
      ByteBuffer from, int[] fromStrides, ByteBuffer to, int[] toStrides, int[] shape, int size) {
    int[] at = new int[shape.length];
    for (int done = 0; done < from.capacity(); done += size) {
      int source = 0;
      int target = 0;
      for (int d = 0; d < shape.length; ++d) {
        source += at[d] * fromStrides[d];
        target += at[d] * toStrides[d];
      }
      for (int b = 0; b < size; ++b) to.put(target * size + b, from.get(source * size + b));
      for (int d = shape.length - 1; d >= 0 && ++at[d] == shape[d]; --d) at[d] = 0;
    }
  }

  static String text(int[] shape) {
    return Arrays.toString(shape).replace('[', '(').replace(']', ')');
  }

  static ByteBuffer direct(int bytes) {
    return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
  }

  static ByteBuffer copy(ByteBuffer from) {
    ByteBuffer to = direct(from.remaining());
    to.put(from.duplicate()).flip();
    return to;
  }

  // The size of elements of that shape in bytes.
  private static long bytesOf(DType dtype, int[] shape) {
    long bytes = dtype.size();
    for (int size : shape) {
      if (size < 0) throw TaperException.invalid("a size is negative: " + text(shape));
      // Below 2^31 before and after, so that no product overflows.
      bytes = bytes > Integer.MAX_VALUE && size != 0 ? bytes : bytes * size;
    }
    return bytes;
  }
}
