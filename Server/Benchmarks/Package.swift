// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
]

/// A separate package, like the benchmarks of the main package. It fills databases with data that take people days, so
/// it imports the server as tests do: `scripts/measure server` builds it with `-enable-testing`.
let package = Package(
    name: "holdfast-server-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "holdfast", path: "../..", traits: ["Services"]),
        .package(name: "holdfast-server", path: ".."),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    ],
    targets: [
        .executableTarget(
            name: "server-ratios",
            dependencies: [
                .product(name: "HoldfastServer", package: "holdfast-server"),
                .product(name: "Holdfast", package: "holdfast"),
                .product(name: "HoldfastPublishing", package: "holdfast"),
                .product(name: "HoldfastTesting", package: "holdfast"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: strict)
    ]
)
