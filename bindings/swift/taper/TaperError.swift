// What is wrong, with the text that the command line prints.

import CTaper

public struct TaperError: Error, CustomStringConvertible {
  /// The name of the code in taper/taper.h, such as "InvalidArgument".
  public let code: String
  /// One line for each problem, with the names involved.
  public let message: String

  public var description: String { "\(code): \(message)" }

  static func invalid(_ message: String) -> TaperError {
    TaperError(code: "InvalidArgument", message: message)
  }
}

/// Calls a function of the C API; throws what it says.
func check(_ call: (UnsafeMutablePointer<taper_error>) -> taper_code) throws {
  var error = taper_error()
  let code = call(&error)
  guard code != Int32(TAPER_OK) else { return }
  let message = withUnsafeBytes(of: &error.message) { text($0) }
  throw TaperError(code: String(cString: taper_code_name(code)), message: message)
}

/// Text that ends with a zero, or where there is no more room.
func text(_ bytes: UnsafeRawBufferPointer) -> String {
  String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
}
