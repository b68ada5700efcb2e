package dev.taper;

import java.util.Arrays;

/** What a method takes or returns. */
public final class ValueInfo {
  private final int index;
  private final String name;
  private final DType dtype;
  private final int[] maxShape;
  private final int[] dimOrder;
  private final boolean isDynamic;
  private final long bytes;

  ValueInfo(int index, String name, long[] info) {
    this.index = index;
    this.name = name;
    dtype = isTensor(info) ? DType.of((int) info[Native.DTYPE]) : null;
    int rank = isTensor(info) ? (int) info[Native.RANK] : 0;
    maxShape = new int[rank];
    dimOrder = new int[rank];
    for (int d = 0; d < rank; ++d) {
      maxShape[d] = (int) info[Native.SIZES + d];
      dimOrder[d] = (int) info[Native.DIM_ORDER + d];
    }
    isDynamic = isTensor(info) && info[Native.NUMBER] != 0;
    bytes = isTensor(info) ? info[Native.BYTES] : 0;
  }

  private static boolean isTensor(long[] info) {
    return info[Native.KIND] == Native.TENSOR;
  }

  /** Its number among all inputs or outputs of the method. */
  public int index() {
    return index;
  }

  /** The name of the input where the program keeps it; else "input0", "output0". */
  public String name() {
    return name;
  }

  /** Null for an output that is not a tensor. */
  public DType dtype() {
    return dtype;
  }

  /** The sizes; if it is dynamic, the largest ones. */
  public int[] maxShape() {
    return maxShape.clone();
  }

  /** Whether sizes may differ between runs. */
  public boolean isDynamic() {
    return isDynamic;
  }

  /** The size in memory, at the largest sizes. */
  public long bytes() {
    return bytes;
  }

  // Whether the program lays it out as Tensor does.
  boolean isRowMajor() {
    for (int d = 0; d < dimOrder.length; ++d) {
      if (dimOrder[d] != d) return false;
    }
    return true;
  }

  int[] dimOrder() {
    return dimOrder;
  }

  /** For example "float32 (1, 3, 224, 224)", or "up to (1, 16)" behind the dtype. */
  @Override
  public String toString() {
    if (dtype == null) return name;
    String sizes = Arrays.toString(maxShape).replace('[', '(').replace(']', ')');
    return name + ": " + dtype + (isDynamic ? " up to " : " ") + sizes;
  }
}
