package dev.taper;

import java.io.File;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A program in ExecuTorch's .pte format, opened to be run.
 *
 * <pre>
 *   try (Model model = Model.open(new File("model.pte"), new Options().backends("xnnpack"))) {
 *     Value[] outputs = model.run(Tensor.of(pixels, 1, 3, 224, 224));
 *     float[] scores = outputs[0].tensor().floats();
 *   }
 * </pre>
 *
 * What is wrong is a TaperException. Threads: models are independent of each other; calls of one
 * model come one after another. A model that is not closed keeps its memory until the process ends.
 */
public final class Model implements AutoCloseable {
  private long handle;
  private final Map<String, Method> methods = new LinkedHashMap<>();

  private Model(long handle) {
    this.handle = handle;
    try {
      for (byte[] name : Native.methods(handle)) {
        String text = Native.string(name);
        methods.put(text, new Method(this, text));
      }
      // A program's only method is loaded at once, so that what it lacks is known at once.
      if (methods.size() == 1) methods.values().iterator().next().load();
    } catch (RuntimeException | Error error) {
      close();
      throw error;
    }
  }

  /** Opens a file, which is mapped; it must not change while the model is open. */
  public static Model open(File file) {
    return open(file, new Options());
  }

  public static Model open(File file, Options options) {
    if (file == null) throw TaperException.invalid("the file is null");
    return open(Native.text("the path", file.getPath()), null, options);
  }

  /** Opens a copy of the bytes between the buffer's position and its limit. */
  public static Model open(ByteBuffer program) {
    return open(program, new Options());
  }

  public static Model open(ByteBuffer program, Options options) {
    if (program == null) throw TaperException.invalid("the program is null");
    return open(null, program.isDirect() ? program.slice() : Tensor.copy(program), options);
  }

  private static Model open(byte[] path, ByteBuffer program, Options options) {
    if (options == null) throw TaperException.invalid("the options are null");
    byte[][] backends = new byte[options.backends.length][];
    for (int i = 0; i < backends.length; ++i) {
      backends[i] = Native.text("the name of a backend", options.backends[i]);
    }
    String pem = options.publicKey;
    return new Model(
        Native.open(
            path,
            program,
            options.data == null ? null : Native.text("the path", options.data.getPath()),
            backends,
            options.threads,
            options.maxMemory,
            pem == null ? null : Native.text("the public key", pem)));
  }

  /** The names of the backends in the library. */
  public static List<String> backends() {
    List<String> names = new ArrayList<>();
    for (byte[] name : Native.backends()) names.add(Native.string(name));
    return names;
  }

  /** The version of the library, such as "0.1.0". */
  public static String version() {
    return Native.string(Native.version());
  }

  public Map<String, Method> methods() {
    return Collections.unmodifiableMap(methods);
  }

  public Method method(String name) {
    Method found = methods.get(name);
    if (found != null) return found;
    String known = methods.keySet().toString();
    throw new TaperException(
        "NotFound",
        "no method has the name '" + name + "'; there are: "
            + known.substring(1, known.length() - 1));
  }

  /** The inputs of the only method, or of forward. */
  public List<ValueInfo> inputs() {
    return only().inputs();
  }

  /** The outputs of the only method, or of forward. */
  public List<ValueInfo> outputs() {
    return only().outputs();
  }

  /** Runs the only method, or forward. */
  public Value[] run(Tensor... inputs) {
    return only().run(inputs);
  }

  private Method only() {
    return methods.size() == 1 ? methods.values().iterator().next() : method("forward");
  }

  /** Sets the model's state back to the saved values. */
  public synchronized void reset() {
    Native.reset(handle());
  }

  /** Gives the memory back, when a run that goes on has ended. Calls that follow throw. */
  @Override
  public synchronized void close() {
    if (handle == 0) return;
    Native.close(handle);
    handle = 0;
  }

  long handle() {
    if (handle == 0) throw new TaperException("InvalidState", "the model is closed");
    return handle;
  }
}
