// swift-tools-version:5.9
// Taper for Swift, over the C API of libtaper, which pkg-config finds.

import PackageDescription

let package = Package(
  name: "Taper",
  platforms: [.iOS(.v15), .macOS(.v12)],
  products: [.library(name: "Taper", targets: ["Taper"])],
  targets: [
    .systemLibrary(name: "CTaper", path: "c_api", pkgConfig: "taper"),
    .target(name: "Taper", dependencies: ["CTaper"], path: "taper"),
    .testTarget(name: "TaperTests", dependencies: ["Taper"], path: "tests"),
  ]
)
