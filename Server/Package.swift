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

let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let cryptoExtras: Target.Dependency = .product(name: "CryptoExtras", package: "swift-crypto")

/// The pin server: a package of its own, so that an app that uses Holdfast needs no SQLite.
let package = Package(
    name: "holdfast-server",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "HoldfastServer", targets: ["HoldfastServer"])
    ],
    dependencies: [
        .package(name: "holdfast", path: ".."),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    ],
    targets: [
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
        .target(
            name: "HoldfastServer",
            dependencies: [
                holdfast("Holdfast"), holdfast("HoldfastPublishing"), holdfast("HoldfastSigning"), crypto,
                cryptoExtras, "CSQLite",
            ],
            resources: [
                .embedInCode("Storage/Migrations/sqlite-0001.sql"),
                .embedInCode("Storage/Migrations/sqlite-0002.sql"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HoldfastServerTests",
            dependencies: [
                "HoldfastServer", holdfast("Holdfast"), holdfast("HoldfastSigning"), holdfast("HoldfastTesting"),
                crypto, cryptoExtras,
            ],
            exclude: ["Python"], swiftSettings: strict),
    ]
)
