import Crypto
import Foundation
import HoldfastSigning

@testable import HoldfastServer
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

/// A backup in memory, of something that need not be a database.
struct BackupExample {
    static let pem: String = {
        let scalar = [UInt8](repeating: 0, count: 31) + [77]
        let key = try? P256.Signing.PrivateKey(rawRepresentation: scalar)
        return key?.pemRepresentation ?? ""
    }()

    static var key: BackupPrivateKey { get throws { try BackupPrivateKey(pem: pem) } }

    static func manifest(_ database: [UInt8]) throws -> BackupManifest {
        BackupManifest(
            created: Story.now, head: AuditHead(count: 7, digest: Digest(of: [7])),
            configuration: try FolderConfiguration(
                server: Story.server, genesis: Digest(of: "genesis".utf8), secret: "/etc/holdfast/secret"),
            size: Int64(database.count), digest: Digest(of: database))
    }

    /// Bytes that are the same in every run.
    static func database(_ count: Int) -> [UInt8] {
        var generator = SeededGenerator(seed: 0xDB)
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    /// Writes a backup, as many bytes at a time.
    static func sealed(
        _ database: [UInt8], manifest: BackupManifest? = nil, for recipient: BackupRecipient? = nil,
        secret: SigningSecret = SealedKeyTests.secret(), part: Int = 1 << 20
    ) throws -> [UInt8] {
        var writer = try BackupSeal.Writer(for: recipient ?? key.recipient, secret)
        var file = writer.header
        file += try writer.seal((manifest ?? Self.manifest(database)).bytes)
        var rest = database[...]
        while !rest.isEmpty {
            file += try writer.seal(Array(rest.prefix(part)))
            rest = rest.dropFirst(part)
        }
        return file + (try writer.finish())
    }

    /// Reads a backup.
    static func opened(
        _ file: [UInt8], key: BackupPrivateKey? = nil, secret: SigningSecret = SealedKeyTests.secret()
    ) throws(ServerError) -> (content: BackupContent, database: [UInt8]) {
        guard let own = try? Self.key else { throw ServerError(.invalidValue, expected: "a key", found: "none") }
        var rest = file[...]
        var database: [UInt8] = []
        let content = try BackupContent(
            key ?? own, secret,
            from: { count throws(ServerError) in
                defer { rest = rest.dropFirst(count) }
                return Array(rest.prefix(count))
            },
            database: { part throws(ServerError) in database += part })
        return (content, database)
    }
}
