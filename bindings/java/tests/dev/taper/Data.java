package dev.taper;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;
import static org.junit.Assert.fail;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The committed models' programs and their tensors, and how two tensors are compared. */
final class Data {
  static final File MODELS = new File(System.getProperty("taper.models"));
  private static final File PROGRAMS = new File(System.getProperty("taper.programs"));
  private static final Pattern HEADER =
      Pattern.compile("'descr': '([^']*)', 'fortran_order': False, 'shape': \\(([^)]*)\\)");

  private Data() {}

  static File program(String name) {
    return new File(PROGRAMS, name);
  }

  static byte[] bytes(File file) throws IOException {
    return Files.readAllBytes(file.toPath());
  }

  static Tensor[] tensors(String name, String kind, int count) throws IOException {
    Tensor[] out = new Tensor[count];
    for (int i = 0; i < count; ++i) {
      out[i] = npy(new File(MODELS, name + "." + kind + i + ".npy"));
    }
    return out;
  }

  private static Tensor npy(File file) throws IOException {
    byte[] bytes = bytes(file);
    ByteBuffer all = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    int length = all.getShort(8);
    String header = new String(bytes, 10, length, StandardCharsets.US_ASCII);
    Matcher found = HEADER.matcher(header);
    if (!found.find()) throw new IOException(file + ": " + header);
    String sizes = found.group(2).replace(" ", "");
    String[] words = sizes.isEmpty() ? new String[0] : sizes.split(",");
    int[] shape = new int[words.length];
    for (int d = 0; d < shape.length; ++d) shape[d] = Integer.parseInt(words[d]);
    all.position(10 + length);
    return Tensor.wrap(all.slice(), dtype(found.group(1)), shape);
  }

  private static DType dtype(String numpy) throws IOException {
    switch (numpy.substring(1)) {
      case "f2": return DType.FLOAT16;
      case "f4": return DType.FLOAT32;
      case "f8": return DType.FLOAT64;
      case "i1": return DType.INT8;
      case "i2": return DType.INT16;
      case "i4": return DType.INT32;
      case "i8": return DType.INT64;
      case "u1": return DType.UINT8;
      case "u2": return DType.UINT16;
      case "u4": return DType.UINT32;
      case "u8": return DType.UINT64;
      case "b1": return DType.BOOL;
      case "c8": return DType.COMPLEX64;
      case "c16": return DType.COMPLEX128;
      case "V2": return DType.BFLOAT16;
      default: throw new IOException("the dtype " + numpy);
    }
  }

  /** Integers and bools must be equal, other numbers within `bound` of the largest one. */
  static void assertClose(String where, Tensor expected, Tensor given, double bound) {
    assertEquals(where, expected.dtype(), given.dtype());
    assertArrayEquals(where, expected.shape(), given.shape());
    double[] wanted = numbers(expected);
    double[] found = numbers(given);
    double largest = 1;
    for (double each : wanted) {
      if (!Double.isNaN(each) && !Double.isInfinite(each)) {
        largest = Math.max(largest, Math.abs(each));
      }
    }
    double allowed = isExact(expected.dtype()) ? 0 : bound * largest;
    for (int i = 0; i < wanted.length; ++i) {
      if (wanted[i] == found[i] || (Double.isNaN(wanted[i]) && Double.isNaN(found[i]))) continue;
      if (!(Math.abs(wanted[i] - found[i]) <= allowed)) {
        fail(where + ", element " + i + ": " + found[i] + ", expected " + wanted[i]);
      }
    }
  }

  private static boolean isExact(DType dtype) {
    return dtype.toString().contains("int") || dtype == DType.BOOL;
  }

  private static double[] numbers(Tensor tensor) {
    ByteBuffer from = tensor.buffer();
    DType dtype = tensor.dtype();
    boolean isComplex = dtype.toString().startsWith("complex");
    double[] out = new double[from.remaining() / dtype.size() * (isComplex ? 2 : 1)];
    for (int i = 0; i < out.length; ++i) out[i] = next(from, dtype);
    assertTrue(!from.hasRemaining());
    return out;
  }

  private static double next(ByteBuffer from, DType dtype) {
    switch (dtype) {
      case FLOAT32:
      case COMPLEX64:
        return from.getFloat();
      case FLOAT64:
      case COMPLEX128:
        return from.getDouble();
      case FLOAT16:
        return half(from.getShort() & 0xffff);
      case BFLOAT16:
        return Float.intBitsToFloat(from.getShort() << 16);
      case BOOL:
      case UINT8:
      case INT8:
        return from.get();
      case INT16:
      case UINT16:
        return from.getShort();
      case INT32:
      case UINT32:
        return from.getInt();
      case INT64:
      case UINT64:
        return from.getLong();
      default:
        throw new IllegalArgumentException("the dtype " + dtype);
    }
  }

  private static double half(int bits) {
    int exponent = bits >> 10 & 31;
    int fraction = bits & 1023;
    double sign = (bits & 0x8000) != 0 ? -1 : 1;
    if (exponent == 31) return fraction != 0 ? Double.NaN : sign * Double.POSITIVE_INFINITY;
    double value = exponent != 0
        ? (1024 + fraction) * Math.pow(2, exponent - 25)
        : fraction * Math.pow(2, -24);
    return sign * value;
  }
}
