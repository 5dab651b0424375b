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
func nio(_ product: String) -> Target.Dependency { .product(name: product, package: "swift-nio") }

let configuration: Target.Dependency = .product(name: "Configuration", package: "swift-configuration")
let unixSignals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")
let hummingbirdCore: Target.Dependency = .product(name: "HummingbirdCore", package: "hummingbird")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let mustache: Target.Dependency = .product(name: "Mustache", package: "swift-mustache")
let nioSSL: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")
let serviceLifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")

/// The pin server: a package of its own, so that an app that uses Holdfast needs no SQLite.
let package = Package(
    name: "holdfast-server",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "HoldfastServer", targets: ["HoldfastServer"])
    ],
    dependencies: [
        .package(name: "holdfast", path: "..", traits: ["Services"]),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
    ],
    targets: [
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
        // Loads libpq when a database is named.
        .target(name: "CLibPQ"),
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
        .target(
            name: "HoldfastServer",
            dependencies: [
                holdfast("Holdfast"), holdfast("HoldfastTUF"), holdfast("HoldfastPublishing"), holdfast("HoldfastNIO"),
                crypto, cryptoExtras, configuration, hummingbirdCore, logging, serviceLifecycle, unixSignals,
                nio("NIOCore"), nio("NIOPosix"), nio("NIOHTTP1"), nioSSL, mustache, "CLibPQ", "CSQLite", "CZlib",
            ],
            resources: [
                .embedInCode("Administration/openapi.yaml"),
                .embedInCode("SignIn/passkeys.js"),
                .embedInCode("Pages/style.css"),
                .embedInCode("Pages/Templates/app.mustache"),
                .embedInCode("Pages/Templates/approvers.mustache"),
                .embedInCode("Pages/Templates/audit.mustache"),
                .embedInCode("Pages/Templates/change.mustache"),
                .embedInCode("Pages/Templates/foot.mustache"),
                .embedInCode("Pages/Templates/form.mustache"),
                .embedInCode("Pages/Templates/head.mustache"),
                .embedInCode("Pages/Templates/host.mustache"),
                .embedInCode("Pages/Templates/invitation.mustache"),
                .embedInCode("Pages/Templates/overview.mustache"),
                .embedInCode("Pages/Templates/people.mustache"),
                .embedInCode("Pages/Templates/problem.mustache"),
                .embedInCode("Pages/Templates/reports.mustache"),
                .embedInCode("Pages/Templates/signin.mustache"),
                .embedInCode("Storage/Migrations/postgres-0001.sql"),
                .embedInCode("Storage/Migrations/postgres-0002.sql"),
                .embedInCode("Storage/Migrations/postgres-0003.sql"),
                .embedInCode("Storage/Migrations/postgres-0004.sql"),
                .embedInCode("Storage/Migrations/postgres-0005.sql"),
                .embedInCode("Storage/Migrations/postgres-0006.sql"),
                .embedInCode("Storage/Migrations/postgres-0007.sql"),
                .embedInCode("Storage/Migrations/postgres-0008.sql"),
                .embedInCode("Storage/Migrations/postgres-0009.sql"),
                .embedInCode("Storage/Migrations/postgres-0010.sql"),
                .embedInCode("Storage/Migrations/postgres-0011.sql"),
                .embedInCode("Storage/Migrations/postgres-0012.sql"),
                .embedInCode("Storage/Migrations/sqlite-0001.sql"),
                .embedInCode("Storage/Migrations/sqlite-0002.sql"),
                .embedInCode("Storage/Migrations/sqlite-0003.sql"),
                .embedInCode("Storage/Migrations/sqlite-0004.sql"),
                .embedInCode("Storage/Migrations/sqlite-0005.sql"),
                .embedInCode("Storage/Migrations/sqlite-0006.sql"),
                .embedInCode("Storage/Migrations/sqlite-0007.sql"),
                .embedInCode("Storage/Migrations/sqlite-0008.sql"),
                .embedInCode("Storage/Migrations/sqlite-0009.sql"),
                .embedInCode("Storage/Migrations/sqlite-0010.sql"),
                .embedInCode("Storage/Migrations/sqlite-0011.sql"),
                .embedInCode("Storage/Migrations/sqlite-0012.sql"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "holdfast-server",
            dependencies: [
                "HoldfastServer", holdfast("Holdfast"), holdfast("HoldfastTUF"), holdfast("HoldfastPublishing"),
                logging,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HoldfastServerTests",
            dependencies: [
                "HoldfastServer", holdfast("Holdfast"), holdfast("HoldfastTUF"), holdfast("HoldfastPublishing"),
                holdfast("HoldfastTesting"), crypto, cryptoExtras, logging, serviceLifecycle, nio("NIOCore"),
                nio("NIOEmbedded"), nio("NIOPosix"), nio("NIOHTTP1"), nioSSL,
                // What clients have, for what they report.
                holdfast("HoldfastNIO"), holdfast("HoldfastReports"), holdfast("HoldfastAsyncHTTPClient"),
            ],
            exclude: ["Python"], swiftSettings: strict),
    ]
)
