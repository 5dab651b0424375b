import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning

/// A repository of pins in a folder, at the real time: each host with a key in use and a backup.
public struct RepositorySite: Sendable {
    private let repository: TUFRepositoryFolder
    private let hosts: Int
    private let rootKey = TUFSigningKey(.ed25519)
    private let targetsKey = TUFSigningKey(.p256)
    private let onlineKey = TUFSigningKey(.p256)

    /// Makes and publishes it.
    public init(in folder: URL, hosts: Int) async throws {
        repository = TUFRepositoryFolder(folder)
        self.hosts = hosts
        let online = TUFRoleKeys([onlineKey.publicKey])
        try await repository.writeDrafts(
            TUFRepositoryState(
                roles: [
                    .root: TUFRoleKeys([rootKey.publicKey]), .targets: TUFRoleKeys([targetsKey.publicKey]),
                    .snapshot: online, .timestamp: online,
                ], at: .now))
        try await publish(signedBy: [rootKey, targetsKey]) { try $0.prepare(pins: pinFile(), at: .now) }
    }

    /// The folder of the served files.
    public var folder: URL { repository.published }

    /// A served file.
    public func file(_ path: String) throws -> Data { try Data(contentsOf: folder.appending(path: path)) }

    /// Publishes a new pin file.
    public func publishPins() async throws {
        try await publish(signedBy: [targetsKey]) { try $0.prepare(pins: pinFile(), at: .now) }
    }

    /// Publishes a new timestamp, and nothing else.
    public func renew() async throws { try await publish(signedBy: []) { _ in } }

    /// Publishes roots one after the other, each with another key for root.
    public func rotateRoot(times: Int) async throws {
        var key = rootKey
        for _ in 0..<times {
            let next = TUFSigningKey(.ed25519)
            try await publish(signedBy: [key, next]) { state in
                try state.change(.root, adding: [next.publicKey], removing: [key.publicKey.id], at: .now)
            }
            key = next
        }
    }

    private func publish(
        signedBy keys: [TUFSigningKey], _ change: (inout TUFRepositoryState) throws -> Void
    ) async throws {
        var state = try await repository.state()
        try change(&state)
        for key in keys { _ = try state.sign(by: key) }
        // nginx distinguishes two versions of a file by their second and their length.
        try await Task.sleep(for: .milliseconds(1_100))
        try await repository.write(
            try await TUFPublication.make(of: state, in: repository, onlineKeys: [onlineKey], at: .now))
    }

    private func pinFile() -> Data {
        func pin() -> String {
            let digest = Data((0..<32).map { _ in UInt8.random(in: .min ... .max) })
            return "sha256/\(digest.base64EncodedString())"
        }
        let entries = (0..<hosts).map {
            PinFileText.host("host-\($0).example.com", [(pin(), "active"), (pin(), "backup")])
        }
        return PinFileText.file(entries, at: .now)
    }
}
