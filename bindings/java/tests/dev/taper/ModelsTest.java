package dev.taper;

import static org.junit.Assert.assertEquals;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;

/** Every committed model gives PyTorch's numbers (test/models/README.md says what the files are). */
@RunWith(Parameterized.class)
public final class ModelsTest {
  private final String[] words;

  public ModelsTest(String line) {
    words = line.split(" ");
  }

  @Parameterized.Parameters(name = "{0}")
  public static List<String> lines() throws Exception {
    List<String> out = new ArrayList<>();
    byte[] list = Data.bytes(new File(Data.MODELS, "models.txt"));
    for (String line : new String(list, StandardCharsets.UTF_8).split("\n")) {
      if (!line.isEmpty() && !line.startsWith("#")) out.add(line);
    }
    return out;
  }

  @Test
  public void givesPyTorchsNumbers() throws Exception {
    int inputs = Integer.parseInt(words[2]);
    int outputs = Integer.parseInt(words[3]);
    int steps = Integer.parseInt(words[4]);
    double factor = words.length > 5 ? Double.parseDouble(words[5]) : 1;
    File file = Data.program(words[1].replace(".pt2", ".pte"));
    try (Model model = Model.open(file, new Options().threads(2))) {
      for (int step = 0; step < steps; ++step) {
        String name = words[0] + (steps > 1 ? ".step" + step : "");
        List<Tensor> given = new ArrayList<>();
        for (Value each : model.run(Data.tensors(name, "in", inputs))) {
          if (each.isTensor()) given.add(each.tensor());
        }
        assertEquals(name, outputs, given.size());
        Tensor[] expected = Data.tensors(name, "out", outputs);
        for (int i = 0; i < outputs; ++i) {
          Data.assertClose(name + ", output " + i, expected[i], given.get(i), 1e-4 * factor);
        }
      }
    }
  }
}
