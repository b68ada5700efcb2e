// Every committed model against PyTorch's numbers, and misuse. TAPER_ROOT is the source tree,
// TAPER_PROGRAMS what bindings/programs.py wrote.

import Foundation
import Taper
import XCTest

final class ModelTests: XCTestCase {
  private let root = ProcessInfo.processInfo.environment["TAPER_ROOT"]!
  private let programs = ProcessInfo.processInfo.environment["TAPER_PROGRAMS"]!
  private var data: String { root + "/test/models/data/" }

  private func open(_ name: String, _ options: Options = Options()) throws -> Model {
    try Model(path: programs + "/" + name, options)
  }

  /// Runs `body`, which must fail, and returns what it says.
  private func failure(_ body: () throws -> Void) -> TaperError? {
    do {
      try body()
      XCTFail("this does not fail as it should")
    } catch let error as TaperError {
      return error
    } catch {
      XCTFail("this fails otherwise than it should: \(error)")
    }
    return nil
  }

  // --- Numbers

  private func compare(_ got: Tensor, _ path: String, factor: Double, _ what: String) throws {
    let wanted = try Npy(path).tensor
    let (a, b) = try (numbers(got), numbers(wanted))
    XCTAssertEqual(got.shape, wanted.shape, what)
    guard a.count == b.count else { return XCTFail(what) }
    let inexact: [DType] = [.float16, .bfloat16, .float32, .float64, .complex64, .complex128]
    let isExact = !inexact.contains(wanted.dtype)
    let largest = b.filter(\.isFinite).map(abs).max() ?? 0
    let limit = isExact ? 0 : 1e-4 * factor * max(1, largest)
    for (x, y) in zip(a, b) where !(x == y || (x.isNaN && y.isNaN)) {
      guard abs(x - y) <= limit else { return XCTFail("\(what): \(x) instead of \(y)") }
    }
  }

  private func run(_ words: [String], _ options: Options) throws {
    let (name, stem) = (words[0], words[1].replacingOccurrences(of: ".pt2", with: ""))
    let (inputs, outputs, steps) = (Int(words[2])!, Int(words[3])!, Int(words[4])!)
    let factor = words.count > 5 ? Double(words[5])! : 1
    let model = try open(stem + ".pte", options)
    let declared = try model.inputs()
    for step in Array(0..<steps) + (steps > 1 ? [0] : []) {
      if steps > 1 && step == 0 { try model.reset() }
      let prefix = data + name + (steps > 1 ? ".step\(step)" : "")
      var tensors = try (0..<inputs).map { try Npy("\(prefix).in\($0).npy").tensor }
      let given = declared.map { $0.kind == .tensor ? .tensor(tensors.removeFirst()) : Value.none }
      let results = try model.run(given).compactMap { try? $0.tensor() }
      XCTAssertEqual(results.count, outputs, stem)
      for (k, result) in results.enumerated() {
        try compare(result, "\(prefix).out\(k).npy", factor: factor, "\(name) of \(stem), \(k)")
      }
    }
  }

  private func runAll(_ options: Options) throws {
    let index = try String(contentsOfFile: data + "models.txt", encoding: .utf8)
    let lines = index.split(separator: "\n").filter { !$0.hasPrefix("#") }
    XCTAssertGreaterThan(lines.count, 100)
    for line in lines {
      let words = line.split(separator: " ").map(String.init)
      do { try run(words, options) } catch { XCTFail("\(line): \(error)") }
    }
  }

  func testModelsGivePyTorchsNumbers() throws { try runAll(Options()) }

  func testModelsGivePyTorchsNumbersOnTwoThreads() throws { try runAll(Options(threads: 2)) }

  func testADelegateGivesPyTorchsNumbers() throws {
    let model = try open("delegated.pte", Options(backends: ["xnnpack"]))
    let result = try model.run(Npy(data + "mobilenet_v2.in0.npy").tensor)[0].tensor()
    try compare(result, data + "mobilenet_v2.out0.npy", factor: 1, "mobilenet_v2")
  }

  func testBytesAndWeightsOutside() throws {
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: programs + "/add.pte")))
    let model = try Model(bytes: bytes)
    let one = try Tensor([Float](repeating: 1, count: 8), shape: [2, 4])
    XCTAssertEqual(try model.inputs().map(\.dtype), [.float32, .float32])
    XCTAssertFalse(try model.run(one, one).isEmpty)
    let outside = try open("outside.pte", Options(data: programs + "/outside.ptd"))
    let result = try outside.run(Npy(data + "mobilenet_v2.in0.npy").tensor)[0].tensor()
    try compare(result, data + "mobilenet_v2.out0.npy", factor: 1, "outside")
  }

  func testSeveralMethodsAndThreads() throws {
    let model = try open("two.pte")
    XCTAssertEqual(model.methods.sorted(), ["encode", "sum"])
    let inputs = try (0..<2).map { Value.tensor(try Npy(data + "add.in\($0).npy").tensor) }
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      do {
        let result = try model.run(inputs, method: "sum")[0].tensor()
        try compare(result, data + "add.out0.npy", factor: 1, "sum")
      } catch { XCTFail("\(error)") }
    }
    XCTAssertEqual(failure { _ = try model.run(inputs, method: "none") }?.code, "NotFound")
  }

  // --- Misuse

  func testBrokenFilesAreRefusedWithTheCommandLinesText() throws {
    struct Broken: Decodable { let file, text: String }
    let list = try JSONDecoder().decode(
      [Broken].self, from: Data(contentsOf: URL(fileURLWithPath: programs + "/broken.json")))
    XCTAssertGreaterThan(list.count, 5)
    for each in list {
      let said = failure { _ = try open(each.file) }?.message ?? ""
      XCTAssertTrue(said.hasPrefix(each.text), "\(each.file): \(said), not \(each.text)")
    }
    XCTAssertEqual(failure { _ = try Model(bytes: []) }?.code, "InvalidProgram")
    XCTAssertEqual(failure { _ = try open("missing.pte") }?.code, "NotFound")
  }

  func testWrongInputsAreNamed() throws {
    let model = try open("add.pte")
    let good = try Npy(data + "add.in0.npy").tensor
    let ints = try Tensor([Int64](repeating: 1, count: 8), shape: [2, 4])
    let flat = try Tensor([Float](repeating: 1, count: 8), shape: [8])
    XCTAssertEqual(failure { _ = try model.run(good) }?.code, "InvalidArgument")
    XCTAssertEqual(failure { _ = try model.run(good, ints) }?.code, "InvalidType")
    XCTAssertTrue(failure { _ = try model.run(good, flat) }!.message.contains("input 1"))
    XCTAssertEqual(failure { _ = try model.run([.tensor(good), 3]) }?.code, "InvalidType")
    XCTAssertEqual(failure { _ = try good.elements(as: Int64.self) }?.code, "InvalidType")
    XCTAssertEqual(failure { _ = try Tensor([Float(1)], shape: [2]) }?.code, "InvalidArgument")
    XCTAssertEqual(failure { _ = try Tensor([Float](), shape: [-1]) }?.code, "InvalidArgument")
    XCTAssertEqual(
      failure { _ = try Tensor([Float](), shape: [Int.max, Int.max]) }?.code, "InvalidArgument")
    XCTAssertNoThrow(try model.run(good, good))
  }

  func testABackendOrAKeyThatIsMissingIsNamed() throws {
    XCTAssertTrue(
      failure { _ = try open("add.pte", Options(backends: ["none"])) }!.message.contains("none"))
    XCTAssertTrue(failure { _ = try open("delegated.pte") }!.message.contains("Xnnpack"))
    let key = try String(contentsOfFile: programs + "/key.pub.pem", encoding: .utf8)
    XCTAssertNoThrow(try open("signed.pte", Options(publicKey: key)))
    XCTAssertEqual(
      failure { _ = try open("add.pte", Options(publicKey: key)) }?.code, "AccessFailed")
    XCTAssertEqual(
      failure { _ = try open("add.pte", Options(publicKey: "no key")) }?.code, "InvalidArgument")
  }
}
