// The example's half without iOS, on the digits of demo/ with what PyTorch computes for them.
// TAPER_ROOT is the source tree, TAPER_PROGRAMS what bindings/programs.py wrote.

import Classifier
import Foundation
import XCTest

final class ClassifierTests: XCTestCase {
  private let side = 8
  private let root = ProcessInfo.processInfo.environment["TAPER_ROOT"]!
  private let programs = ProcessInfo.processInfo.environment["TAPER_PROGRAMS"]!

  private func floats(_ name: String) throws -> [Float] {
    let data = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(root)/demo/\(name)")))
    let start = 10 + Int(data[8]) + Int(data[9]) << 8  // Behind the header.
    return data[start...].withUnsafeBytes { bytes in
      (0..<(bytes.count / 4)).map { bytes.loadUnaligned(fromByteOffset: 4 * $0, as: Float.self) }
    }
  }

  private func labels() throws -> String {
    let path = "\(root)/examples/ios/sources/resources/labels.txt"
    return try String(contentsOfFile: path, encoding: .utf8)
  }

  private func assertRefused(_ text: String, _ call: () throws -> Void) {
    XCTAssertThrowsError(try call()) { XCTAssertEqual("\($0)", text) }
  }

  func testSaysWhatPyTorchSays() throws {
    let (images, logits) = try (floats("digits_images.npy"), floats("digits_logits.npy"))
    let names = try labels().split(separator: "\n").map(String.init)
    let classifier = try Classifier(path: "\(programs)/digits.pte", labels: labels())
    XCTAssertEqual([classifier.width, classifier.height], [side, side])
    let count = logits.count / names.count
    XCTAssertEqual(images.count, count * side * side)
    for i in 0..<count {
      let pixels = images[(i * side * side)..<((i + 1) * side * side)].flatMap { ink in
        [UInt8](repeating: UInt8((255 * ink).rounded()), count: 3) + [0]
      }
      let scores = Array(logits[(i * names.count)..<((i + 1) * names.count)])
      let best = scores.indices.max { scores[$0] < scores[$1] }!
      let probability = exp(scores[best]) / scores.map(exp).reduce(0, +)
      let first = try classifier.classify(pixels)[0]
      XCTAssertEqual(first.label, names[best], "image \(i)")
      // A pixel has 256 values here, and more in the arrays.
      XCTAssertEqual(first.probability, probability, accuracy: 0.01, "image \(i)")
    }
  }

  func testRefusesWhatDoesNotFit() throws {
    let classifier = try Classifier(path: "\(programs)/digits.pte", labels: "yes\nno\n")
    let pixels = [UInt8](repeating: 0, count: 4 * side * side)
    assertRefused("10 scores for 2 labels") { _ = try classifier.classify(pixels) }
    assertRefused("4 bytes are not 8 x 8 pixels") { _ = try classifier.classify([0, 0, 0, 0]) }
    assertRefused("the model does not take one image") {
      _ = try Classifier(path: "\(programs)/add.pte", labels: labels())
    }
  }
}
