import Foundation
import HoldfastSigning
import Testing

@testable import HoldfastServer
@testable import PinChanges
@testable import PinPublication
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

@Suite("A change of the secret")
struct ResealingTests {
    private func reseal(
        _ world: World, copy: SecretFile? = nil,
        after: (ServerFolder.ResealingStep) throws(ServerError) -> Void = { _ in }
    ) async throws -> ServerFolder.Resealing {
        var generator = SystemRandomNumberGenerator()
        return try await world.server.reseal(
            copy: copy, clock: world.clock, using: &generator, by: "operator", after: after)
    }

    /// Whether the server, started now, signs with every key.
    private func signs(_ world: World) async throws -> Bool {
        try await world.opened { open in
            guard open.secretProblem == nil else { return false }
            let findings = try await open.publisher.examine()
            let keys = try await open.catalog.look { session, _ throws(ServerError) in
                try Catalog.sealedKeys(Story.server, session)
            }
            guard let secret = open.secret, keys.count == 2 else { return false }
            for key in keys { _ = try key.opened(with: secret) }
            return !findings.contains(where: \.isFault)
        }
    }

    @Test("Afterwards the new secret opens every key and the old one none, and what is published is signed on")
    func changed() async throws {
        try await World.settled { world in
            try await world.publish()
            let old = try world.secretFile.read(outside: world.folder)
            let copy = SecretFile(world.outside.appending(path: "copy-\(UUID().uuidString)"))
            defer { try? FileManager.default.removeItem(at: copy.url) }
            let done = try await reseal(world, copy: copy)
            #expect(!done.isContinued && done.unreadable == [])
            let new = try world.secretFile.read(outside: world.folder)
            #expect(new.id != old.id)
            #expect(try copy.read(outside: world.folder).fileContent == new.fileContent)
            #expect(!world.secretFile.next.exists)
            let mode =
                try FileManager.default.attributesOfItem(atPath: world.secretFile.url.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            #expect(try await signs(world))
            try await world.opened { open in
                #expect(open.catalog.ledger.secretID == new.id)
                let key = try #require(try await open.catalog.key(.fingerprints, of: world.app))
                expectError(.sealedKey) { try #require(key.sealed).opened(with: old) }
                try await world.pass(300)
                let round = try await open.publisher.renew()
                #expect(round.problems == [] && !round.signed.isEmpty)
                // A key that was sealed before, by a command that took its time.
                let late = try SealedKey(sealing: SigningKey().pem, at: SealedKeyTests.place("late"), with: old)
                await expectError(.sealedKey) {
                    try await open.catalog.add(Catalog.Key(sealed: late), replacing: true, by: "operator")
                }
            }
            #expect(try await !reseal(world).isContinued)
            #expect(try await signs(world))
        }
    }

    @Test("The keys of a repository are sealed anew with all others, and its timestamp is signed on")
    func repository() async throws {
        try await World.settled { world in
            try await world.publishRepository(RepositoryHolders())
            let old = try world.secretFile.read(outside: world.folder)
            #expect(try await reseal(world).unreadable == [])
            try await world.opened { open in
                let new = try #require(open.secret)
                #expect(new.id != old.id)
                let keys = try await open.catalog.look { session, _ throws(ServerError) in
                    try Catalog.sealedKeys(Story.server, session)
                }
                #expect(Set(keys.map(\.place.purpose)) == [.fingerprints, .trustServer, .snapshot, .timestamp])
                for key in keys {
                    expectError(.sealedKey) { try key.opened(with: old) }
                    _ = try key.opened(with: new)
                }
                try await world.pass(86_400)
                let round = try await open.publisher.renew()
                #expect(round.signed == ["repo/bank/metadata/timestamp.json", "repo/bank/bundle.json"])
                #expect(round.problems == [])
            }
        }
    }

    @Test(
        "Killed after any step, the server signs as before, and run again it completes what it began",
        arguments: ServerFolder.ResealingStep.allCases)
    func killed(_ step: ServerFolder.ResealingStep) async throws {
        try await World.settled { world in
            let old = try world.secretFile.read(outside: world.folder)
            let copy = SecretFile(world.outside.appending(path: "copy-\(UUID().uuidString)"))
            defer { try? FileManager.default.removeItem(at: copy.url) }
            let killed = ServerError(.database, expected: "", found: "killed")
            await expectError(.database) {
                try await reseal(world, copy: copy) { reached throws(ServerError) in
                    if reached == step { throw killed }
                }
            }
            #expect(try await signs(world))
            // The audit decides which file counts: the old one or the new one.
            let counting = try await world.opened { $0.secret?.id }
            #expect((counting == old.id) == [.written, .copied].contains(step))
            if step != .placed {
                #expect(world.secretFile.next.exists)
                #expect(try await reseal(world, copy: copy).isContinued)
            }
            #expect(try await signs(world))
            let new = try world.secretFile.read(outside: world.folder)
            #expect(new.id != old.id && !world.secretFile.next.exists)
            #expect(try copy.read(outside: world.folder).id == new.id)
        }
    }

    @Test(
        "It is refused while a server runs, with unsafe files, and over a file of another secret; nothing has changed then"
    )
    func refused() async throws {
        try await World.settled { world in
            let before = try world.secretFile.read(outside: world.folder).fileContent
            try await {
                let lock = try world.server.lock()
                await expectError(.folderInUse) { try await reseal(world) }
                withExtendedLifetime(lock) {}
            }()
            // A copy inside the folder, one over the secret itself, and one over another's.
            let inside = SecretFile(world.folder.appending(path: "copy"))
            await expectError(.secretFile) { try await reseal(world, copy: inside) }
            await expectError(.file) { try await reseal(world, copy: world.secretFile) }
            #expect(try world.secretFile.read(outside: world.folder).fileContent == before)
            #expect(try await signs(world))
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: world.secretFile.url.path)
            await expectError(.secretFile) { try await reseal(world) }
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: world.secretFile.url.path)
            #expect(try await signs(world))
        }
    }

    @Test("A key that signs and does not open stops it; one that signs no more is named and left alone")
    func unreadable() async throws {
        try await World.settled { world in
            let foreign = try SealedKey(
                sealing: SigningKey().pem, at: SealedKeyTests.place("foreign"), with: SealedKeyTests.secret(9))
            try await world.engine.write { session throws(ServerError) in
                _ = try session.run(
                    """
                    INSERT INTO signing_key (id, app, purpose, public_key, secret_id, sealed, created_at) \
                    VALUES ('foreign', 'bank', 'fingerprints', $1, $2, $3, 0)
                    """, [.bytes(foreign.publicKey), .bytes(foreign.secretID), .bytes(foreign.sealed)])
            }
            #expect(try await reseal(world).unreadable == ["foreign"])
            try await world.engine.write { session throws(ServerError) in
                _ = try session.run("UPDATE signing_key SET sealed = zeroblob(40) WHERE id = 'list-1'")
            }
            await expectError(.sealedKey) { try await reseal(world) }
            // The secret that was begun is still there, and the one that counts opens the rest.
            try await world.opened { open in
                let key = try #require(try await open.catalog.key(.trustServer, of: world.app))
                _ = try #require(key.sealed).opened(with: try #require(open.secret))
            }
        }
    }
}
