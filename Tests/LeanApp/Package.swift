// swift-tools-version: 6.2
import PackageDescription

// An app that pins a host and wants nothing else: scripts/check-lean-app counts what it fetches and measures it.
let package = Package(
    name: "LeanApp",
    dependencies: [.package(name: "holdfast", path: "../..", traits: [])],
    targets: [
        .executableTarget(name: "LeanApp", dependencies: [.product(name: "Holdfast", package: "holdfast")])
    ]
)
