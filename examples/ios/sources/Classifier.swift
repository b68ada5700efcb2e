// A model that says what is in an image: its input is float32 (1, channels, height, width) from 0
// to 1, with one channel for grey or three for red, green and blue; its output has a score for each
// label. There is nothing of iOS in it, so that it is tested on a desktop.

import Foundation
import Taper

public struct Answer: Identifiable {
  public let label: String
  /// How probable the model holds it.
  public let probability: Float
  public var id: String { label }
}

public struct ClassifierError: Error, CustomStringConvertible {
  public let description: String
}

public final class Classifier {
  public let width, height: Int
  private let channels: Int
  private let labels: [String]
  private let model: Model

  /// A program with a label on each line of a text, in the order of its scores.
  public init(path: String, labels: String) throws {
    model = try Model(path: path, Options(threads: 2))
    let shape = try model.inputs().first?.shape ?? []
    guard shape.count == 4, shape[0] == 1, shape[1] == 1 || shape[1] == 3 else {
      throw ClassifierError(description: "the model does not take one image")
    }
    (channels, height, width) = (shape[1], shape[2], shape[3])
    self.labels = labels.split(separator: "\n").map(String.init)
  }

  /// The answers for an image of width x height pixels, the best one first. A pixel is four bytes:
  /// red, green, blue, and one that is ignored.
  public func classify(_ pixels: [UInt8]) throws -> [Answer] {
    guard pixels.count == 4 * width * height else {
      throw ClassifierError(
        description: "\(pixels.count) bytes are not \(width) x \(height) pixels")
    }
    let image = try Tensor(planes(of: pixels), shape: [1, channels, height, width])
    let scores = try model.run(image)[0].tensor().elements(as: Float.self)
    guard scores.count == labels.count else {
      throw ClassifierError(description: "\(scores.count) scores for \(labels.count) labels")
    }
    let powers = scores.map { exp($0 - scores.max()!) }
    let sum = powers.reduce(0, +)
    return zip(labels, powers).map { Answer(label: $0, probability: $1 / sum) }
      .sorted { $0.probability > $1.probability }
  }

  // One plane for each channel, with values from 0 to 1.
  private func planes(of pixels: [UInt8]) -> [Float] {
    let colours = (0..<3).map { colour in
      stride(from: colour, to: pixels.count, by: 4).map { Float(pixels[$0]) / 255 }
    }
    guard channels == 1 else { return colours.flatMap { $0 } }
    return colours[0].indices.map {
      0.299 * colours[0][$0] + 0.587 * colours[1][$0] + 0.114 * colours[2][$0]
    }
  }
}
