// swift-tools-version: 6.2
import PackageDescription

// An app that pins a host and wants nothing else: scripts/check lean-app counts what it fetches and measures it. Its test
// shows that test support of Holdfast fetches nothing more. With HOLDFAST_SERVICES=1 it is a service.
let isService = Context.environment["HOLDFAST_SERVICES"] == "1"
let url = Context.environment["HOLDFAST_URL"] ?? "https://github.com/OWNER/holdfast"

let package = Package(
    name: "LeanApp",
    platforms: [.macOS(.v13)],
    dependencies: [
        isService ? .package(url: url, from: "99.0.0", traits: ["Services"]) : .package(url: url, from: "99.0.0")
    ],
    targets: [
        .executableTarget(name: "LeanApp", dependencies: [.product(name: "Holdfast", package: "holdfast")]),
        .testTarget(
            name: "LeanAppTests",
            dependencies: [
                .product(name: "Holdfast", package: "holdfast"), .product(name: "HoldfastTesting", package: "holdfast"),
            ]),
    ]
)
