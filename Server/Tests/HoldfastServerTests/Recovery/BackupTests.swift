import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import HoldfastServer
@testable import PinChanges
@testable import PinPublication
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

@Suite("Writing a backup")
struct BackupTests {
    @Test("A backup is of one instant while others write: its head is the end of its own audit, and all of it is right")
    func consistent() async throws {
        try await World.settled { world in
            try await world.publish()
            // The server renews all the time; backups are written beside it.
            let writer = Task {
                var count = 0
                while !Task.isCancelled {
                    world.clock.advance(by: .seconds(1))
                    _ = try await world.publisher.renew()
                    count += 1
                }
                return count
            }
            var heads: Set<Int64> = []
            for _ in 0..<4 {
                let backup = try await world.backUp()
                let (manifest, faults) = try await ServerFolder.check(world.source(backup), clock: world.clock)
                #expect(faults == [])
                heads.insert(manifest.head.count)
                try FileManager.default.removeItem(at: backup)
            }
            writer.cancel()
            #expect(try await writer.value > 0)
            #expect(heads.count == 4)
        }
    }

    @Test("Nothing is in the file but what is encrypted, nothing is left beside it, and nothing is overwritten")
    func file() async throws {
        try await World.settled { world in
            let before = try FileManager.default.contentsOfDirectory(atPath: world.folder.path)
            let backup = try await world.backUp()
            defer { try? FileManager.default.removeItem(at: backup) }
            let bytes = try Array(Data(contentsOf: backup))
            let mode = try FileManager.default.attributesOfItem(atPath: backup.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            // The second part of the file looks like random bytes.
            for needle in ["SQLite format 3", "api.example.com", "holdfast-server-v1", "holdfast-sealed-key"] {
                #expect(Data(bytes).range(of: Data(needle.utf8)) == nil, "\(needle)")
            }
            let after = try FileManager.default.contentsOfDirectory(atPath: world.folder.path)
            #expect(Set(after).subtracting(before) == [".backup.lock"])
            await expectError(.file) { try await world.backUp(backup.lastPathComponent) }
            #expect(try Array(Data(contentsOf: backup)) == bytes)
            try await world.opened { open in
                let inside = world.folder.appending(path: "public/x")
                await expectError(.invalidValue) {
                    try await world.server.backUp(open, to: inside, for: BackupExample.key.recipient)
                }
                let nowhere = world.outside.appending(path: "none/x")
                await expectError(.file) {
                    try await world.server.backUp(open, to: nowhere, for: BackupExample.key.recipient)
                }
            }
        }
    }

    @Test("The secret and the private keys are in no backup, nor in what was decrypted of it")
    func secrets() async throws {
        try await World.settled { world in
            try await world.publish()
            let backup = try await world.backUp()
            defer { try? FileManager.default.removeItem(at: backup) }
            let file = try Array(Data(contentsOf: backup))
            let (content, database) = try BackupExample.opened(file, secret: World.secret())
            #expect(content.manifest.size > 50_000)
            var needles = try await Secrets(of: world).needles
            #expect(needles.count >= 6)
            for bytes in [file, database, content.manifest.bytes] {
                #expect(Secrets.found(needles, in: bytes) == nil)
            }
            // The control: the sealed key is in the database, and is found.
            let key = try #require(try await world.catalog.key(.fingerprints, of: world.app))
            needles = [try #require(key.sealed).sealed]
            #expect(Secrets.found(needles, in: database) != nil && Secrets.found(needles, in: file) == nil)
        }
    }

    @Test("Without the secret, and of a database that is not the one of the head, no backup is written")
    func refused() async throws {
        try await World.settled { world in
            try await world.publish()
            let away = world.secretFile.url.appendingPathExtension("away")
            try FileManager.default.moveItem(at: world.secretFile.url, to: away)
            await expectError(.file) { try await world.backUp() }
            try FileManager.default.moveItem(at: away, to: world.secretFile.url)
            try await world.opened { open in
                let count = open.catalog.ledger.chain.head.count
                try await world.engine.write { session throws(ServerError) in
                    _ = try session.run("DELETE FROM audit WHERE place = $1", [.integer(count - 1)])
                }
                let file = world.outside.appending(path: "backup-\(UUID().uuidString)")
                await expectError(.brokenChain) {
                    try await world.server.backUp(open, to: file, for: BackupExample.key.recipient)
                }
                #expect(!FileManager.default.fileExists(atPath: file.path))
                #expect(!FileManager.default.fileExists(atPath: world.folder.appending(path: ".backup.db").path))
            }
        }
    }

    @Test("Doctor says that there is no backup, and later how old the last one is")
    func age() async throws {
        try await World.settled { world in
            func notes() async throws -> [String] {
                try await world.opened { try await $0.publisher.examine().map(\.words) }
            }
            #expect(try await notes().contains { $0.contains("no backup exists") })
            let backup = try await world.backUp()
            defer { try? FileManager.default.removeItem(at: backup) }
            #expect(try await notes().contains("the last backup is of the last 24 hours"))
            world.clock.advance(by: .seconds(9 * 86_400))
            #expect(try await notes().contains("the last backup is 9 days old"))
        }
    }
}

/// The secret and private keys, in every form of text. They must be only in their own file, or sealed.
struct Secrets {
    let needles: [[UInt8]]

    init(of world: World) async throws {
        var pems: [String] = []
        for purpose in [SealedKey.Purpose.fingerprints, .trustServer] {
            guard let key = try await world.catalog.key(purpose, of: world.app) else { continue }
            pems.append(try #require(key.sealed).opened(with: World.secret()))
        }
        self.init(secret: World.secret().fileContent, pems: pems)
    }

    init(secret: [UInt8], pems: [String]) {
        var needles: [[UInt8]] = []
        let text = Array(secret.split(separator: 0x20).last?.dropLast() ?? [])
        var all = [Base64.decode(text) ?? []]
        for pem in pems {
            let lines = pem.utf8.split(separator: 0x0A).filter { !$0.starts(with: "-----".utf8) }
            // A line from the middle of the key, which no public key has.
            needles += lines.prefix(2).map { Array($0) }
            if let der = Base64.decode(Array(lines.joined())) { all.append(Array(der.dropFirst(36).prefix(32))) }
        }
        for bytes in all where bytes.count >= 16 {
            needles += [bytes, Array(Base64.encode(bytes).utf8), Array(Hex.encode(bytes).utf8)]
        }
        self.needles = needles + [text]
    }

    /// The first needle that is there.
    static func found(_ needles: [[UInt8]], in bytes: [UInt8]) -> [UInt8]? {
        let data = Data(bytes)
        return needles.first { $0.count >= 16 && data.range(of: Data($0)) != nil }
    }
}
