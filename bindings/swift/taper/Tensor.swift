// Elements with a dtype and a shape, in row-major order. A tensor is a value: copies share their
// elements, which never change.

import CTaper

/// A dtype, with the number that PyTorch gives it.
public struct DType: Equatable, CustomStringConvertible, Sendable {
  let number: Int32

  public static let uint8 = DType(number: 0)
  public static let int8 = DType(number: 1)
  public static let int16 = DType(number: 2)
  public static let int32 = DType(number: 3)
  public static let int64 = DType(number: 4)
  public static let float16 = DType(number: 5)
  public static let float32 = DType(number: 6)
  public static let float64 = DType(number: 7)
  public static let complex64 = DType(number: 9)
  public static let complex128 = DType(number: 10)
  public static let bool = DType(number: 11)
  public static let bfloat16 = DType(number: 15)

  /// Bytes of an element.
  public var size: Int { taper_dtype_size(number) }
  /// For example "float32".
  public var description: String { String(cString: taper_dtype_name(number)) }
}

/// Types of Swift that elements may have. float16 and bfloat16 are the bits of each number; a
/// complex number is two elements.
public protocol Element {
  static func holds(_ dtype: DType) -> Bool
  static var dtype: DType { get }
}

extension Element {
  public static func holds(_ dtype: DType) -> Bool { dtype == Self.dtype }
}

extension UInt8: Element { public static var dtype: DType { .uint8 } }
extension Int8: Element { public static var dtype: DType { .int8 } }
extension Int16: Element { public static var dtype: DType { .int16 } }
extension Int32: Element { public static var dtype: DType { .int32 } }
extension Int64: Element { public static var dtype: DType { .int64 } }
extension Bool: Element { public static var dtype: DType { .bool } }
extension Float: Element {
  public static var dtype: DType { .float32 }
  public static func holds(_ dtype: DType) -> Bool { dtype == .float32 || dtype == .complex64 }
}
extension Double: Element {
  public static var dtype: DType { .float64 }
  public static func holds(_ dtype: DType) -> Bool { dtype == .float64 || dtype == .complex128 }
}
extension UInt16: Element {
  public static var dtype: DType { .float16 }
  public static func holds(_ dtype: DType) -> Bool { dtype == .float16 || dtype == .bfloat16 }
}

public struct Tensor: CustomStringConvertible {
  public let dtype: DType
  public let shape: [Int]
  let bytes: [UInt8]

  /// A copy of `elements`. With 16 bits they are those of float16, unless `dtype` says bfloat16;
  /// with .complex64 and .complex128 two of them are a number.
  public init<E: Element>(_ elements: [E], shape: [Int], dtype: DType = E.dtype) throws {
    guard E.holds(dtype) else { throw TaperError.invalid("\(E.self) cannot hold \(dtype)") }
    let bytes = elements.withUnsafeBytes { [UInt8]($0) }
    try self.init(bytes: bytes, shape: shape, dtype: dtype)
  }

  /// A copy of the bytes of elements, in the order of the processor.
  public init(bytes: [UInt8], shape: [Int], dtype: DType) throws {
    let needed = try Tensor.bytes(of: dtype, shape)
    guard bytes.count == needed else {
      throw TaperError.invalid(
        "\(dtype) \(shape) has \(needed) bytes, not \(bytes.count)")
    }
    self.dtype = dtype
    self.shape = shape
    self.bytes = bytes
  }

  /// A copy of the elements; a TaperError if they are not of that type.
  public func elements<E: Element>(as type: E.Type = E.self) throws -> [E] {
    guard E.holds(dtype) else {
      throw TaperError(code: "InvalidType", message: "the elements are \(dtype), not \(E.self)")
    }
    return bytes.withUnsafeBytes { from in
      [E](unsafeUninitializedCapacity: from.count / MemoryLayout<E>.stride) { to, count in
        UnsafeMutableRawBufferPointer(to).copyMemory(from: from)
        count = to.count
      }
    }
  }

  /// Reads the elements' bytes where they are.
  public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try bytes.withUnsafeBytes(body)
  }

  /// For example "float32 [1, 10]".
  public var description: String { "\(dtype) \(shape)" }

  static func bytes(of dtype: DType, _ shape: [Int]) throws -> Int {
    guard shape.count <= Int(TAPER_MAX_RANK) else {
      throw TaperError.invalid("\(shape.count) dimensions are more than \(TAPER_MAX_RANK)")
    }
    var bytes = dtype.size
    for size in shape {
      let (product, overflows) = bytes.multipliedReportingOverflow(by: size)
      guard size >= 0, size <= Int32.max, !overflows else {
        throw TaperError.invalid("the sizes \(shape) are impossible")
      }
      bytes = product
    }
    return bytes
  }

  /// These bytes with their dims in memory in the order `to` instead of `from`, outermost first.
  static func reordered(
    _ bytes: UnsafeRawBufferPointer, shape: [Int], item: Int, from: [Int], to: [Int]
  ) -> [UInt8] {
    if from == to { return [UInt8](bytes) }
    let source = strides(shape, from), target = strides(shape, to)
    var out = [UInt8](repeating: 0, count: bytes.count)
    var at = [Int](repeating: 0, count: shape.count)
    for _ in 0..<(bytes.count / item) {
      let read = zip(at, source).reduce(0) { $0 + $1.0 * $1.1 } * item
      let write = zip(at, target).reduce(0) { $0 + $1.0 * $1.1 } * item
      for b in 0..<item { out[write + b] = bytes[read + b] }
      for d in shape.indices.reversed() {
        at[d] += 1
        if at[d] < shape[d] { break }
        at[d] = 0
      }
    }
    return out
  }

  private static func strides(_ shape: [Int], _ order: [Int]) -> [Int] {
    var strides = [Int](repeating: 0, count: shape.count)
    var next = 1
    for d in order.reversed() {
      strides[d] = next
      next *= shape[d]
    }
    return strides
  }
}
