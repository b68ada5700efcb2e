// What goes into a method and comes out of it, and what a method says of both.

import CTaper

public enum Value: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral
{
  case tensor(Tensor)
  case int(Int64)
  case double(Double)
  case bool(Bool)
  case string(String)
  case none

  public init(integerLiteral value: Int64) { self = .int(value) }
  public init(floatLiteral value: Double) { self = .double(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }

  /// The tensor; a TaperError if it is something else.
  public func tensor() throws -> Tensor {
    guard case .tensor(let tensor) = self else {
      throw TaperError(code: "InvalidType", message: "the value is no tensor, but \(self)")
    }
    return tensor
  }
}

/// What a method declares of an input or output.
public struct ValueInfo {
  public enum Kind: Int32 {
    case none = 0, tensor, string, double, int, bool
  }
  public let kind: Kind
  /// Of a tensor, as what follows.
  public let dtype: DType
  /// Upper bounds if the sizes may differ between runs.
  public let shape: [Int]
  public let isDynamic: Bool
  /// The dims from the outermost in memory to the innermost.
  let order: [Int]

  init(_ info: taper_value_info) {
    var info = info
    let rank = Int(info.rank)
    kind = Kind(rawValue: info.kind) ?? .none
    dtype = DType(number: info.dtype)
    shape = Swift.withUnsafeBytes(of: &info.sizes) {
      $0.bindMemory(to: Int32.self).prefix(rank).map(Int.init)
    }
    isDynamic = info.dynamic != 0
    order = Swift.withUnsafeBytes(of: &info.dim_order) { $0.prefix(rank).map(Int.init) }
  }
}

extension taper_value {
  var shape: [Int] {
    Swift.withUnsafeBytes(of: sizes) {
      $0.bindMemory(to: Int32.self).prefix(Int(rank)).map(Int.init)
    }
  }

  mutating func set(shape: [Int]) {
    rank = Int32(shape.count)
    Swift.withUnsafeMutableBytes(of: &sizes) { to in
      for (d, size) in zip(to.bindMemory(to: Int32.self).indices, shape) {
        to.bindMemory(to: Int32.self)[d] = Int32(size)
      }
    }
  }
}
