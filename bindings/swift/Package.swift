// swift-tools-version:5.9
// Taper for Swift, over the C API of libtaper: that of CTaper.xcframework, which
// scripts/xcframework.sh builds on a Mac; where it is not there, of a libtaper that pkg-config finds.

import Foundation
import PackageDescription

let framework = "CTaper.xcframework"
let isThere = FileManager.default.fileExists(atPath: "\(Context.packageDirectory)/\(framework)")

let package = Package(
  name: "Taper",
  platforms: [.iOS(.v15), .macOS(.v12)],
  products: [.library(name: "Taper", targets: ["Taper"])],
  targets: [
    isThere
      ? .binaryTarget(name: "CTaper", path: framework)
      : .systemLibrary(name: "CTaper", path: "c_api", pkgConfig: "taper"),
    .target(name: "Taper", dependencies: ["CTaper"], path: "taper"),
    .testTarget(name: "TaperTests", dependencies: ["Taper"], path: "tests"),
  ]
)
