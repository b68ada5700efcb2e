package dev.taper;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A method of a model. Runs of a model come one after another, whichever threads ask for them. */
public final class Method {
  // What the program says of its inputs: lines such as "input 0 x (s17, 6)".
  private static final Pattern INPUT =
      Pattern.compile("^input (\\d{1,9}) (\\S+) \\(", Pattern.MULTILINE);

  private final Model model;
  private final String name;
  private final byte[] text;
  private final List<ValueInfo> inputs = new ArrayList<>();
  private final List<ValueInfo> outputs = new ArrayList<>();
  private final long memory;
  // What the library uses where it is, which must not be collected before it.
  private final Tensor[] given;
  private final ByteBuffer[] bound;

  Method(Model model, String name) {
    this.model = model;
    this.name = name;
    text = Native.text("the name of a method", name);
    long[] count = Native.count(model.handle(), text);
    Map<Integer, String> names = inputNames();
    long[] info = new long[Native.VALUE_LENGTH];
    for (int i = 0; i < count[0]; ++i) {
      Native.describe(model.handle(), text, false, i, info);
      // Other inputs than tensors have values that export fixed.
      if (info[Native.KIND] != Native.TENSOR) continue;
      inputs.add(new ValueInfo(i, names.containsKey(i) ? names.get(i) : "input" + i, info));
    }
    for (int i = 0; i < count[1]; ++i) {
      Native.describe(model.handle(), text, true, i, info);
      outputs.add(new ValueInfo(i, "output" + i, info));
    }
    memory = count[2] + count[3];
    given = new Tensor[inputs.size()];
    bound = new ByteBuffer[outputs.size()];
  }

  private Map<Integer, String> inputNames() {
    Map<Integer, String> names = new HashMap<>();
    byte[] key = Native.text("a name", "taper.signature." + name);
    byte[] signature = Native.namedData(model.handle(), key);
    if (signature == null) return names;
    Matcher line = INPUT.matcher(Native.string(signature));
    while (line.find()) names.put(Integer.parseInt(line.group(1)), line.group(2));
    return names;
  }

  public String name() {
    return name;
  }

  /** The tensors that run() takes. */
  public List<ValueInfo> inputs() {
    return Collections.unmodifiableList(inputs);
  }

  /** What run() returns. */
  public List<ValueInfo> outputs() {
    return Collections.unmodifiableList(outputs);
  }

  /** The bytes of memory that the method needs, beside what its backends keep. */
  public long memory() {
    return memory;
  }

  /** Lays the method out and binds its kernels; the first run does that if it is not done yet. */
  public void load() {
    synchronized (model) {
      Native.load(model.handle(), text);
    }
  }

  /**
   * Runs the method. Direct buffers are read where they are, and must not change until run()
   * returns; the next run or close() ends their use. Outputs are copies, but for those that
   * bindOutput() has bound.
   */
  public Value[] run(Tensor... tensors) {
    check(tensors);
    synchronized (model) {
      for (int i = 0; i < tensors.length; ++i) setInput(i, tensors[i]);
      Native.run(model.handle(), text);
      Value[] values = new Value[outputs.size()];
      long[] info = new long[Native.VALUE_LENGTH];
      for (int i = 0; i < values.length; ++i) values[i] = new Value(output(i, info));
      return values;
    }
  }

  /**
   * Makes the runs that follow write an output into this direct buffer, without a copy; null ends
   * that. Only a program that was exported with --io=application can do it.
   */
  public void bindOutput(int index, ByteBuffer buffer) {
    synchronized (model) {
      if (index < 0 || index >= bound.length) {
        throw TaperException.invalid(
            name + " has " + bound.length + " outputs, given the index " + index);
      }
      if (buffer != null && (!buffer.isDirect() || buffer.isReadOnly())) {
        throw TaperException.invalid("an output needs a direct buffer that can be written");
      }
      if (buffer != null && !outputs.get(index).isRowMajor()) {
        throw new TaperException(
            "NotSupported",
            "output " + index + " is not in row-major order, and can only be copied");
      }
      ByteBuffer data = buffer == null ? null : buffer.slice();
      Native.bindOutput(model.handle(), text, index, data);
      bound[index] = data;
    }
  }

  private void check(Tensor[] tensors) {
    if (tensors == null) throw TaperException.invalid("expected tensors, given null");
    if (tensors.length != inputs.size()) {
      throw TaperException.invalid(
          name + " takes " + inputs.size() + " inputs " + names() + ", given " + tensors.length);
    }
    for (int i = 0; i < tensors.length; ++i) {
      if (tensors[i] == null) {
        throw TaperException.invalid(inputs.get(i).name() + ": expected a tensor, given null");
      }
    }
  }

  private String names() {
    List<String> names = new ArrayList<>();
    for (ValueInfo each : inputs) names.add(each.name());
    return names.toString().replace('[', '(').replace(']', ')');
  }

  private void setInput(int i, Tensor tensor) {
    ValueInfo info = inputs.get(i);
    int[] shape = tensor.shape();
    Tensor used = tensor;
    if (!info.isRowMajor() && shape.length == info.dimOrder().length) {
      used = tensor.copyInOrder(info.dimOrder());
    }
    ByteBuffer data = used.buffer();
    // A method that uses its inputs where they are may write there.
    boolean copy = data.isReadOnly();
    Native.setInput(
        model.handle(), text, info.index(), data, tensor.dtype().number, shape, copy);
    given[i] = used;
  }

  private Object output(int index, long[] info) {
    Native.output(model.handle(), text, index, info);
    long number = info[Native.NUMBER];
    switch ((int) info[Native.KIND]) {
      case Native.TENSOR:
        return tensor(index, info);
      case Native.STRING:
        ByteBuffer bytes = ByteBuffer.allocateDirect(sizeOf(info));
        Native.copyOutput(model.handle(), text, index, bytes);
        byte[] letters = new byte[bytes.capacity()];
        bytes.get(letters);
        return Native.string(letters);
      case Native.DOUBLE:
        return Double.longBitsToDouble(number);
      case Native.INT:
        return number;
      case Native.BOOL:
        return number != 0;
      default:
        return null;
    }
  }

  private Tensor tensor(int index, long[] info) {
    DType dtype = DType.of((int) info[Native.DTYPE]);
    int[] shape = new int[(int) info[Native.RANK]];
    for (int d = 0; d < shape.length; ++d) shape[d] = (int) info[Native.SIZES + d];
    if (bound[index] != null) {
      ByteBuffer data = bound[index].duplicate();
      data.limit(sizeOf(info));
      return Tensor.wrap(data, dtype, shape);
    }
    ByteBuffer data = Tensor.direct(sizeOf(info));
    Native.copyOutput(model.handle(), text, index, data);
    ValueInfo about = outputs.get(index);
    if (about.isRowMajor()) return Tensor.wrap(data, dtype, shape);
    return Tensor.inOrder(data, dtype, shape, about.dimOrder());
  }

  private static int sizeOf(long[] info) {
    long bytes = info[Native.BYTES];
    if (bytes > Integer.MAX_VALUE) {
      throw new TaperException(
          "NotSupported", "a buffer cannot hold an output of " + bytes + " bytes");
    }
    return (int) bytes;
  }

  /** For example "forward(x: float32 (1, 10))". */
  @Override
  public String toString() {
    String list = inputs.toString();
    return name + "(" + list.substring(1, list.length() - 1) + ")";
  }
}
