package dev.taper.example;

import dev.taper.Model;
import dev.taper.Options;
import dev.taper.Tensor;
import dev.taper.Value;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * A model that says what is in an image: its input is float32 (1, channels, height, width) from 0
 * to 1, with one channel for grey or three for red, green and blue; its output has a score for each
 * label. There is nothing of Android in it, so that it is tested on a desktop.
 */
final class Classifier implements AutoCloseable {
  /** A label, and how probable the model holds it. */
  static final class Answer {
    final String label;
    final float probability;

    Answer(String label, float probability) {
      this.label = label;
      this.probability = probability;
    }
  }

  final int width;
  final int height;
  private final int channels;
  private final List<String> labels;
  private final Model model;

  Classifier(ByteBuffer program, List<String> labels) {
    boolean hasXnnpack = Model.backends().contains("xnnpack");
    Options options = new Options().threads(0);
    model = Model.open(program, hasXnnpack ? options.backends("xnnpack") : options);
    int[] shape = model.inputs().get(0).maxShape();
    if (shape.length != 4 || shape[0] != 1 || (shape[1] != 1 && shape[1] != 3)) {
      model.close();
      throw new IllegalArgumentException("the model does not take one image");
    }
    channels = shape[1];
    height = shape[2];
    width = shape[3];
    this.labels = labels;
  }

  /** The answers for width x height pixels, which are Android's colours; the best comes first. */
  List<Answer> classify(int[] pixels) {
    Value[] outputs = model.run(Tensor.of(planes(pixels), 1, channels, height, width));
    float[] scores = outputs[0].tensor().floats();
    if (scores.length != labels.size()) {
      throw new IllegalArgumentException(
          scores.length + " scores for " + labels.size() + " labels");
    }
    float[] probabilities = softmax(scores);
    List<Answer> answers = new ArrayList<>();
    for (int i = 0; i < scores.length; ++i) {
      answers.add(new Answer(labels.get(i), probabilities[i]));
    }
    Collections.sort(answers, (a, b) -> Float.compare(b.probability, a.probability));
    return answers;
  }

  // One plane for each channel, with values from 0 to 1.
  private float[] planes(int[] pixels) {
    int count = width * height;
    float[] planes = new float[channels * count];
    for (int i = 0; i < count; ++i) {
      float red = (pixels[i] >> 16 & 255) / 255f;
      float green = (pixels[i] >> 8 & 255) / 255f;
      float blue = (pixels[i] & 255) / 255f;
      if (channels == 1) {
        planes[i] = 0.299f * red + 0.587f * green + 0.114f * blue;
      } else {
        planes[i] = red;
        planes[count + i] = green;
        planes[2 * count + i] = blue;
      }
    }
    return planes;
  }

  private static float[] softmax(float[] scores) {
    float largest = Float.NEGATIVE_INFINITY;
    for (float score : scores) largest = Math.max(largest, score);
    float[] powers = new float[scores.length];
    float sum = 0;
    for (int i = 0; i < scores.length; ++i) {
      powers[i] = (float) Math.exp(scores[i] - largest);
      sum += powers[i];
    }
    for (int i = 0; i < scores.length; ++i) powers[i] /= sum;
    return powers;
  }

  @Override
  public void close() {
    model.close();
  }
}
