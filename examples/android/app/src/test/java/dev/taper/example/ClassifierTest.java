package dev.taper.example;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import org.junit.Test;
import org.junit.function.ThrowingRunnable;

/** The half without Android, on the digits of demo/ with what PyTorch computes for them. */
public final class ClassifierTest {
  private static final int SIDE = 8;
  private static final File ASSETS = new File(System.getProperty("taper.assets"));

  private static ByteBuffer program(String name) throws IOException {
    return read(new File(System.getProperty("taper.programs"), name));
  }

  private static ByteBuffer read(File file) throws IOException {
    return ByteBuffer.wrap(Files.readAllBytes(file.toPath())).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static FloatBuffer floats(String name) throws IOException {
    ByteBuffer npy = read(new File(System.getProperty("taper.demo"), name));
    npy.position(10 + npy.getShort(8)); // Behind the header.
    return npy.slice().order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer();
  }

  private static List<String> labels() throws IOException {
    return Files.readAllLines(new File(ASSETS, "labels.txt").toPath(), StandardCharsets.UTF_8);
  }

  private static void assertRefused(String text, ThrowingRunnable call) {
    assertEquals(text, assertThrows(IllegalArgumentException.class, call).getMessage());
  }

  @Test
  public void saysWhatPyTorchSays() throws IOException {
    FloatBuffer images = floats("digits_images.npy");
    FloatBuffer logits = floats("digits_logits.npy");
    List<String> labels = labels();
    float[] scores = new float[labels.size()];
    int count = logits.remaining() / scores.length;
    assertEquals(count * SIDE * SIDE, images.remaining());
    try (Classifier classifier = new Classifier(program("digits.pte"), labels)) {
      assertEquals(SIDE, classifier.width);
      assertEquals(SIDE, classifier.height);
      for (int i = 0; i < count; ++i) {
        int[] pixels = new int[SIDE * SIDE];
        for (int k = 0; k < pixels.length; ++k) {
          pixels[k] = 0xff000000 | Math.round(255 * images.get()) * 0x010101;
        }
        logits.get(scores);
        double sum = 0;
        int best = 0;
        for (int k = 0; k < scores.length; ++k) {
          sum += Math.exp(scores[k]);
          if (scores[k] > scores[best]) best = k;
        }
        Classifier.Answer first = classifier.classify(pixels).get(0);
        assertEquals("image " + i, labels.get(best), first.label);
        // A pixel has 256 values here, and more in the arrays.
        assertEquals("image " + i, Math.exp(scores[best]) / sum, first.probability, 0.01);
      }
    }
  }

  @Test
  public void refusesWhatDoesNotFit() throws IOException {
    ByteBuffer digits = program("digits.pte");
    try (Classifier classifier = new Classifier(digits, Arrays.asList("yes", "no"))) {
      assertRefused("10 scores for 2 labels", () -> classifier.classify(new int[SIDE * SIDE]));
    }
    ByteBuffer add = program("add.pte");
    assertRefused("the model does not take one image", () -> new Classifier(add, labels()));
  }
}
