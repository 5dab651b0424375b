// swift-tools-version: 6.2
import PackageDescription

/// Warnings are errors where .ci/run and scripts/ ask for it. In a package that others depend on it must not be said:
/// Xcode suppresses their warnings, and the two flags exclude each other.
let warningsAreErrors = Context.environment["HOLDFAST_WARNINGS_AS_ERRORS"] == "1"
let warnings: [SwiftSetting] = warningsAreErrors ? [.treatAllWarnings(as: .error)] : []

let strict: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .strictMemorySafety(),
    ] + warnings + [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .enableUpcomingFeature("InferIsolatedConformances"),
    ]

/// Published samples use deprecated spellings on purpose: there, and only there, deprecation stays a warning.
let published: [SwiftSetting] =
    strict + (warningsAreErrors ? [.treatWarning("DeprecatedDeclaration", as: .warning)] : [])

/// An app fetches only swift-crypto, swift-asn1 and swift-log, because the trait `Services`, which fetches the rest, is
/// on by default in a clone and off in a dependency. SwiftPM reads the manifest of a dependency at `/` while it
/// resolves versions and in a folder directly below `checkouts` afterwards; a clone there needs `--traits Services`.
let folder = Context.packageDirectory.split(separator: "/")
let isDependency = folder.isEmpty || folder.dropLast().last == "checkouts"

let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let cryptoExtras: Target.Dependency = .product(name: "CryptoExtras", package: "swift-crypto")
/// On Apple's systems SecKey verifies RSA: CryptoExtras would link BoringSSL into every application there.
let cryptoExtrasElsewhere: Target.Dependency = .product(
    name: "CryptoExtras", package: "swift-crypto",
    condition: .when(platforms: [.linux, .android, .windows, .wasi, .openbsd]))
let asn1: Target.Dependency = .product(name: "SwiftASN1", package: "swift-asn1")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")

/// Fetched only where the trait is on.
func services(_ product: String, from package: String) -> Target.Dependency {
    .product(name: product, package: package, condition: .when(traits: ["Services"]))
}
let nioCore = services("NIOCore", from: "swift-nio")
let nioPosix = services("NIOPosix", from: "swift-nio")
let nioEmbedded = services("NIOEmbedded", from: "swift-nio")
let nioTLS = services("NIOTLS", from: "swift-nio")
let nioHTTP1 = services("NIOHTTP1", from: "swift-nio")
let nioSSL = services("NIOSSL", from: "swift-nio-ssl")
let nioHTTP2 = services("NIOHTTP2", from: "swift-nio-http2")
let nioHPACK = services("NIOHPACK", from: "swift-nio-http2")
let asyncHTTPClient = services("AsyncHTTPClient", from: "async-http-client")
/// Makes stores services.
let serviceLifecycle = services("ServiceLifecycle", from: "swift-service-lifecycle")
/// Counts in a backend of the application's.
let metrics = services("CoreMetrics", from: "swift-metrics")
let metricsTestKit = services("MetricsTestKit", from: "swift-metrics")
let argumentParser = services("ArgumentParser", from: "swift-argument-parser")

/// The same for PowerAuth, which is there for these systems alone.
let powerAuth: [Target.Dependency] = ["PowerAuth2", "PowerAuthCore"].map {
    .product(
        name: $0, package: "powerauth-mobile-sdk-spm",
        condition: .when(platforms: [.iOS, .macCatalyst, .tvOS], traits: ["PowerAuth"]))
}

// Only Apple's systems read it; elsewhere a resource would only make a bundle to carry about.
#if canImport(Darwin)
let privacyManifest: [Resource] = [.copy("Apple/PrivacyInfo.xcprivacy")]
let withoutPrivacyManifest: [String] = []
#else
let privacyManifest: [Resource] = []
let withoutPrivacyManifest = ["Apple/PrivacyInfo.xcprivacy"]
#endif

/// Programs that load neither libcurl nor the thirty libraries behind it: scripts/release and scripts/install build them.
/// HoldfastReports, whose default sender is URLSession's, is in none of them, and cannot be built so.
let withoutURLSession: [SwiftSetting] =
    Context.environment["HOLDFAST_WITHOUT_URLSESSION"] == "1"
    ? [.define("HOLDFAST_WITHOUT_URLSESSION", .when(platforms: [.linux, .android, .openbsd]))] : []

let package = Package(
    name: "holdfast",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    // No program is among them: Xcode would offer it to apps. `swift run` and `swift build --product` find it without.
    products: [
        .library(name: "Holdfast", targets: ["Holdfast"]),
        // Within Holdfast it would add 1.6 MB to every app: docs/performance.md, "Size".
        .library(name: "HoldfastTUF", targets: ["HoldfastTUF"]),
        .library(name: "HoldfastReports", targets: ["HoldfastReports"]),
        .library(name: "HoldfastCompatibility", targets: ["HoldfastCompatibility"]),
        .library(name: "HoldfastPowerAuth", targets: ["HoldfastPowerAuth"]),
        .library(name: "HoldfastNIO", targets: ["HoldfastNIO"]),
        .library(
            name: "HoldfastAsyncHTTPClient", targets: ["HoldfastAsyncHTTPClient", "HoldfastReportsAsyncHTTPClient"]),
        .library(name: "HoldfastMetrics", targets: ["HoldfastMetrics"]),
        .library(name: "HoldfastPublishing", targets: ["HoldfastPublishing", "HoldfastSigning", "HoldfastProbe"]),
        .library(name: "HoldfastTesting", targets: ["HoldfastTesting", "HoldfastNIOTesting"]),
    ],
    traits: [
        .default(enabledTraits: isDependency ? [] : ["Services"]),
        .trait(
            name: "Services",
            description: "Fetches SwiftNIO, AsyncHTTPClient, ServiceLifecycle, metrics and ArgumentParser"),
        .trait(name: "PowerAuth", description: "Fetches PowerAuth2, for HoldfastPowerAuth"),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        // HoldfastAsyncHTTPClient stands on what 1.37 does and does not promise: the handlers of its pipelines and their
        // order (ConnectionGuard, RequestGuard), what its debug initializers' failures do to the pool (ConnectionGate),
        // what it stops the process for (FrameGuard, RequestGuard), and the errors of a client that has ended
        // (PinnedHTTPClient.isOfEndedClient). A new minor version is tried with the tests first.
        .package(url: "https://github.com/swift-server/async-http-client", .upToNextMinor(from: "1.37.0")),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.44.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/wultra/powerauth-mobile-sdk-spm", from: "1.9.0"),
    ],
    targets: [
        .target(
            name: "Holdfast", dependencies: [crypto, cryptoExtrasElsewhere, logging, serviceLifecycle],
            exclude: withoutPrivacyManifest,
            resources: privacyManifest, swiftSettings: strict + withoutURLSession),
        .target(name: "CHoldfastCompatibility"),
        .target(
            name: "HoldfastCompatibility",
            dependencies: [
                "Holdfast", logging,
                // What Objective-C is told in C.
                .target(
                    name: "CHoldfastCompatibility",
                    condition: .when(platforms: [.macOS, .macCatalyst, .iOS, .tvOS, .watchOS, .visionOS])),
            ],
            swiftSettings: strict),
        .target(
            name: "HoldfastPowerAuth", dependencies: ["Holdfast", "HoldfastCompatibility"] + powerAuth,
            swiftSettings: strict),
        .target(
            name: "HoldfastNIO", dependencies: ["Holdfast", nioCore, nioPosix, nioTLS, nioSSL], swiftSettings: strict),
        .target(
            name: "HoldfastAsyncHTTPClient",
            dependencies: [
                "Holdfast", "HoldfastNIO", asyncHTTPClient, crypto, cryptoExtras, nioCore, nioPosix, nioHTTP1, nioHTTP2,
                nioHPACK, nioSSL, logging,
            ],
            swiftSettings: strict),
        .target(
            name: "HoldfastSigning", dependencies: ["Holdfast", "HoldfastTUF", crypto, cryptoExtras, asn1],
            swiftSettings: strict),
        .target(
            name: "HoldfastProbe",
            dependencies: [
                "Holdfast", "HoldfastNIO", "HoldfastAsyncHTTPClient", asyncHTTPClient, nioCore, nioPosix, nioSSL,
                logging,
            ],
            swiftSettings: strict),
        .target(
            name: "HoldfastPublishing",
            dependencies: [
                "Holdfast", "HoldfastSigning", "HoldfastTUF", "HoldfastOutput", crypto, cryptoExtras, asn1, logging,
            ],
            swiftSettings: strict),
        .target(
            name: "HoldfastTUF", dependencies: ["Holdfast", crypto, logging, serviceLifecycle], swiftSettings: strict),
        .target(
            name: "HoldfastMetrics", dependencies: ["Holdfast", metrics], swiftSettings: strict),
        .target(
            name: "HoldfastReports", dependencies: ["Holdfast"], exclude: withoutPrivacyManifest,
            resources: privacyManifest, swiftSettings: strict),
        .target(
            name: "HoldfastReportsAsyncHTTPClient",
            dependencies: [
                "Holdfast", "HoldfastAsyncHTTPClient", "HoldfastReports", asyncHTTPClient, nioCore, nioPosix, nioHTTP1,
            ],
            swiftSettings: strict),
        .target(
            name: "HoldfastTesting", dependencies: ["Holdfast", crypto, cryptoExtras, asn1, logging],
            swiftSettings: strict),
        .target(
            name: "HoldfastNIOTesting",
            dependencies: ["Holdfast", "HoldfastTesting", nioCore, nioPosix, nioTLS, nioHTTP1, nioSSL],
            swiftSettings: strict),
        .executableTarget(
            name: "holdfastctl",
            dependencies: [
                "Holdfast", "HoldfastProbe", "HoldfastPublishing", "HoldfastSigning", "HoldfastTUF", "HoldfastOutput",
                argumentParser,
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "holdfast-demo",
            dependencies: [
                "Holdfast", "HoldfastNIO", "HoldfastAsyncHTTPClient", "HoldfastPublishing", "HoldfastSigning",
                "HoldfastTUF", "HoldfastOutput", "HoldfastTesting", "HoldfastNIOTesting", nioCore, nioPosix, nioSSL,
                logging,
                argumentParser,
            ],
            swiftSettings: strict),
        /// How the package's commands print.
        .target(name: "HoldfastOutput", dependencies: ["Holdfast"], swiftSettings: strict),
        // What tests share, and a program that they start.
        .target(name: "LimboCases", dependencies: ["Holdfast"], path: "Tests/LimboCases", swiftSettings: strict),
        .executableTarget(
            name: "grammar-runner",
            dependencies: [
                "Holdfast", "HoldfastAsyncHTTPClient", "HoldfastTesting", "HoldfastNIOTesting", asyncHTTPClient,
                nioCore, nioPosix, nioTLS, nioHTTP1, nioSSL, argumentParser,
            ],
            path: "Tests/grammar-runner", swiftSettings: strict),
        /// How tests start and find other programs. It has no product.
        .target(
            name: "HoldfastTestSupport", dependencies: ["Holdfast", "HoldfastTesting", "HoldfastNIOTesting", nioSSL],
            path: "Tests/HoldfastTestSupport", swiftSettings: strict),
        /// How a test run goes that is not told otherwise. The tests of all targets run in one process.
        .target(name: "TestRunDefaults", path: "Tests/TestRunDefaults"),
        .testTarget(
            name: "HoldfastTests",
            dependencies: [
                "Holdfast", "HoldfastCompatibility", "HoldfastSigning",
                "HoldfastTestSupport", "HoldfastTesting", "LimboCases",
                "TestRunDefaults",
                crypto, logging, serviceLifecycle,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HoldfastMetricsTests",
            dependencies: [
                "Holdfast", "HoldfastMetrics", "HoldfastPublishing", "HoldfastSigning", "HoldfastTUF",
                "HoldfastTesting",
                metricsTestKit,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HoldfastReportsTests",
            dependencies: [
                "Holdfast", "HoldfastNIO", "HoldfastReports", "HoldfastReportsAsyncHTTPClient", "HoldfastTesting",
                "HoldfastNIOTesting", nioCore, nioPosix, nioHTTP1, nioSSL,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HoldfastNIOTests",
            dependencies: [
                "Holdfast", "HoldfastNIO", "HoldfastAsyncHTTPClient", "HoldfastPublishing", "HoldfastSigning",
                "HoldfastTUF",
                "HoldfastTestSupport", "HoldfastTesting", "HoldfastNIOTesting", nioCore, nioPosix, nioTLS, nioSSL,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HoldfastSigningTests",
            dependencies: [
                "Holdfast", "HoldfastPublishing", "HoldfastSigning",
                "HoldfastTestSupport", "HoldfastTesting", crypto, cryptoExtras,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HoldfastProbeTests",
            dependencies: [
                "Holdfast", "HoldfastProbe",
                "HoldfastTestSupport", "HoldfastTesting", "HoldfastNIOTesting", nioCore, nioPosix, nioSSL,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HoldfastPublishingTests",
            dependencies: [
                "Holdfast", "HoldfastPublishing", "HoldfastSigning", "HoldfastTUF",
                "HoldfastTestSupport", "HoldfastTesting", crypto, nioCore, nioPosix,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HoldfastTUFTests",
            dependencies: [
                "Holdfast", "HoldfastSigning", "HoldfastTUF", "HoldfastTestSupport", "HoldfastTesting", crypto,
            ],
            exclude: ["Support/Python"], swiftSettings: strict),
        .testTarget(
            name: "HoldfastAsyncHTTPClientTests",
            dependencies: [
                "Holdfast", "HoldfastNIO", "HoldfastAsyncHTTPClient", "HoldfastPublishing", "HoldfastSigning",
                "HoldfastTUF", "HoldfastTestSupport", "HoldfastTesting", "HoldfastNIOTesting", "grammar-runner",
                asyncHTTPClient, crypto, nioCore, nioPosix, nioEmbedded, nioTLS, nioHTTP1, nioHTTP2, nioSSL, logging,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "holdfastctlTests",
            dependencies: [
                "holdfastctl", "Holdfast", "HoldfastProbe", "HoldfastPublishing", "HoldfastSigning", "HoldfastTUF",
                "HoldfastOutput",
                "HoldfastTestSupport", "HoldfastTesting", "HoldfastNIOTesting", crypto, nioCore, nioSSL,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HoldfastDemoTests",
            dependencies: [
                "holdfast-demo", "Holdfast", "HoldfastTestSupport", "HoldfastTesting",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "PublishedUsageTests",
            dependencies: [
                "Holdfast", "HoldfastCompatibility", "HoldfastNIO", "HoldfastTesting", "HoldfastNIOTesting", nioCore,
                nioPosix,
            ],
            exclude: ["Corrections.md"], swiftSettings: published),
    ]
)

// They run against Apple's frameworks. Elsewhere scripts/check apple compiles them against stand-ins.
#if canImport(Darwin)
package.targets.append(
    .testTarget(
        name: "HoldfastAppleTests",
        dependencies: ["Holdfast", "HoldfastCompatibility", "HoldfastTesting", "HoldfastNIOTesting"],
        swiftSettings: strict))
#endif
