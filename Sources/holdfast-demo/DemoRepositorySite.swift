import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTUF
import HoldfastTesting

/// A repository of pins in a folder, with its keys: the operator's, or that of a thief.
struct DemoRepositorySite {
    /// The keys that sign.
    struct Keys {
        let root: [TUFSigningKey]
        /// The number of root keys that must sign.
        let threshold: Int
        let targets: TUFSigningKey
        /// The key of snapshot and timestamp.
        let online: TUFSigningKey
    }

    let host: HostPattern
    let keys: Keys
    let clock: ManualClock
    private let folder: TUFRepositoryFolder

    /// Makes the repository, and publishes the first pins.
    init(in folder: URL, host: HostPattern, keys: Keys, pins: [Pin], clock: ManualClock) async throws {
        self.host = host
        self.keys = keys
        self.clock = clock
        self.folder = TUFRepositoryFolder(folder)
        let online = TUFRoleKeys([keys.online.publicKey])
        let begun = try TUFRepositoryState(
            roles: [
                .root: TUFRoleKeys(keys.root.map(\.publicKey), threshold: keys.threshold),
                .targets: TUFRoleKeys([keys.targets.publicKey]), .snapshot: online, .timestamp: online,
            ], at: clock.now)
        try await self.folder.writeDrafts(begun)
        try await publish(pins, signedBy: Array(keys.root.prefix(keys.threshold)) + [keys.targets])
    }

    /// Publishes a pin file. The first pin is that of the key in use, and the others are backups.
    func publish(_ pins: [Pin], signedBy signers: [TUFSigningKey]) async throws {
        let now = clock.now
        let entry = try PinFile.Host(
            host,
            pins: try pins.enumerated().map { try PinFile.KeyPin($1, state: $0 == 0 ? .active : .backup) })
        let file = try PinFile(
            issuedAt: now, notAfter: now.addingTimeInterval(90 * Self.day),
            refresh: PinFile.Refresh(after: 21_600, grace: 14 * 86_400), hosts: [entry])
        try await publish(signedBy: signers, online: [keys.online]) { try $0.prepare(pins: file.json, at: now) }
    }

    /// Publishes a change that keyholders sign. Without a change, the published metadata is renewed.
    func publish(
        signedBy signers: [TUFSigningKey] = [], online: [TUFSigningKey],
        _ change: (inout TUFRepositoryState) throws -> Void = { _ in }
    ) async throws {
        var state = try await folder.state()
        try change(&state)
        for signer in signers { _ = try state.sign(by: signer) }
        try await folder.write(try await TUFPublication.make(of: state, in: folder, onlineKeys: online, at: clock.now))
    }

    /// The served root with a version.
    func root(_ version: Int) throws -> Data {
        try Data(contentsOf: folder.published.appending(path: "metadata/\(version).root.json"))
    }

    /// The only file that a file server needs: `bundle.json`.
    var bundle: Data {
        get throws { try Data(contentsOf: folder.published.appending(path: "bundle.json")) }
    }

    /// The bundle that a thief serves: the genuine roots, perhaps a forged one, and everything else from the thief's
    /// own repository.
    func bundle(withFilesOf thief: DemoRepositorySite, root: Data? = nil) throws -> Data {
        var bundle = try RepositoryBundle([UInt8](try self.bundle), maximumBytes: Self.maximumBytes)
        let other = try RepositoryBundle([UInt8](try thief.bundle), maximumBytes: Self.maximumBytes)
        if let root { bundle.roots.append(root) }
        (bundle.timestamp, bundle.snapshot) = (other.timestamp, other.snapshot)
        (bundle.targets, bundle.pins) = (other.targets, other.pins)
        return bundle.json
    }

    static let day: TimeInterval = 86_400
    private static let maximumBytes = 1 << 20
}
