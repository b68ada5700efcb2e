// Shows an image and what the model says of it: first the one of the resources, then chosen ones.

#if canImport(SwiftUI) && canImport(UIKit)
  import PhotosUI
  import SwiftUI

  public struct ClassifierView: View {
    @State private var image: UIImage?
    @State private var choice: PhotosPickerItem?
    @State private var answers: [Answer] = []
    @State private var note = ""
    // Loaded once, when it is first needed.
    private static let classifier = Result<Classifier, Error> {
      let labels = try String(contentsOf: resource("labels.txt"), encoding: .utf8)
      return try Classifier(path: resource("model.pte").path, labels: labels)
    }

    public init() {}

    public var body: some View {
      VStack(spacing: 16) {
        if let image { Image(uiImage: image).resizable().scaledToFit() }
        ForEach(answers.prefix(3)) { answer in
          HStack {
            Text(answer.label)
            Spacer()
            Text("\(100 * answer.probability, specifier: "%.1f") %").monospacedDigit()
          }
        }
        Text(note).font(.footnote)
        PhotosPicker("Choose an image", selection: $choice, matching: .images)
      }
      .padding()
      .task { await show(try? Data(contentsOf: Self.resource("digit.png"))) }
      .task(id: choice) {
        if let choice { await show(try? await choice.loadTransferable(type: Data.self)) }
      }
    }

    private static func resource(_ name: String) -> URL {
      Bundle.module.bundleURL.appendingPathComponent("resources/\(name)")
    }

    @MainActor private func show(_ data: Data?) async {
      answers = []
      guard let data, let image = UIImage(data: data) else {
        note = "this is not an image"
        return
      }
      self.image = image
      do {
        let classifier = try Self.classifier.get()
        let pixels = image.pixels(width: classifier.width, height: classifier.height)
        // Not on the thread of the screen, which must never wait for the model.
        (answers, note) = try await Task.detached {
          let start = ContinuousClock.now
          let answers = try classifier.classify(pixels)
          let time = (ContinuousClock.now - start) / .milliseconds(1)
          return (answers, String(format: "%.2f ms", time))
        }.value
      } catch {
        note = "\(error)"
      }
    }
  }

  extension UIImage {
    /// Red, green, blue and a byte without meaning for each pixel of the image at that size.
    fileprivate func pixels(width: Int, height: Int) -> [UInt8] {
      var pixels = [UInt8](repeating: 0, count: 4 * width * height)
      pixels.withUnsafeMutableBytes { bytes in
        guard
          let context = CGContext(
            data: bytes.baseAddress, width: width, height: height, bitsPerComponent: 8,
            bytesPerRow: 4 * width, space: CGColorSpaceCreateDeviceRGB(),
            bitmapInfo: CGImageAlphaInfo.noneSkipLast.rawValue)
        else { return }
        context.interpolationQuality = .high
        // A UIImage draws itself upright; a context of its own counts rows from below.
        UIGraphicsPushContext(context)
        context.translateBy(x: 0, y: CGFloat(height))
        context.scaleBy(x: 1, y: -1)
        draw(in: CGRect(x: 0, y: 0, width: width, height: height))
        UIGraphicsPopContext()
      }
      return pixels
    }
  }
#endif
