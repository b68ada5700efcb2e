package dev.taper;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * The functions of src/jni.cpp, which call those of the same names in taper/taper.h. Texts are bytes
 * in UTF-8, those that go in end with a zero. Errors are TaperExceptions.
 */
final class Native {
  // What describe() and output() write of a value.
  static final int KIND = 0;
  static final int DTYPE = 1;
  static final int RANK = 2;
  static final int BYTES = 3;
  static final int NUMBER = 4; // An integer, the bits of a double, or whether sizes may change.
  static final int SIZES = 5;
  static final int DIM_ORDER = 21;
  static final int VALUE_LENGTH = 37;

  static final int TENSOR = 1;
  static final int STRING = 2;
  static final int DOUBLE = 3;
  static final int INT = 4;
  static final int BOOL = 5;

  static {
    Libraries.load();
  }

  private Native() {}

  // `path` or `program`, which is a direct buffer and is copied, is null; so may be `data` and
  // `publicKey`.
  static native long open(
      byte[] path,
      ByteBuffer program,
      byte[] data,
      byte[][] backends,
      int threads,
      long maxMemory,
      byte[] publicKey);

  static native void close(long model);

  static native byte[][] methods(long model);

  // Null if there is nothing of that name.
  static native byte[] namedData(long model, byte[] name);

  static native void load(long model, byte[] method);

  // The number of inputs, that of outputs, the bytes of the block and of planned buffers.
  static native long[] count(long model, byte[] method);

  static native void describe(
      long model, byte[] method, boolean isOutput, int index, long[] info);

  // `data` is a direct buffer, used from its beginning to its end. A copy is made if the library may
  // not use it where it is.
  static native void setInput(
      long model,
      byte[] method,
      int index,
      ByteBuffer data,
      int dtype,
      int[] sizes,
      boolean copy);

  static native void bindOutput(long model, byte[] method, int index, ByteBuffer data);

  static native void run(long model, byte[] method);

  static native void output(long model, byte[] method, int index, long[] info);

  // The elements of an output of the last run, or the bytes of a text.
  static native void copyOutput(long model, byte[] method, int index, ByteBuffer to);

  static native void reset(long model);

  static native byte[][] backends();

  static native byte[] version();

  /** A text for the library. */
  static byte[] text(String what, String text) {
    if (text == null) throw TaperException.invalid(what + " is null");
    if (text.indexOf('\0') >= 0) throw TaperException.invalid(what + " contains a zero");
    return (text + '\0').getBytes(StandardCharsets.UTF_8);
  }

  static String string(byte[] text) {
    return new String(text, StandardCharsets.UTF_8);
  }
}
