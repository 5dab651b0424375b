// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
]

func holdfast(_ product: String) -> Target.Dependency { .product(name: product, package: "holdfast") }

/// A separate package, so that users of Holdfast do not resolve the packages that it is compared with.
let package = Package(
    name: "holdfast-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "holdfast", path: "../..", traits: ["Services"]),
        // Without its traits it counts no allocations, and needs no other allocator.
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    ],
    targets: [
        // OpenSSL of the system, from libssl-dev.
        .target(name: "COpenSSLVerifier", linkerSettings: [.linkedLibrary("crypto")]),
        .target(
            name: "Workloads",
            dependencies: [
                holdfast("Holdfast"), holdfast("HoldfastCompatibility"), holdfast("HoldfastNIO"),
                holdfast("HoldfastAsyncHTTPClient"), holdfast("HoldfastPublishing"), holdfast("HoldfastTUF"),
                holdfast("HoldfastTesting"), "COpenSSLVerifier",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "ratios", dependencies: ["Workloads", holdfast("Holdfast")],
            resources: [.embedInCode("cryptography_verifier.py"), .embedInCode("tuf_refresher.py")],
            swiftSettings: strict),
        .executableTarget(
            name: "fleet",
            dependencies: [
                "Workloads", holdfast("Holdfast"), holdfast("HoldfastPublishing"), holdfast("HoldfastTUF"),
                holdfast("HoldfastTesting"), .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        .executableTarget(name: "profile", dependencies: ["Workloads"], swiftSettings: strict),
        .executableTarget(
            name: "HoldfastBenchmarks",
            dependencies: ["Workloads", .product(name: "Benchmark", package: "benchmark")],
            path: "Benchmarks/HoldfastBenchmarks",
            swiftSettings: strict,
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
    ]
)
