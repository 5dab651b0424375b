// swift-tools-version: 6.2
import PackageDescription

let warningsAreErrors = Context.environment["HOLDFAST_WARNINGS_AS_ERRORS"] == "1"

let settings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ] + (warningsAreErrors ? [.treatAllWarnings(as: .error)] : [])

func holdfast(_ product: String) -> Target.Dependency { .product(name: product, package: "holdfast") }
let nioCore: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let nioPosix: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio")
let nioSSL: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")
let asyncHTTPClient: Target.Dependency = .product(name: "AsyncHTTPClient", package: "async-http-client")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let serviceLifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let unixSignals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")
let metrics: Target.Dependency = .product(name: "Metrics", package: "swift-metrics")

let package = Package(
    name: "holdfast-examples",
    platforms: [.macOS(.v13)],
    dependencies: [
        // In your own package:
        // .package(url: "https://github.com/OWNER/holdfast", from: "0.1.0", traits: ["Services"])
        .package(name: "holdfast", path: "..", traits: ["Services"]),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/swift-server/async-http-client", .upToNextMinor(from: "1.37.0")),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .executableTarget(
            name: "PinnedFetch",
            dependencies: [holdfast("Holdfast"), holdfast("HoldfastAsyncHTTPClient"), asyncHTTPClient, nioCore],
            swiftSettings: settings),
        .executableTarget(
            name: "PinnedLine",
            dependencies: [holdfast("Holdfast"), holdfast("HoldfastNIO"), nioCore, nioPosix],
            swiftSettings: settings),
        .executableTarget(
            name: "DeviceServer",
            dependencies: [holdfast("Holdfast"), holdfast("HoldfastNIO"), nioCore, nioPosix, nioSSL],
            swiftSettings: settings),
        .executableTarget(
            name: "PinKeeper",
            dependencies: [
                holdfast("Holdfast"), holdfast("HoldfastAsyncHTTPClient"), holdfast("HoldfastMetrics"),
                asyncHTTPClient, logging, metrics, nioCore, serviceLifecycle, unixSignals,
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "PinFileOnBothEnds",
            dependencies: [holdfast("Holdfast"), holdfast("HoldfastNIO"), nioCore, nioPosix, nioSSL],
            swiftSettings: settings),
        .executableTarget(
            name: "PinsFromRepository",
            dependencies: [
                holdfast("Holdfast"), holdfast("HoldfastAsyncHTTPClient"), holdfast("HoldfastTUF"), asyncHTTPClient,
                logging, nioCore,
            ],
            swiftSettings: settings),
        // A library: what another package can write with the public surface alone.
        .target(
            name: "OwnParts", dependencies: [holdfast("Holdfast")], swiftSettings: settings),
        .testTarget(
            name: "ExamplesTests",
            dependencies: [
                "OwnParts", "PinnedFetch", "PinnedLine", "DeviceServer", "PinKeeper", "PinFileOnBothEnds",
                "PinsFromRepository",
                holdfast("Holdfast"), holdfast("HoldfastNIO"), holdfast("HoldfastAsyncHTTPClient"),
                holdfast("HoldfastMetrics"), holdfast("HoldfastPublishing"), holdfast("HoldfastTUF"),
                holdfast("HoldfastTesting"), nioCore, nioPosix, nioSSL, logging, serviceLifecycle,
                .product(name: "MetricsTestKit", package: "swift-metrics"),
            ],
            swiftSettings: settings),
    ]
)
