// swift-tools-version: 6.2
import PackageDescription

/// As in the main package: only .ci/run and scripts/ ask for it.
let warnings: [SwiftSetting] =
    Context.environment["HOLDFAST_WARNINGS_AS_ERRORS"] == "1" ? [.treatAllWarnings(as: .error)] : []

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

func holdfast(_ product: String) -> Target.Dependency { .product(name: product, package: "holdfast") }
func nio(_ product: String) -> Target.Dependency { .product(name: product, package: "swift-nio") }

let nioSSL: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")

/// Tests against servers and clients of other projects. A package of its own, so that those are fetched and built only
/// for it: `scripts/check integrations`.
let package = Package(
    name: "holdfast-integrations",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "holdfast", path: "../..", traits: ["Services"]),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/grpc/grpc-swift-2", from: "2.4.3"),
        .package(url: "https://github.com/grpc/grpc-swift-nio-transport", from: "2.9.2"),
    ],
    targets: [
        .testTarget(
            name: "HummingbirdTests",
            dependencies: [
                holdfast("Holdfast"), holdfast("HoldfastNIO"), holdfast("HoldfastTesting"), nio("NIOCore"),
                nio("NIOPosix"), nioSSL,
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdTLS", package: "hummingbird"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "GRPCTests",
            dependencies: [
                holdfast("Holdfast"), holdfast("HoldfastNIO"), holdfast("HoldfastTesting"), nio("NIOCore"),
                .product(name: "GRPCCore", package: "grpc-swift-2"),
                .product(name: "GRPCNIOTransportHTTP2Posix", package: "grpc-swift-nio-transport"),
            ],
            swiftSettings: strict),
    ]
)
