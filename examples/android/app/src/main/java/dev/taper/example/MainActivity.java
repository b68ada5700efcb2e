package dev.taper.example;

import android.app.Activity;
import android.content.Intent;
import android.graphics.Bitmap;
import android.graphics.BitmapFactory;
import android.os.Bundle;
import android.widget.Button;
import android.widget.ImageView;
import android.widget.LinearLayout;
import android.widget.TextView;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Shows an image and what the model says of it: first the one of the assets, then chosen ones. */
public final class MainActivity extends Activity {
  private static final int CHOICE = 1;
  private static final int SHOWN = 3; // Answers.

  private interface ImageSource {
    InputStream open() throws IOException;
  }

  // The model lives on this thread, so that the screen never waits for it.
  private final ExecutorService worker = Executors.newSingleThreadExecutor();
  private Classifier classifier;
  private ImageView image;
  private TextView text;

  @Override
  protected void onCreate(Bundle saved) {
    super.onCreate(saved);
    image = new ImageView(this);
    text = new TextView(this);
    Button button = new Button(this);
    button.setText("Choose an image");
    button.setOnClickListener(
        view ->
            startActivityForResult(
                new Intent(Intent.ACTION_GET_CONTENT)
                    .setType("image/*")
                    .addCategory(Intent.CATEGORY_OPENABLE),
                CHOICE));
    LinearLayout column = new LinearLayout(this);
    column.setOrientation(LinearLayout.VERTICAL);
    // As high as the rest leaves it room.
    column.addView(
        image, new LinearLayout.LayoutParams(LinearLayout.LayoutParams.MATCH_PARENT, 0, 1));
    column.addView(text);
    column.addView(button);
    setContentView(column);
    show(() -> getAssets().open("digit.png"));
  }

  @Override
  protected void onActivityResult(int request, int result, Intent data) {
    if (request == CHOICE && result == RESULT_OK && data != null && data.getData() != null) {
      show(() -> getContentResolver().openInputStream(data.getData()));
    }
  }

  @Override
  protected void onDestroy() {
    worker.execute(
        () -> {
          if (classifier != null) classifier.close();
        });
    worker.shutdown();
    super.onDestroy();
  }

  private void show(ImageSource source) {
    worker.execute(
        () -> {
          try (InputStream stream = source.open()) {
            Bitmap bitmap = BitmapFactory.decodeStream(stream);
            if (bitmap == null) throw new IOException("this is not an image");
            if (classifier == null) classifier = new Classifier(program(), labels());
            String answer = answer(bitmap);
            runOnUiThread(
                () -> {
                  image.setImageBitmap(bitmap);
                  text.setText(answer);
                });
          } catch (IOException | RuntimeException error) {
            runOnUiThread(() -> text.setText(error.getMessage()));
          }
        });
  }

  private String answer(Bitmap bitmap) {
    int[] pixels = pixels(bitmap, classifier.width, classifier.height);
    long start = System.nanoTime();
    List<Classifier.Answer> answers = classifier.classify(pixels);
    StringBuilder lines = new StringBuilder();
    lines.append(String.format(Locale.ROOT, "%.2f ms\n", (System.nanoTime() - start) / 1e6));
    for (Classifier.Answer each : answers.subList(0, Math.min(SHOWN, answers.size()))) {
      lines.append(String.format(Locale.ROOT, "%s: %.1f %%\n", each.label, 100 * each.probability));
    }
    return lines.toString();
  }

  // Scales by halves first, so that every pixel counts.
  private static int[] pixels(Bitmap bitmap, int width, int height) {
    while (bitmap.getWidth() >= 2 * width && bitmap.getHeight() >= 2 * height) {
      bitmap =
          Bitmap.createScaledBitmap(bitmap, bitmap.getWidth() / 2, bitmap.getHeight() / 2, true);
    }
    bitmap = Bitmap.createScaledBitmap(bitmap, width, height, true);
    int[] pixels = new int[width * height];
    bitmap.getPixels(pixels, 0, width, 0, 0, width, height);
    return pixels;
  }

  private ByteBuffer program() throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    try (InputStream from = getAssets().open("model.pte")) {
      byte[] block = new byte[1 << 16];
      for (int n = from.read(block); n > 0; n = from.read(block)) all.write(block, 0, n);
    }
    return ByteBuffer.wrap(all.toByteArray());
  }

  private List<String> labels() throws IOException {
    List<String> labels = new ArrayList<>();
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(getAssets().open("labels.txt"), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) labels.add(line);
    }
    return labels;
  }
}
