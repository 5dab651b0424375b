import Crypto
import Foundation
import Holdfast
import HoldfastSigning
import Testing

@testable import HoldfastServer
@testable import PinPublication
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerStore

@Suite("The encryption of a backup")
struct BackupSealTests {
    /// Around the end of a message, which the manifest is a part of.
    private static let counts: [Int] = {
        let manifest = (try? BackupExample.manifest([UInt8](repeating: 0, count: 16_384)).bytes.count) ?? 0
        let whole = BackupSeal.messageBytes - manifest
        return [0, 1, whole - 1, whole, whole + 1, 2 * BackupSeal.messageBytes + whole, 100_000]
    }()

    @Test("What was written is read again, whatever its length and however it came")
    func round() throws {
        for count in Self.counts {
            let database = BackupExample.database(count)
            for part in [1_000, 1 << 20] {
                let file = try BackupExample.sealed(database, part: part)
                let (content, read) = try BackupExample.opened(file)
                #expect(read == database)
                #expect(try content.manifest == BackupExample.manifest(database))
                let plain = content.manifest.bytes.count + count
                #expect(content.effort == (plain + BackupSeal.messageBytes - 1) / BackupSeal.messageBytes)
            }
        }
    }

    @Test("A backup that was cut off, continued, put into another order or changed is refused")
    func damaged() throws {
        let database = BackupExample.database(60_000)
        let file = try BackupExample.sealed(database)
        let header = file.indices.filter { file[$0] == 0x0A }[3] + 1
        let whole = BackupSeal.messageBytes + BackupSeal.tagBytes
        let starts = Array(stride(from: header, to: file.count, by: whole))
        #expect(starts.count == 4)
        func message(_ index: Int) -> [UInt8] { Array(file[starts[index]..<min(file.count, starts[index] + whole)]) }
        func joined(_ messages: [Int]) -> [UInt8] { Array(file[..<header]) + messages.flatMap(message) }
        #expect(joined([0, 1, 2, 3]) == file)
        var damaged: [[UInt8]] = starts.map { Array(file[..<$0]) }
        damaged += [Array(file.dropLast()), file + [0], Array(file[..<(header - 1)]), []]
        let orders = [
            [1, 0, 2, 3], [0, 2, 1, 3], [0, 1, 3], [0, 1, 1, 2, 3], [0, 1, 2, 3, 3], [3], [0, 1, 2], [1, 2, 3],
        ]
        damaged += orders.map(joined)
        for index in starts + [file.count - 1, starts[1] + whole - 1] {
            var changed = file
            changed[index] ^= 1
            damaged.append(changed)
        }
        // Two backups of the same recipient.
        let other = try BackupExample.sealed(database)
        damaged.append(Array(file[..<starts[1]]) + Array(other[starts[1]...]))
        for damaged in damaged { expectError(.malformed) { try BackupExample.opened(damaged) } }
    }

    @Test("It takes the recipient's key and the secret, and an error says which is another")
    func keys() throws {
        let file = try BackupExample.sealed(BackupExample.database(100))
        let other = try BackupPrivateKey(pem: SigningKey().pem)
        expectError(.notForThis) { try BackupExample.opened(file, key: other) }
        let error = expectError(.secretFile) {
            try BackupExample.opened(file, secret: SealedKeyTests.secret(2))
        }
        let own = Hex.encode(SealedKeyTests.secret().id)
        #expect(error?.expected == "the secret \(own)")
        // A header that says otherwise opens nothing.
        let forged = String(decoding: file[..<200], as: UTF8.self)
            .replacing(own, with: Hex.encode(SealedKeyTests.secret(2).id))
        expectError(.malformed) {
            try BackupExample.opened(Array(forged.utf8) + file[200...], secret: SealedKeyTests.secret(2))
        }
        expectError(.invalidValue) { try BackupRecipient(printed: "x".utf8) }
        expectError(.invalidValue) {
            try BackupRecipient(printed: Base64.encode([4] + [UInt8](repeating: 1, count: 64)).utf8)
        }
        expectError(.invalidValue) { try BackupPrivateKey(pem: "x") }
        let key = try BackupExample.key
        #expect("\(key)" == "a private key")
    }

    @Test("Whoever has only the recipient's public key cannot forge a backup")
    func forged() throws {
        let recipient = try BackupExample.key.recipient
        let secret = SealedKeyTests.secret()
        let info = Array("\(BackupSeal.name)\n\(recipient.identity)\n\(Hex.encode(secret.id))\n".utf8)
        let database = BackupExample.database(10)
        let plain = try BackupExample.manifest(database).bytes + database
        var base = try HPKE.Sender(
            recipientKey: recipient.key, ciphersuite: .P256_SHA256_AES_GCM_256, info: Data(info))
        var guessed = try HPKE.Sender(
            recipientKey: recipient.key, ciphersuite: .P256_SHA256_AES_GCM_256, info: Data(info),
            presharedKey: SealedKeyTests.secret(9).backupKey, presharedKeyIdentifier: Data(secret.id))
        let sealed = try [
            (base.encapsulatedKey, base.seal(plain, authenticating: Data("last".utf8))),
            (guessed.encapsulatedKey, guessed.seal(plain, authenticating: Data("last".utf8))),
        ]
        for (key, message) in sealed {
            expectError(.malformed) {
                try BackupExample.opened(info + Array("\(Base64.encode(key))\n".utf8) + Array(message))
            }
        }
        var right = try HPKE.Sender(
            recipientKey: recipient.key, ciphersuite: .P256_SHA256_AES_GCM_256, info: Data(info),
            presharedKey: secret.backupKey, presharedKeyIdentifier: Data(secret.id))
        let message = try right.seal(plain, authenticating: Data("last".utf8))
        let file = info + Array("\(Base64.encode(right.encapsulatedKey))\n".utf8) + Array(message)
        #expect(try BackupExample.opened(file).database == database)
    }

    @Test("A database of another size or digest than the manifest says is refused")
    func manifest() throws {
        let database = BackupExample.database(20_000)
        let honest = try BackupExample.manifest(database)
        for (size, digest) in [(honest.size + 1, honest.digest), (honest.size, Digest(of: [1]))] {
            let lie = BackupManifest(
                created: honest.created, head: honest.head, configuration: honest.configuration, size: size,
                digest: digest)
            expectError(.malformed) { try BackupExample.opened(try BackupExample.sealed(database, manifest: lie)) }
        }
        let file = try BackupExample.sealed(
            database, manifest: nil, for: nil, secret: SealedKeyTests.secret(), part: 4)
        #expect(try BackupExample.opened(file).database == database)
    }

    @Test("docs/vectors/server-backup.json opens, and this program's own do as well")
    func vector() throws {
        let name = "server-backup.json"
        let secret = SealedKeyTests.secret()
        if Vectors.writes {
            // The encapsulated key is another one each time, so only a reader can be compared.
            let database = BackupExample.database(20_000)
            try Vectors.expect(
                name,
                [
                    "format": "holdfast-backup-v1. docs/server/backup.md says how it is made.",
                    "recipientPrivateKey": BackupExample.pem,
                    "recipient": Base64.encode(try BackupExample.key.recipient.key.x963Representation),
                    "secretFile": String(decoding: secret.fileContent, as: UTF8.self),
                    "backup": Base64.encode(try BackupExample.sealed(database)),
                    "manifest": String(decoding: try BackupExample.manifest(database).bytes.dropLast(), as: UTF8.self),
                    "databaseSHA256": "\(Digest(of: database))",
                ])
        }
        let vector = try #require(try Vectors.content(name) as? [String: String])
        func text(_ key: String) throws -> String { try #require(vector[key]) }
        let file = try #require(Base64.decode(try text("backup").utf8))
        let (content, database) = try BackupExample.opened(
            file, key: BackupPrivateKey(pem: try text("recipientPrivateKey")),
            secret: SigningSecret(fileContent: Array(try text("secretFile").utf8)))
        #expect(try Digest(of: database).description == text("databaseSHA256"))
        #expect(try content.manifest.bytes.dropLast().elementsEqual(text("manifest").utf8))
        #expect(try BackupRecipient(printed: text("recipient").utf8).identity == recipient(file))
    }

    /// The second line.
    private func recipient(_ file: [UInt8]) -> Digest? {
        Digest(hex: file.split(separator: 0x0A, maxSplits: 2)[1])
    }
}
