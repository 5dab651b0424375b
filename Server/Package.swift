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

func module(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
    .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: strict)
}

func holdfast(_ product: String) -> Target.Dependency { .product(name: product, package: "holdfast") }

let publishing = holdfast("HoldfastPublishing")
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
        // From the bottom: each module uses those above it in this list, never one below. docs/decisions.md has the cuts.
        module("ServerFoundation", [holdfast("Holdfast"), crypto, "CZlib"]),
        module("ServerApprovals", ["ServerFoundation", holdfast("Holdfast"), publishing, crypto]),
        module("ServerModel", ["ServerApprovals", "ServerFoundation", holdfast("Holdfast"), publishing]),
        module(
            "ServerStore",
            [
                "ServerApprovals", "ServerFoundation", "ServerModel", holdfast("Holdfast"), publishing, crypto,
                cryptoExtras,
                nio("NIOCore"), serviceLifecycle, "CLibPQ", "CSQLite",
            ],
            resources: ["postgres", "sqlite"].flatMap { engine in
                (1...12).map { .embedInCode("Storage/Migrations/\(engine)-00\($0 < 10 ? "0" : "")\($0).sql") }
            }),
        module(
            "HostMonitoring",
            [
                "ServerFoundation", "ServerModel", "ServerStore", holdfast("Holdfast"), publishing,
                holdfast("HoldfastNIO"),
                logging, nio("NIOCore"), nio("NIOHTTP1"), nio("NIOPosix"), nioSSL, serviceLifecycle,
            ]),
        module(
            "PinChanges",
            [
                "HostMonitoring", "ServerApprovals", "ServerFoundation", "ServerModel", "ServerStore",
                holdfast("Holdfast"),
                publishing, holdfast("HoldfastTUF"), logging,
            ]),
        module(
            "PinPublication",
            [
                "HostMonitoring", "PinChanges", "ServerApprovals", "ServerFoundation", "ServerModel", "ServerStore",
                holdfast("Holdfast"), publishing, holdfast("HoldfastNIO"), crypto, logging, nio("NIOCore"),
                nio("NIOHTTP1"), nio("NIOPosix"), nioSSL, serviceLifecycle,
            ]),
        // Knows nothing of pins.
        module(
            "ServerHTTP",
            [
                "ServerFoundation", publishing, crypto, hummingbirdCore, logging, nio("NIOCore"), nio("NIOHTTP1"),
                nioSSL,
                serviceLifecycle,
            ]),
        module(
            "PublicAPI",
            [
                "HostMonitoring", "PinPublication", "ServerFoundation", "ServerHTTP", "ServerStore", publishing,
                logging,
                nio("NIOCore"), nio("NIOHTTP1"), serviceLifecycle,
            ]),
        module(
            "ServerWeb",
            [
                "HostMonitoring", "PinChanges", "PinPublication", "PublicAPI", "ServerApprovals", "ServerFoundation",
                "ServerHTTP", "ServerModel", "ServerStore", holdfast("Holdfast"), publishing, crypto, logging, mustache,
                nio("NIOCore"), nio("NIOHTTP1"), serviceLifecycle,
            ],
            resources: [
                .embedInCode("Administration/openapi.yaml"), .embedInCode("SignIn/passkeys.js"),
                .embedInCode("Pages/style.css"),
            ]
                + [
                    "app", "approvers", "audit", "change", "foot", "form", "head", "host", "invitation", "overview",
                    "people", "problem", "reports", "signin",
                ].map { .embedInCode("Pages/Templates/\($0).mustache") }),
        module(
            "ServerImport",
            [
                "PinChanges", "PinPublication", "ServerApprovals", "ServerFoundation", "ServerModel", "ServerStore",
                holdfast("Holdfast"), publishing,
            ]),
        module(
            "HoldfastServer",
            [
                "HostMonitoring", "PinChanges", "PinPublication", "PublicAPI", "ServerApprovals", "ServerFoundation",
                "ServerHTTP", "ServerModel", "ServerStore", "ServerWeb", holdfast("Holdfast"), publishing,
                configuration,
                crypto, logging, nio("NIOCore"), nio("NIOPosix"), serviceLifecycle, unixSignals,
            ]),
        .executableTarget(
            name: "holdfast-server",
            dependencies: [
                "HoldfastServer", "HostMonitoring", "PinChanges", "PinPublication", "ServerApprovals",
                "ServerFoundation",
                "ServerImport", "ServerModel", "ServerStore", holdfast("Holdfast"), publishing, logging,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
        // Fills databases with what takes people days, so it imports the modules as tests do: in a release build,
        // scripts/measure builds it with `-enable-testing`.
        .executableTarget(
            name: "server-ratios",
            dependencies: [
                "HoldfastServer", "HostMonitoring", "PinChanges", "PinPublication", "PublicAPI", "ServerApprovals",
                "ServerFoundation", "ServerHTTP", "ServerImport", "ServerModel", "ServerStore", "ServerWeb",
                holdfast("Holdfast"),
                publishing, holdfast("HoldfastTesting"), crypto, logging, nio("NIOCore"), nio("NIOPosix"),
            ],
            path: "Benchmarks/server-ratios", swiftSettings: strict),
        .testTarget(
            name: "HoldfastServerTests",
            dependencies: [
                "HoldfastServer", "HostMonitoring", "PinChanges", "PinPublication", "PublicAPI", "ServerApprovals",
                "ServerFoundation", "ServerHTTP", "ServerImport", "ServerModel", "ServerStore", "ServerWeb",
                holdfast("Holdfast"), holdfast("HoldfastTUF"), publishing, holdfast("HoldfastTesting"), crypto,
                cryptoExtras, logging, serviceLifecycle, nio("NIOCore"),
                nio("NIOEmbedded"), nio("NIOPosix"), nio("NIOHTTP1"), nioSSL,
                // What clients have, for what they report.
                holdfast("HoldfastNIO"), holdfast("HoldfastReports"), holdfast("HoldfastAsyncHTTPClient"),
            ],
            exclude: ["Python"], swiftSettings: strict),
    ]
)
