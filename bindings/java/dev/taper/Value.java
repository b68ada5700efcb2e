package dev.taper;

/** An output: a tensor, a number, a bool, a text, or none. */
public final class Value {
  private final Object value;

  Value(Object value) {
    this.value = value;
  }

  public boolean isNone() {
    return value == null;
  }

  public boolean isTensor() {
    return value instanceof Tensor;
  }

  /** The tensor. Like the next four, it throws a TaperException if the value is of another kind. */
  public Tensor tensor() {
    return as(Tensor.class, "tensor");
  }

  public long integer() {
    return as(Long.class, "integer");
  }

  public double number() {
    return as(Double.class, "number");
  }

  public boolean bool() {
    return as(Boolean.class, "bool");
  }

  public String text() {
    return as(String.class, "text");
  }

  private <T> T as(Class<T> kind, String what) {
    if (kind.isInstance(value)) return kind.cast(value);
    throw new TaperException("InvalidType", "the value is not a " + what + " but " + this);
  }

  @Override
  public String toString() {
    return value == null ? "none" : value.toString();
  }
}
