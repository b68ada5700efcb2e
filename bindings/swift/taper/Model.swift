// A program in ExecuTorch's .pte format, opened to be run.
//
//   let model = try Model(path: "model.pte", Options(backends: ["xnnpack"], threads: 2))
//   let outputs = try model.run(Tensor(pixels, shape: [1, 3, 224, 224]))
//   let scores = try outputs[0].tensor().elements(as: Float.self)
//
// Threads: models are independent of each other; calls of one model come one after another.

import CTaper
import Dispatch
import Foundation

public struct Options {
  /// Names of backends that run delegated parts, such as "xnnpack".
  public var backends: [String]
  /// How many threads kernels may use, those of the system's queues.
  public var threads: Int
  /// A .ptd with weights.
  public var data: String?
  /// Opening fails if a method needs more. 0: no limit.
  public var maxMemory: UInt64
  /// The text of a PEM file: programs are accepted only if this key has signed them.
  public var publicKey: String?

  public init(
    backends: [String] = [], threads: Int = 1, data: String? = nil, maxMemory: UInt64 = 0,
    publicKey: String? = nil
  ) {
    self.backends = backends
    self.threads = threads
    self.data = data
    self.maxMemory = maxMemory
    self.publicKey = publicKey
  }
}

public final class Model {
  private var handle: taper_model = 0
  private let lock = NSLock()
  private var memory: UnsafeMutableRawPointer?  // Of a program that came as bytes.

  /// The names of the methods.
  public private(set) var methods: [String] = []

  /// Opens a file, which is mapped; it must not change while the model is open.
  public init(path: String, _ options: Options = Options()) throws {
    try open(options) { taper_open_path(path, $0, &handle, $1) }
  }

  /// Opens a copy of the bytes of a program.
  public init(bytes: [UInt8], _ options: Options = Options()) throws {
    let copy = UnsafeMutableRawPointer.allocate(byteCount: max(bytes.count, 1), alignment: 16)
    bytes.withUnsafeBytes { from in
      UnsafeMutableRawBufferPointer(start: copy, count: bytes.count).copyMemory(from: from)
    }
    memory = copy
    try open(options) { taper_open_memory(copy, bytes.count, $0, &handle, $1) }
  }

  deinit {
    if handle != 0 { taper_close(handle) }
    memory?.deallocate()
  }

  /// The names of the backends in the library.
  public static var backends: [String] {
    (0..<taper_backend_count()).map { String(cString: taper_backend_name($0)) }
  }

  /// The version of the library, such as "0.1.0".
  public static var version: String { String(cString: taper_version_text()) }

  public func inputs(of method: String? = nil) throws -> [ValueInfo] {
    try lock.withLock { try infos(name(method), ofInputs: true) }
  }

  public func outputs(of method: String? = nil) throws -> [ValueInfo] {
    try lock.withLock { try infos(name(method), ofInputs: false) }
  }

  /// Runs the only method, or forward. Inputs and outputs are copied.
  public func run(_ inputs: Tensor...) throws -> [Value] {
    try run(inputs.map { .tensor($0) })
  }

  /// Runs a method: nil is the only one, or forward. Numbers may be given where the program lets
  /// them vary; those that it fixed must not be changed.
  public func run(_ inputs: [Value], method: String? = nil) throws -> [Value] {
    try lock.withLock {
      let method = try name(method)
      let declared = try infos(method, ofInputs: true)
      guard inputs.count == declared.count else {
        throw TaperError.invalid(
          "\(method) has \(declared.count) inputs, given \(inputs.count)")
      }
      for (index, input) in inputs.enumerated() {
        try set(input, as: declared[index], method, index)
      }
      try check { taper_run(handle, method, $0) }
      let results = try infos(method, ofInputs: false)
      return try results.indices.map { try output(method, $0, results[$0]) }
    }
  }

  /// Sets the model's state back to the saved values.
  public func reset() throws {
    try lock.withLock { try check { taper_reset_state(handle, $0) } }
  }

  // Calls `open` with the options for C, then reads the names of the methods.
  private func open(
    _ options: Options,
    _ open: (UnsafePointer<taper_options>, UnsafeMutablePointer<taper_error>) -> taper_code
  ) throws {
    var backends: [OpaquePointer?] = []
    for backend in options.backends {
      try check { error in
        backends.append(taper_find_backend(backend, error))
        return backends.last! == nil ? error.pointee.code : Int32(TAPER_OK)
      }
    }
    var key = taper_public_key()
    if let pem = options.publicKey { try check { taper_read_public_key(pem, &key, $0) } }
    let data = options.data.map { strdup($0)! }
    defer { free(data) }
    var native = taper_options()
    native.struct_size = MemoryLayout<taper_options>.size
    native.kernels = taper_fast_kernels()
    native.max_memory_bytes = options.maxMemory
    native.data_path = UnsafePointer(data)
    native.threads = UInt32(clamping: options.threads)
    native.parallel_for = { _, count, task, data in
      DispatchQueue.concurrentPerform(iterations: count) { task!(data, $0) }
    }
    native.backend_count = backends.count
    try backends.withUnsafeBufferPointer { list in
      native.backends = list.baseAddress
      try withUnsafeMutablePointer(to: &key) { key in
        if options.publicKey != nil {
          native.check_file = taper_signed_by
          native.check_context = UnsafeMutableRawPointer(key)
        }
        try check { open(&native, $0) }
      }
    }
    methods = try names()
    // A program's only method is loaded at once, so that what it lacks is known at once.
    if methods.count == 1 { try check { taper_load_method(handle, methods[0], $0) } }
  }

  private func names() throws -> [String] {
    var count = 0
    try check { taper_method_count(handle, &count, $0) }
    return try (0..<count).map { index in
      var name: UnsafePointer<CChar>?
      try check { taper_method_name(handle, index, &name, $0) }
      return String(cString: name!)
    }
  }

  private func name(_ method: String?) throws -> String {
    if let method = method { return method }
    return methods.count == 1 ? methods[0] : "forward"
  }

  private func infos(_ method: String, ofInputs: Bool) throws -> [ValueInfo] {
    var counts = taper_method_info()
    try check { taper_describe_method(handle, method, &counts, $0) }
    return try (0..<(ofInputs ? counts.inputs : counts.outputs)).map { index in
      var info = taper_value_info()
      try check {
        ofInputs
          ? taper_describe_input(handle, method, index, &info, $0)
          : taper_describe_output(handle, method, index, &info, $0)
      }
      return ValueInfo(info)
    }
  }

  private func set(_ input: Value, as info: ValueInfo, _ method: String, _ index: Int) throws {
    var value = taper_value()
    switch input {
    case .tensor(let tensor):
      value.kind = Int32(TAPER_TENSOR)
      value.dtype = tensor.dtype.number
      value.set(shape: tensor.shape)
      var bytes = tensor.bytes
      // A tensor of another rank is refused below.
      if info.order.count == tensor.shape.count {
        bytes = tensor.bytes.withUnsafeBytes {
          Tensor.reordered(
            $0, shape: tensor.shape, item: tensor.dtype.size,
            from: Array(tensor.shape.indices), to: info.order)
        }
      }
      value.bytes = bytes.count
      if bytes.isEmpty { bytes = [0] }  // So that there is an address.
      try bytes.withUnsafeBytes { data in
        value.data = data.baseAddress
        try check { taper_set_input(handle, method, index, &value, $0) }
      }
      return
    case .int(let number):
      value.kind = Int32(TAPER_INT)
      value.integer = number
    case .double(let number):
      value.kind = Int32(TAPER_DOUBLE)
      value.number = number
    case .bool(let flag):
      value.kind = Int32(TAPER_BOOL)
      value.integer = flag ? 1 : 0
    case .string, .none:
      return  // Fixed by export.
    }
    try check { taper_set_input(handle, method, index, &value, $0) }
  }

  private func output(_ method: String, _ index: Int, _ info: ValueInfo) throws -> Value {
    var value = taper_value()
    try check { taper_get_output(handle, method, index, &value, $0) }
    let count = value.data == nil ? 0 : value.bytes
    let bytes = UnsafeRawBufferPointer(start: value.data, count: count)
    switch ValueInfo.Kind(rawValue: value.kind) ?? .none {
    case .tensor:
      let shape = value.shape, dtype = DType(number: value.dtype)
      let order = Array(shape.indices)
      let rows = Tensor.reordered(
        bytes, shape: shape, item: dtype.size,
        from: info.order.count == shape.count ? info.order : order, to: order)
      return .tensor(try Tensor(bytes: rows, shape: shape, dtype: dtype))
    case .string: return .string(text(bytes))
    case .double: return .double(value.number)
    case .int: return .int(value.integer)
    case .bool: return .bool(value.integer != 0)
    case .none: return .none
    }
  }
}
