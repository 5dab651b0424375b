// swift-tools-version: 6.2
import PackageDescription

/// As in the main package: only .ci/run and scripts/ set it.
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

let holdfast: Target.Dependency = .product(name: "Holdfast", package: "holdfast")

/// Programs that `scripts/check` builds for release: they use Holdfast as an app does.
let package = Package(
    name: "holdfast-tools",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(name: "holdfast", path: "../..", traits: []),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        // Symbolic links to files that the package's own tests use as well.
        .target(name: "LimboCases", dependencies: [holdfast], swiftSettings: strict),
        .executableTarget(
            name: "limbo-runner",
            dependencies: [
                "LimboCases", holdfast, .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
        .executableTarget(name: "instruction-counter", dependencies: [holdfast], swiftSettings: strict),
    ]
)
