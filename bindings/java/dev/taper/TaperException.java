package dev.taper;

import java.nio.charset.StandardCharsets;

/** What is wrong, in the words of the library. */
public final class TaperException extends RuntimeException {
  private static final long serialVersionUID = 1;
  private final String code;

  TaperException(String code, String message) {
    super(message);
    this.code = code;
  }

  // Called by the native half: texts that come from files need not be valid UTF-8.
  @SuppressWarnings("unused")
  private TaperException(byte[] code, byte[] message) {
    this(
        new String(code, StandardCharsets.UTF_8), new String(message, StandardCharsets.UTF_8));
  }

  /** The name of a code of taper/taper.h: "InvalidArgument", "OperatorMissing", ... */
  public String code() {
    return code;
  }

  static TaperException invalid(String message) {
    return new TaperException("InvalidArgument", message);
  }
}
