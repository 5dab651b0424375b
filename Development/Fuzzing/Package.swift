// swift-tools-version: 6.2
import PackageDescription

/// libFuzzer targets for Holdfast, built and run by `scripts/fuzz`; see CONTRIBUTING.md.
let package = Package(
    name: "holdfast-fuzzing",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "holdfast", path: "../..", traits: [])],
    targets: [
        .executableTarget(
            name: "holdfast-fuzz",
            dependencies: [
                .product(name: "Holdfast", package: "holdfast"),
                .product(name: "HoldfastCompatibility", package: "holdfast"),
                .product(name: "HoldfastTUF", package: "holdfast"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .unsafeFlags(["-parse-as-library"])])
    ]
)
