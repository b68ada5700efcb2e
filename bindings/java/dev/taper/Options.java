package dev.taper;

import java.io.File;

/** How a program is opened. The setters return this object. */
public final class Options {
  String[] backends = {};
  int threads = 1;
  long maxMemory = 0;
  File data = null;
  String publicKey = null;

  /** The backends that may run the program's delegates, such as "xnnpack". None at first. */
  public Options backends(String... names) {
    if (names == null) throw TaperException.invalid("backends is null");
    backends = names.clone();
    return this;
  }

  /** The number of threads that a run uses; 0: one for each core, at most four. 1 at first. */
  public Options threads(int count) {
    if (count < 0 || count > 64) {
      throw TaperException.invalid("expected 0 to 64 threads, given " + count);
    }
    threads = count;
    return this;
  }

  /** The weights of a program that was exported with --external-weights: a .ptd file. */
  public Options data(File file) {
    data = file;
    return this;
  }

  /** Loading fails if a method needs more than this many bytes. 0, as at first: no limit. */
  public Options maxMemory(long bytes) {
    if (bytes < 0) throw TaperException.invalid("expected no negative limit, given " + bytes);
    maxMemory = bytes;
    return this;
  }

  /** Accepts only files that the owner of this key has signed: the text of a PEM file. */
  public Options publicKey(String pem) {
    publicKey = pem;
    return this;
  }
}
