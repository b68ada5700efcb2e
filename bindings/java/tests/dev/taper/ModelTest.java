package dev.taper;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;
import static org.junit.Assert.fail;

import java.io.File;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.Test;

/** What the package does beside running models, and what it says of mistakes. */
public final class ModelTest {
  private interface Action {
    void run() throws Exception;
  }

  private static void refused(String code, String text, Action action) throws Exception {
    try {
      action.run();
    } catch (TaperException error) {
      String said = error.code() + ": " + error.getMessage();
      assertTrue(said + ", not " + code + ": " + text, said.startsWith(code) && said.contains(text));
      return;
    }
    fail("not refused: " + text);
  }

  private static Model add() {
    return Model.open(Data.program("add.pte"));
  }

  private static void gives(Model model, String method, String name, int inputs) throws Exception {
    Value[] outputs = model.method(method).run(Data.tensors(name, "in", inputs));
    Tensor expected = Data.tensors(name, "out", 1)[0];
    Data.assertClose(name, expected, outputs[0].tensor(), 1e-4);
  }

  @Test
  public void describesInputsAndOutputs() throws Exception {
    try (Model model = Model.open(Data.program("dynamic_bert.pte"))) {
      List<String> names = new ArrayList<>();
      for (ValueInfo each : model.inputs()) names.add(each.name());
      assertEquals("[input_ids, attention_mask, token_type_ids]", names.toString());
      ValueInfo info = model.inputs().get(0);
      assertEquals(DType.INT64, info.dtype());
      assertArrayEquals(new int[] {2, 16}, info.maxShape());
      assertTrue(info.isDynamic());
      assertEquals(2 * 16 * 8, info.bytes());
      assertEquals("input_ids: int64 up to (2, 16)", info.toString());
      assertArrayEquals(new int[] {2, 16, 16}, model.outputs().get(0).maxShape());
      assertTrue(model.method("forward").memory() > 0);
      gives(model, "forward", "dynamic_bert_7", 3);
      Tensor large = Tensor.zeros(DType.INT64, 2, 17);
      refused("InvalidArgument", "given int64 (2, 17)", () -> model.run(large, large, large));
    }
  }

  @Test
  public void givesOutputsThatAreNotTensors() throws Exception {
    try (Model model = Model.open(Data.program("nested.pte"))) {
      Value[] outputs = model.run(Data.tensors("nested", "in", 5));
      assertTrue(outputs[3].isNone());
      assertEquals(7, outputs[4].integer());
      assertEquals(0.5, outputs[5].number(), 0);
      assertTrue(outputs[7].bool());
      refused("InvalidType", "the value is not a tensor but 7", () -> outputs[4].tensor());
      refused("InvalidType", "the value is not a text but none", () -> outputs[3].text());
      assertNull(model.outputs().get(4).dtype());
    }
  }

  @Test
  public void runsMethodsByName() throws Exception {
    try (Model model = Model.open(Data.program("two.pte"))) {
      assertEquals("[encode, sum]", new TreeSet<>(model.methods().keySet()).toString());
      gives(model, "sum", "add", 2);
      gives(model, "encode", "bert_mini", 3);
      refused("NotFound", "no method has the name 'decode'; there are: ", () ->
          model.method("decode"));
      refused("NotFound", "no method has the name 'forward'", () -> model.run());
      refused("NotFound", "no method has the name 'null'", () -> model.method(null));
    }
  }

  @Test
  public void keepsAndResetsState() throws Exception {
    try (Model model = Model.open(Data.program("counter.pte"))) {
      for (int round = 0; round < 2; ++round) {
        for (int step = 0; step < 3; ++step) gives(model, "forward", "counter.step" + step, 1);
        model.reset();
      }
    }
  }

  @Test
  public void namesWhatIsWrongWithInputs() throws Exception {
    try (Model model = add()) {
      Tensor[] good = Data.tensors("add", "in", 2);
      Tensor a = good[0];
      refused("InvalidArgument", "forward takes 2 inputs (", () -> model.run(a));
      refused("InvalidArgument", "given 3", () -> model.run(a, a, a));
      refused("InvalidArgument", "expected tensors, given null", () -> model.run((Tensor[]) null));
      refused("InvalidArgument", "expected a tensor, given null", () -> model.run(a, null));
      refused("InvalidType", "input 1: expected float32 (2, 4), given float64 (2, 4)", () ->
          model.run(a, Tensor.zeros(DType.FLOAT64, 2, 4)));
      refused("InvalidArgument", "input 1: expected float32 (2, 4), given float32 (8)", () ->
          model.run(a, Tensor.of(new float[8], 8)));
      int[] ones = new int[17];
      java.util.Arrays.fill(ones, 1);
      refused("InvalidArgument", "expected float32 (2, 4)", () ->
          model.run(a, Tensor.zeros(DType.FLOAT32, ones)));
      gives(model, "forward", "add", 2);
    }
  }

  @Test
  public void namesWhatIsWrongWithTensors() throws Exception {
    refused("InvalidArgument", "has 8 elements, not 7", () -> Tensor.of(new float[7], 2, 4));
    refused("InvalidArgument", "a size is negative", () -> Tensor.of(new float[8], -2, -4));
    refused("InvalidArgument", "given null", () -> Tensor.of((float[]) null, 2));
    refused("InvalidArgument", "given null", () -> Tensor.of(new float[1], (int[]) null));
    refused("InvalidArgument", "a buffer cannot hold", () ->
        Tensor.zeros(DType.FLOAT64, 65536, 65536, 65536, 65536));
    refused("InvalidArgument", "has 32 bytes, not 31", () ->
        Tensor.wrap(ByteBuffer.allocate(31), DType.FLOAT32, 2, 4));
    refused("InvalidArgument", "given null", () -> Tensor.wrap(null, DType.FLOAT32, 2, 4));
    refused("InvalidType", "the elements are int64, not float32", () ->
        Tensor.of(new long[2], 2).floats());
    assertEquals(0, Tensor.zeros(DType.FLOAT32, 1 << 30, 1 << 30, 0).buffer().remaining());
  }

  @Test
  public void takesEveryKindOfArrayAndBuffer() throws Exception {
    assertArrayEquals(new long[] {-1, 2}, Tensor.of(new long[] {-1, 2}, 2).longs());
    assertArrayEquals(new int[] {-1, 2}, Tensor.of(new int[] {-1, 2}, 2).ints());
    assertArrayEquals(new double[] {0.5, 2}, Tensor.of(new double[] {0.5, 2}, 2).doubles(), 0);
    assertEquals(1, Tensor.of(new boolean[] {false, true}, 2).buffer().get(1));
    Tensor[] good = Data.tensors("add", "in", 2);
    Tensor expected = Data.tensors("add", "out", 1)[0];
    ByteBuffer odd = ByteBuffer.allocateDirect(64);
    odd.position(3);
    odd.put(good[0].buffer()).flip().position(3);
    ByteBuffer heap = ByteBuffer.wrap(new byte[40], 4, 32);
    heap.duplicate().put(good[0].buffer());
    ByteBuffer fixed = good[0].buffer().asReadOnlyBuffer();
    try (Model model = add()) {
      for (ByteBuffer each : new ByteBuffer[] {odd, heap, fixed}) {
        Tensor first = Tensor.wrap(each, DType.FLOAT32, 2, 4);
        Value[] outputs = model.run(first, good[1]);
        Data.assertClose("add", expected, outputs[0].tensor(), 1e-4);
      }
    }
  }

  @Test
  public void usesDirectBuffersWhereTheyAre() throws Exception {
    Tensor[] images = Data.tensors("mobilenet_v2", "in", 1);
    Tensor expected = Data.tensors("mobilenet_v2", "out", 1)[0];
    try (Model model = Model.open(Data.program("application.pte"))) {
      Method forward = model.method("forward");
      int bytes = (int) forward.outputs().get(0).bytes();
      ByteBuffer scores = ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
      forward.bindOutput(0, scores);
      Tensor output = forward.run(images)[0].tensor();
      Data.assertClose("bound", expected, output, 1e-4);
      assertEquals(output.buffer().getFloat(0), scores.getFloat(0), 0);
      scores.putFloat(0, 42);
      assertEquals(42, output.buffer().getFloat(0), 0);
      forward.bindOutput(0, null);
      Tensor copy = forward.run(images)[0].tensor();
      Data.assertClose("not bound", expected, copy, 1e-4);
      assertEquals(42, scores.getFloat(0), 0);
      Tensor image = Tensor.wrap(images[0].buffer().asReadOnlyBuffer(), DType.FLOAT32,
          images[0].shape());
      Data.assertClose("read-only", expected, forward.run(image)[0].tensor(), 1e-4);
      refused("InvalidArgument", "a direct buffer that can be written", () ->
          forward.bindOutput(0, ByteBuffer.allocate(bytes)));
      refused("InvalidArgument", "a direct buffer that can be written", () ->
          forward.bindOutput(0, scores.asReadOnlyBuffer()));
      refused("InvalidArgument", "", () ->
          forward.bindOutput(0, ByteBuffer.allocateDirect(bytes - 4)));
      refused("InvalidArgument", "1 outputs, given the index 1", () ->
          forward.bindOutput(1, scores));
      refused("InvalidArgument", "given the index -1", () -> forward.bindOutput(-1, scores));
    }
    try (Model model = add()) {
      refused("InvalidState", "", () ->
          model.method("forward").bindOutput(0, ByteBuffer.allocateDirect(64)));
    }
  }

  @Test
  public void opensProgramsInMemory() throws Exception {
    byte[] bytes = Data.bytes(Data.program("add.pte"));
    ByteBuffer direct = ByteBuffer.allocateDirect(bytes.length + 5);
    direct.position(5);
    direct.put(bytes).flip().position(5);
    for (ByteBuffer each : new ByteBuffer[] {ByteBuffer.wrap(bytes), direct}) {
      try (Model model = Model.open(each)) {
        for (int i = 0; i < bytes.length; ++i) direct.put(5 + i, (byte) 0); // It is a copy.
        gives(model, "forward", "add", 2);
      }
      direct.duplicate().put(bytes);
    }
    try (FileChannel file = FileChannel.open(Data.program("add.pte").toPath());
        Model model = Model.open(file.map(FileChannel.MapMode.READ_ONLY, 0, file.size()))) {
      gives(model, "forward", "add", 2);
    }
  }

  @Test
  public void readsWeightsFromAnotherFile() throws Exception {
    File program = Data.program("outside.pte");
    try (Model model = Model.open(program, new Options().data(Data.program("outside.ptd")))) {
      gives(model, "forward", "mobilenet_v2", 1);
    }
    refused("NotFound", "", () -> Model.open(program));
    refused("", "none.ptd", () -> Model.open(program, new Options().data(new File("none.ptd"))));
  }

  @Test
  public void runsDelegatesOnTheirBackends() throws Exception {
    File program = Data.program("delegated.pte");
    assertTrue(Model.backends().contains("xnnpack"));
    try (Model model = Model.open(program, new Options().backends("xnnpack").threads(2))) {
      gives(model, "forward", "mobilenet_v2", 1);
    }
    refused("NotFound", "XnnpackBackend", () -> Model.open(program));
    refused("NotFound", "no backend 'tpu'; there are: ", () ->
        Model.open(program, new Options().backends("tpu")));
    refused("InvalidArgument", "the name of a backend is null", () ->
        Model.open(program, new Options().backends((String) null)));
  }

  @Test
  public void acceptsSignedFilesAlone() throws Exception {
    String key = new String(Data.bytes(Data.program("key.pub.pem")), StandardCharsets.UTF_8);
    Options options = new Options().publicKey(key);
    try (Model model = Model.open(Data.program("signed.pte"), options)) {
      gives(model, "forward", "add", 2);
    }
    refused("AccessFailed", "", () -> Model.open(Data.program("add.pte"), options));
    refused("InvalidArgument", "", () ->
        Model.open(Data.program("add.pte"), new Options().publicKey("no key")));
  }

  @Test
  public void saysOfBrokenFilesWhatTheCommandLineSays() throws Exception {
    byte[] json = Data.bytes(Data.program("broken.json"));
    Matcher each = Pattern.compile("\"file\": \"([^\"]*)\",\\s*\"text\": \"((?:[^\"\\\\]|\\\\.)*)\"")
        .matcher(new String(json, StandardCharsets.UTF_8));
    int count = 0;
    while (each.find()) {
      File file = Data.program(each.group(1));
      refused("InvalidProgram", each.group(2).replace("\\\"", "\""), () -> Model.open(file));
      ++count;
    }
    assertEquals(8, count);
    refused("InvalidProgram", "", () -> Model.open(ByteBuffer.allocate(0)));
    refused("NotFound", "none.pte", () -> Model.open(new File("none.pte")));
    refused("OperatorMissing", "my::shrink.out", () -> Model.open(Data.program("custom_op.pte")));
    refused("InvalidArgument", "the file is null", () -> Model.open((File) null));
    refused("InvalidArgument", "the program is null", () -> Model.open((ByteBuffer) null));
    refused("InvalidArgument", "the options are null", () ->
        Model.open(Data.program("add.pte"), null));
    refused("InvalidArgument", "contains a zero", () -> Model.open(new File("a\0b.pte")));
    refused("InvalidArgument", "expected 0 to 64 threads", () -> new Options().threads(65));
    refused("InvalidArgument", "no negative limit", () -> new Options().maxMemory(-1));
    refused("MemoryAllocationFailed", "", () ->
        Model.open(Data.program("add.pte"), new Options().maxMemory(1)));
  }

  @Test
  public void opensFilesWithAnyName() throws Exception {
    File folder = Files.createTempDirectory("taper").toFile();
    File file = new File(folder, "mod\u00e8le \ud83d\ude00.pte");
    try {
      Files.write(file.toPath(), Data.bytes(Data.program("add.pte")));
    } catch (java.nio.file.InvalidPathException error) {
      return; // The system's encoding has no such name.
    }
    try (Model model = Model.open(file)) {
      gives(model, "forward", "add", 2);
    } finally {
      assertTrue(file.delete() && folder.delete());
    }
  }

  /** Files in which a few bytes are wrong are refused, or run; the JVM goes on. */
  @Test
  public void survivesMutants() throws Exception {
    byte[] good = Data.bytes(Data.program("bert_mini.pte"));
    Tensor[] inputs = Data.tensors("bert_mini", "in", 3);
    Random random = new Random(1);
    int refusals = 0;
    for (int i = 0; i < 300; ++i) {
      byte[] bytes = good.clone();
      for (int n = random.nextInt(4); n >= 0; --n) {
        int at = random.nextInt(random.nextBoolean() ? bytes.length : 30000);
        bytes[at] = (byte) random.nextInt(256);
      }
      int length = random.nextInt(8) == 0 ? random.nextInt(bytes.length) : bytes.length;
      try (Model model = Model.open(ByteBuffer.wrap(bytes, 0, length))) {
        model.methods().values().iterator().next().run(inputs);
      } catch (TaperException error) {
        ++refusals;
      }
    }
    assertTrue(refusals + " of 300 were refused", refusals > 50);
  }

  @Test
  public void refusesCallsAfterClose() throws Exception {
    Model model = add();
    Method forward = model.method("forward");
    Tensor[] good = Data.tensors("add", "in", 2);
    Value[] outputs = model.run(good);
    model.close();
    model.close();
    refused("InvalidState", "the model is closed", () -> model.run(good));
    refused("InvalidState", "the model is closed", () -> forward.load());
    refused("InvalidState", "the model is closed", () -> forward.bindOutput(0, null));
    refused("InvalidState", "the model is closed", () -> model.reset());
    Data.assertClose("an output", Data.tensors("add", "out", 1)[0], outputs[0].tensor(), 1e-4);
  }

  @Test
  public void runsFromManyThreads() throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(4);
    try (Model model = Model.open(Data.program("bert_mini.pte"), new Options().threads(2))) {
      Callable<Void> task = () -> {
        for (int i = 0; i < 50; ++i) gives(model, "forward", "bert_mini", 3);
        return null;
      };
      for (Future<Void> each : pool.invokeAll(Collections.nCopies(4, task))) each.get();
    }
    // One closes it while others run it.
    for (int round = 0; round < 20; ++round) {
      Model model = add();
      Tensor[] good = Data.tensors("add", "in", 2);
      Callable<Void> task = () -> {
        try {
          while (true) model.run(good);
        } catch (TaperException error) {
          assertEquals("InvalidState", error.code());
        }
        return null;
      };
      List<Future<Void>> running = new ArrayList<>();
      for (int i = 0; i < 3; ++i) running.add(pool.submit(task));
      model.close();
      for (Future<Void> each : running) each.get();
    }
    pool.shutdown();
  }

  /** What is used where it is is not collected before it, and nothing is kept after it. */
  @Test
  public void keepsBuffersThatAreInUse() throws Exception {
    try (Model model = Model.open(Data.program("application.pte"))) {
      Tensor expected = Data.tensors("mobilenet_v2", "out", 1)[0];
      for (int i = 0; i < 10; ++i) {
        Value[] outputs = model.run(Data.tensors("mobilenet_v2", "in", 1));
        System.gc();
        Data.assertClose("output", expected, outputs[0].tensor(), 1e-4);
      }
    }
    for (int i = 0; i < 2000; ++i) {
      try (Model model = add()) {
        assertEquals(1, model.methods().size());
      }
    }
  }

  @Test
  public void saysItsVersion() {
    assertTrue(Model.version(), Model.version().matches("\\d+\\.\\d+\\.\\d+"));
  }
}
