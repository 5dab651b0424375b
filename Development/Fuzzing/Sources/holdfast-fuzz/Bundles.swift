import Foundation

@testable import Holdfast
@testable import HoldfastTUF

/// A repository's bundle: it is within its limits and is written as it was read, and a bundle without valid signatures
/// proves nothing.
func examineBundle(_ input: [UInt8]) {
    let settings = TUFSettings()
    guard let bundle = try? RepositoryBundle(input, maximumBytes: 1 << 20) else { return }
    require(bundle.roots.count <= RepositoryBundle.mostRoots, "roots are bounded")
    require(
        (try? RepositoryBundle([UInt8](bundle.json), maximumBytes: 4 << 20)) == bundle,
        "what is written reads back equal")
    require(bundle.root(version: bundle.firstRoot) == bundle.roots.first, "roots are found by their versions")
    let memory = RepositoryBundle(bundle.memory, afterRoot: bundle.firstRoot - 1, .pythonTUF)
    require(
        memory == bundle.metadata || input.count > TUFSettings.pythonTUF.timestampBytes,
        "a client's memory is the bundle's metadata")
    guard let root = bundle.roots.first else { return }
    // Use the first root as the app's own, even without valid signatures: reading on must end.
    let proof = BundleProof(trustedRoot: root, target: "pins.json", settings: settings)
    guard let proved = try? proof.proved(bundle, at: .beforeAnyExpiration) else { return }
    require(proved.pins == bundle.pins, "what is proved is what the bundle has")
}
