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

let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let cryptoExtras: Target.Dependency = .product(name: "CryptoExtras", package: "swift-crypto")
/// On Apple's systems SecKey verifies RSA: CryptoExtras would link BoringSSL into every application there.
let cryptoExtrasElsewhere: Target.Dependency = .product(
    name: "CryptoExtras", package: "swift-crypto",
    condition: .when(platforms: [.linux, .android, .windows, .wasi, .openbsd]))
let asn1: Target.Dependency = .product(name: "SwiftASN1", package: "swift-asn1")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
// What only adapters and commands need is fetched only where their traits are on, as they are by default: an app that
// asks for `traits: []` fetches swift-crypto, swift-asn1 and swift-log.
let nioCore: Target.Dependency = .product(
    name: "NIOCore", package: "swift-nio", condition: .when(traits: ["NIO"]))
let nioPosix: Target.Dependency = .product(
    name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["NIO"]))
let nioEmbedded: Target.Dependency = .product(
    name: "NIOEmbedded", package: "swift-nio", condition: .when(traits: ["NIO"]))
let nioTLS: Target.Dependency = .product(
    name: "NIOTLS", package: "swift-nio", condition: .when(traits: ["NIO"]))
let nioHTTP1: Target.Dependency = .product(
    name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["NIO"]))
let nioSSL: Target.Dependency = .product(
    name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["NIO"]))
let nioHTTP2: Target.Dependency = .product(
    name: "NIOHTTP2", package: "swift-nio-http2", condition: .when(traits: ["AsyncHTTPClient"]))
let nioHPACK: Target.Dependency = .product(
    name: "NIOHPACK", package: "swift-nio-http2", condition: .when(traits: ["AsyncHTTPClient"]))
let asyncHTTPClient: Target.Dependency = .product(
    name: "AsyncHTTPClient", package: "async-http-client", condition: .when(traits: ["AsyncHTTPClient"]))
/// Makes stores services, and counts in a backend of the application's.
let serviceLifecycle: Target.Dependency = .product(
    name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["ServiceLifecycle"]))
let metrics: Target.Dependency = .product(
    name: "CoreMetrics", package: "swift-metrics", condition: .when(traits: ["Metrics"]))
let metricsTestKit: Target.Dependency = .product(
    name: "MetricsTestKit", package: "swift-metrics", condition: .when(traits: ["Metrics"]))
let argumentParser: Target.Dependency = .product(
    name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Command"]))

/// Real servers of other projects are built for their tests alone, when a trait asks for them (scripts/check-integrations).
let hummingbird: [Target.Dependency] = [
    .product(name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Hummingbird"])),
    .product(name: "HummingbirdCore", package: "hummingbird", condition: .when(traits: ["Hummingbird"])),
    .product(name: "HummingbirdTLS", package: "hummingbird", condition: .when(traits: ["Hummingbird"])),
]
let grpc: [Target.Dependency] = [
    .product(name: "GRPCCore", package: "grpc-swift-2", condition: .when(traits: ["GRPC"])),
    .product(
        name: "GRPCNIOTransportHTTP2Posix", package: "grpc-swift-nio-transport", condition: .when(traits: ["GRPC"])),
]

/// Fetched only where the trait is on; PowerAuth is there for these systems alone.
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

let package = Package(
    name: "holdfast",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "Holdfast", targets: ["Holdfast"]),
        .library(name: "HoldfastCompatibility", targets: ["HoldfastCompatibility"]),
        .library(name: "HoldfastPowerAuth", targets: ["HoldfastPowerAuth"]),
        .library(name: "HoldfastNIO", targets: ["HoldfastNIO"]),
        .library(name: "HoldfastAsyncHTTPClient", targets: ["HoldfastAsyncHTTPClient"]),
        .library(name: "HoldfastMetrics", targets: ["HoldfastMetrics"]),
        .library(name: "HoldfastReports", targets: ["HoldfastReports"]),
        .library(name: "HoldfastReportsAsyncHTTPClient", targets: ["HoldfastReportsAsyncHTTPClient"]),
        .library(name: "HoldfastSigning", targets: ["HoldfastSigning"]),
        .library(name: "HoldfastProbe", targets: ["HoldfastProbe"]),
        .library(name: "HoldfastPublishing", targets: ["HoldfastPublishing"]),
        .library(name: "HoldfastTUF", targets: ["HoldfastTUF"]),
        .library(name: "HoldfastTesting", targets: ["HoldfastTesting"]),
        .library(name: "HoldfastNIOTesting", targets: ["HoldfastNIOTesting"]),
        .executable(name: "holdfastctl", targets: ["holdfastctl"]),
        .executable(name: "holdfast-demo", targets: ["holdfast-demo"]),
    ],
    traits: [
        .default(enabledTraits: ["AsyncHTTPClient", "Command", "Metrics", "NIO", "ServiceLifecycle"]),
        .trait(name: "NIO", description: "Fetches SwiftNIO, for HoldfastNIO and HoldfastNIOTesting"),
        .trait(
            name: "AsyncHTTPClient",
            description: "Fetches AsyncHTTPClient, for the products named after it and HoldfastProbe",
            enabledTraits: ["NIO"]),
        .trait(
            name: "Command", description: "Fetches ArgumentParser, for commands", enabledTraits: ["AsyncHTTPClient"]),
        .trait(name: "Metrics", description: "Fetches swift-metrics, for HoldfastMetrics"),
        .trait(
            name: "ServiceLifecycle", description: "Fetches swift-service-lifecycle: every store is a Service"),
        .trait(name: "PowerAuth", description: "Fetches PowerAuth2, for HoldfastPowerAuth"),
        .trait(name: "Hummingbird", description: "Builds HoldfastHummingbirdTests against hummingbird"),
        .trait(name: "GRPC", description: "Builds HoldfastGRPCTests against grpc-swift-nio-transport"),
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
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/grpc/grpc-swift-2", from: "2.4.3"),
        .package(url: "https://github.com/grpc/grpc-swift-nio-transport", from: "2.9.2"),
        .package(url: "https://github.com/wultra/powerauth-mobile-sdk-spm", from: "1.9.0"),
    ],
    targets: [
        .target(
            name: "Holdfast", dependencies: [crypto, cryptoExtrasElsewhere, logging, serviceLifecycle],
            exclude: withoutPrivacyManifest,
            resources: privacyManifest, swiftSettings: strict),
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
        .target(name: "LimboCases", dependencies: ["Holdfast"], path: "Tools/LimboCases", swiftSettings: strict),
        .executableTarget(
            name: "limbo-runner", dependencies: ["Holdfast", "LimboCases", argumentParser], path: "Tools/limbo-runner",
            swiftSettings: strict),
        .executableTarget(
            name: "grammar-runner",
            dependencies: [
                "Holdfast", "HoldfastAsyncHTTPClient", "HoldfastTesting", "HoldfastNIOTesting", asyncHTTPClient,
                nioCore, nioPosix, nioTLS, nioHTTP1, nioSSL, argumentParser,
            ],
            path: "Tools/grammar-runner", swiftSettings: strict),
        .executableTarget(
            name: "instruction-counter", dependencies: ["Holdfast"], path: "Tools/instruction-counter",
            swiftSettings: strict),
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
                "HoldfastTestSupport", "HoldfastTesting", crypto,
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
            name: "HoldfastHummingbirdTests",
            dependencies: [
                "Holdfast", "HoldfastNIO",
                "HoldfastTestSupport", "HoldfastTesting", "HoldfastNIOTesting", nioCore, nioPosix, nioSSL, logging,
            ] + hummingbird,
            swiftSettings: strict),
        .testTarget(
            name: "HoldfastGRPCTests",
            dependencies: [
                "Holdfast", "HoldfastNIO", "HoldfastTesting", nioCore,
            ] + grpc,
            swiftSettings: strict),
        .testTarget(
            name: "holdfastctlTests",
            dependencies: [
                "holdfastctl", "Holdfast", "HoldfastProbe", "HoldfastPublishing", "HoldfastSigning", "HoldfastTUF",
                "HoldfastOutput",
                "HoldfastTestSupport", "HoldfastTesting", "HoldfastNIOTesting", crypto, nioCore, nioPosix, nioSSL,
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

// They run against Apple's frameworks. Elsewhere scripts/check-apple compiles them against stand-ins.
#if canImport(Darwin)
package.targets.append(
    .testTarget(
        name: "HoldfastAppleTests",
        dependencies: ["Holdfast", "HoldfastCompatibility", "HoldfastTesting", "HoldfastNIOTesting"],
        swiftSettings: strict))
#endif
