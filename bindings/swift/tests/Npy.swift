// NumPy's files, as the committed models have them.

import Foundation
import Taper

struct Npy {
  let tensor: Tensor

  init(_ path: String) throws {
    let data = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    let length = Int(data[8]) | Int(data[9]) << 8
    let header = String(decoding: data[10..<(10 + length)], as: UTF8.self)
    let kind = Npy.between(header, "'descr': '", "'")
    let shape = Npy.between(header, "'shape': (", ")").split(separator: ",").compactMap {
      Int($0.trimmingCharacters(in: .whitespaces))
    }
    let dtypes: [String: DType] = [
      "|u1": .uint8, "|i1": .int8, "<i2": .int16, "<i4": .int32, "<i8": .int64, "<f2": .float16,
      "<f4": .float32, "<f8": .float64, "|b1": .bool, "|V2": .bfloat16, "<V2": .bfloat16,
      "<c8": .complex64, "<c16": .complex128,
    ]
    guard let dtype = dtypes[kind] else { fatalError("\(path) has elements of \(kind)") }
    tensor = try Tensor(bytes: Array(data[(10 + length)...]), shape: shape, dtype: dtype)
  }

  private static func between(_ text: String, _ begin: String, _ end: String) -> String {
    let rest = text[text.range(of: begin)!.upperBound...]
    return String(rest[..<rest.range(of: end)!.lowerBound])
  }
}

/// The elements as numbers, two for each complex one.
func numbers(_ tensor: Tensor) throws -> [Double] {
  switch tensor.dtype {
  case .float32, .complex64: return try tensor.elements(as: Float.self).map(Double.init)
  case .float64, .complex128: return try tensor.elements(as: Double.self)
  case .int64: return try tensor.elements(as: Int64.self).map(Double.init)
  case .int32: return try tensor.elements(as: Int32.self).map(Double.init)
  case .int16: return try tensor.elements(as: Int16.self).map(Double.init)
  case .int8: return try tensor.elements(as: Int8.self).map(Double.init)
  case .uint8: return try tensor.elements(as: UInt8.self).map(Double.init)
  case .bool: return try tensor.elements(as: Bool.self).map { $0 ? 1 : 0 }
  case .bfloat16:
    return try tensor.elements(as: UInt16.self).map {
      Double(Float(bitPattern: UInt32($0) << 16))
    }
  case .float16: return try tensor.elements(as: UInt16.self).map(half)
  default: fatalError("elements of \(tensor.dtype)")
  }
}

private func half(_ bits: UInt16) -> Double {
  let sign: Double = bits & 0x8000 == 0 ? 1 : -1
  let exponent = Int(bits >> 10 & 31), fraction = Double(bits & 1023) / 1024
  if exponent == 31 { return fraction == 0 ? sign * .infinity : .nan }
  if exponent == 0 { return sign * fraction * pow(2, -14) }
  return sign * (1 + fraction) * pow(2, Double(exponent - 15))
}
