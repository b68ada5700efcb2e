package dev.taper;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;
import java.util.Locale;

/**
 * Finds the native libraries: those in the folder that the property {@code taper.library.path} names,
 * else those in the jar, which are copied to a temporary folder, else those that the system finds,
 * as on Android.
 */
final class Libraries {
  private static final String[] NAMES = {"taper", "taper_java"};

  private Libraries() {}

  static void load() {
    String folder = System.getProperty("taper.library.path");
    if (folder != null) {
      for (String name : NAMES) {
        System.load(new File(folder, fileName(name)).getAbsolutePath());
      }
    } else if (Libraries.class.getResource(resource(NAMES[0])) != null) {
      try {
        loadFromJar();
      } catch (IOException error) {
        throw new UnsatisfiedLinkError("the libraries cannot be copied from the jar: " + error);
      }
    } else {
      for (String name : NAMES) System.loadLibrary(name);
    }
  }

  private static void loadFromJar() throws IOException {
    File folder = Files.createTempDirectory("taper").toFile();
    folder.deleteOnExit();
    for (String name : NAMES) {
      File file = new File(folder, fileName(name));
      file.deleteOnExit(); // Before the folder: what was registered last goes first.
      try (InputStream in = Libraries.class.getResourceAsStream(resource(name))) {
        if (in == null) throw new IOException("the jar lacks " + resource(name));
        Files.copy(in, file.toPath(), StandardCopyOption.REPLACE_EXISTING);
      }
      System.load(file.getPath());
    }
  }

  // The first library is found by its SONAME, under which the second one asks for it.
  private static String fileName(String name) {
    return "lib" + name + (name.equals(NAMES[0]) ? ".so.0" : ".so");
  }

  private static String resource(String name) {
    String system = System.getProperty("os.name").toLowerCase(Locale.ROOT).replace(' ', '_');
    String arch = System.getProperty("os.arch");
    if (arch.equals("amd64")) arch = "x86_64";
    return "/native/" + system + "-" + arch + "/" + fileName(name);
  }
}
