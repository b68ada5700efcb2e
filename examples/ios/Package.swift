// swift-tools-version:5.9
// An image classifier: its screen and its model, for an application and for tests.

import PackageDescription

let package = Package(
  name: "Classifier",
  platforms: [.iOS(.v16), .macOS(.v13)],
  products: [.library(name: "Classifier", targets: ["Classifier"])],
  dependencies: [.package(path: "../../bindings/swift")],
  targets: [
    .target(
      name: "Classifier", dependencies: [.product(name: "Taper", package: "swift")],
      path: "sources", resources: [.copy("resources")]),
    .testTarget(name: "ClassifierTests", dependencies: ["Classifier"], path: "tests"),
  ]
)
