#if os(macOS) || os(Linux)
import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import HoldfastTUF

/// Incidents with keys and machines, with clients of the folder: counts how many are locked out.
@Suite("Drills of a repository of pins", .timeLimit(.minutes(15)))
struct RepositoryDrillTests {
    private let first = TUFSigningKey(.ed25519)
    private let second = TUFSigningKey()
    private let third = TUFSigningKey(.ed25519)
    private let targets = TUFSigningKey()
    private let online = TUFSigningKey(.ed25519)

    private func scene(_ body: (RepositoryScene) async throws -> Void) async throws {
        try await RepositoryScene.published(
            root: [first, second, third], rootThreshold: 2, targets: [targets], online: online, body)
    }

    @Test("One of three root keys is lost: the other two replace it, and no client of any age is locked out")
    func rootKeyLost() async throws {
        try await scene { scene in
            let old = try scene.newDevices()
            #expect(await scene.refusing(old).isEmpty)
            let replacement = TUFSigningKey()
            try await scene.prepare(signedBy: [first, second]) {
                try $0.change(
                    .root, adding: [replacement.publicKey], removing: [third.publicKey.id], at: scene.clock.now)
            }
            try await scene.publish(online)
            // The lost key is not needed, and signs nothing anymore.
            try await scene.prepare(signedBy: [second, replacement]) { state in
                try state.change(.root, at: scene.clock.now)
                var copy = state
                #expect(throws: TUFRepositoryError.self) { try copy.sign(by: third) }
            }
            try await scene.publish(online)
            let all = old + (try scene.newDevices()) + (try scene.newDevices(root: 3))
            #expect(await scene.refusing(all).isEmpty)
            #expect(try scene.lockedOut(all) == 0)
        }
    }

    @Test(
        "The threshold of root is lost: pins go on changing until the root ends, and nobody is locked out before the pins"
    )
    func rootThresholdLost() async throws {
        try await scene { scene in
            let devices = try scene.newDevices()
            #expect(await scene.refusing(devices).isEmpty)
            scene.clock.advance(by: .seconds(300 * RepositoryScene.day))
            // No second signature comes for another root.
            try await scene.prepare(signedBy: [first]) { try $0.change(.root, at: scene.clock.now) }
            let refusal = await #expect(throws: TUFRepositoryError.self) { _ = try await scene.publication(online) }
            #expect(refusal?.code == .notSigned && refusal?.found == "1")
            var state = try await scene.repository.state()
            state.discardDrafts()
            try await scene.repository.writeDrafts(state)
            try await scene.prepare(signedBy: [targets])
            try await scene.publish(online)
            #expect(await scene.refusing(devices).isEmpty)
            scene.clock.advance(by: .seconds(80 * RepositoryScene.day))
            // The root is over: nothing new can be published, and what is there holds.
            let late = await #expect(throws: TUFRepositoryError.self) {
                _ = try await scene.publication(online, renewing: true)
            }
            #expect(late?.code == .refusedByClients)
            #expect(await scene.refusing(devices).count == devices.count)
            #expect(try scene.lockedOut(devices) == 0)
        }
    }

    @Test(
        "The online key is stolen and drives versions up: once it is replaced every client recovers, and it opens nothing"
    )
    func onlineKeyStolen() async throws {
        try await scene { scene in
            let victims = try scene.newDevices()
            let others = try scene.newDevices()
            #expect(await scene.refusing(others).isEmpty)
            // The thief's own repository: everything that is offline as it was, snapshot and timestamp far ahead.
            let honest = try scene.served("bundle.json")
            try await withTemporaryFolder { copy in
                let stolen = try Theft(scene, copy)
                try await stolen.fastForward(with: online)
                try stolen.serve()
                #expect(await scene.refusing(victims).isEmpty)
                try stolen.restore()
            }
            #expect(try scene.served("bundle.json") == honest)
            // For the victims the honest repository goes back now, and they keep their pins.
            #expect(await scene.refusing(victims).allSatisfy { $0.metadataCode == .rolledBack })
            #expect(try scene.lockedOut(victims + others) == 0)

            let replacement = TUFSigningKey()
            try await scene.prepare(signedBy: [first, third]) { state in
                for role in [TUFRole.timestamp, .snapshot] {
                    try state.change(
                        role, adding: [replacement.publicKey], removing: [online.publicKey.id], at: scene.clock.now)
                }
            }
            let publication = try await scene.publication(replacement, online)
            #expect(!publication.hasGap)
            try await scene.repository.write(publication)
            let all = victims + others + (try scene.newDevices())
            #expect(await scene.refusing(all).isEmpty)
            #expect(try scene.lockedOut(all) == 0)
            // Nothing that the stolen key signs counts anymore.
            let refusal = await #expect(throws: TUFRepositoryError.self) {
                _ = try await scene.publication(online, renewing: true)
            }
            #expect(refusal?.code == .otherKey)
        }
    }

    @Test("The online key is stolen and drives versions up to the last one: they begin again with the next key")
    func lastVersion() async throws {
        try await scene { scene in
            let victims = try scene.newDevices()
            // The thief has the machine that publishes.
            scene.clock.advance(by: .seconds(1))
            try await scene.repository.write(
                try await TUFPublication.make(
                    of: try await scene.repository.state(), in: scene.repository, onlineKeys: [online],
                    includingDrafts: false, above: 1 << 53 - 2, at: scene.clock.now))
            #expect(await scene.refusing(victims).isEmpty)
            #expect(try await scene.repository.state().live?.timestamp.version == 1 << 53 - 1)
            let stuck = await #expect(throws: TUFRepositoryError.self) {
                _ = try await scene.publication(online, renewing: true)
            }
            #expect(stuck?.code == .wrongVersion && stuck?.remedy.contains("rotate --role online") == true)

            let replacement = TUFSigningKey()
            try await scene.prepare(signedBy: [first, third]) { state in
                for role in [TUFRole.timestamp, .snapshot] {
                    try state.change(
                        role, adding: [replacement.publicKey], removing: [online.publicKey.id], at: scene.clock.now)
                }
            }
            scene.clock.advance(by: .seconds(1))
            let publication = try await scene.publication(replacement, online)
            #expect(!publication.hasGap)
            // Nothing is served under a name of before.
            #expect(
                publication.objects.map(\.path) == [
                    "metadata/2.snapshot.json", "metadata/timestamp.json", "metadata/2.root.json", "bundle.json",
                ])
            try await scene.repository.write(publication)
            let all = victims + (try scene.newDevices())
            #expect(await scene.refusing(all).isEmpty)
            #expect(try scene.lockedOut(all) == 0)
            scene.clock.advance(by: .seconds(1))
            try await scene.publish(replacement, renewing: true)
            #expect(await scene.refusing(all).isEmpty)
            let live = try #require(try await scene.repository.state().live)
            #expect(live.timestamp.version == 2 && live.snapshot.version == 2)
        }
    }

    @Test("A folder is put back from a copy: clients know later versions, and take those above them")
    func restored() async throws {
        try await scene { scene in
            let devices = try scene.newDevices()
            try await withTemporaryFolder { folder in
                let copy = folder.appending(path: "copy")
                try FileManager.default.copyItem(at: scene.repository.published, to: copy)
                for _ in 0..<3 {
                    scene.clock.advance(by: .seconds(RepositoryScene.day))
                    try await scene.publish(online, renewing: true)
                }
                #expect(await scene.refusing(devices).isEmpty)
                try FileManager.default.removeItem(at: scene.repository.published)
                try FileManager.default.copyItem(at: copy, to: scene.repository.published)
            }
            scene.clock.advance(by: .seconds(RepositoryScene.day))
            try await scene.publish(online, renewing: true)
            #expect(await scene.refusing(devices).allSatisfy { $0.metadataCode == .rolledBack })
            #expect(await scene.refusing(devices).count == devices.count)
            let publication = try await TUFPublication.make(
                of: try await scene.repository.state(), in: scene.repository, onlineKeys: [online],
                includingDrafts: false, above: 4, at: scene.clock.now)
            try await scene.repository.write(publication)
            #expect(await scene.refusing(devices).isEmpty)
            #expect(try scene.lockedOut(devices) == 0)
            let live = try #require(try await scene.repository.state().live)
            #expect(live.timestamp.version == 5 && live.snapshot.version == 5)
        }
    }

    @Test("The signer is down for 30 days: clients go stale, enforce their pins, and take the next timestamp")
    func signerDown() async throws {
        try await scene { scene in
            let devices = try scene.newDevices()
            #expect(await scene.refusing(devices).isEmpty)
            scene.clock.advance(by: .seconds(30 * RepositoryScene.day))
            #expect(await scene.refusing(devices).allSatisfy { $0.metadataCode == .expired })
            #expect(devices.allSatisfy { $0.state == .stale })
            #expect(try scene.lockedOut(devices) == 0)
            try await scene.publish(online, renewing: true)
            #expect(await scene.refusing(devices).isEmpty)
            #expect(devices.allSatisfy { $0.state == .fresh })
            #expect(try scene.lockedOut(devices) == 0)
        }
    }

    @Test(
        "The old online key is lost: only clients of single files are refused on the way, and only where that is allowed"
    )
    func onlineKeyLost() async throws {
        try await scene { scene in
            let devices = try scene.newDevices()
            #expect(await scene.refusing(devices).isEmpty)
            let replacement = TUFSigningKey()
            try await scene.prepare(signedBy: [first, second]) { state in
                for role in [TUFRole.timestamp, .snapshot] {
                    try state.change(
                        role, adding: [replacement.publicKey], removing: [online.publicKey.id], at: scene.clock.now)
                }
            }
            let refusal = await #expect(throws: TUFRepositoryError.self) {
                _ = try await scene.publication(replacement)
            }
            #expect(refusal?.code == .refusedByClients && refusal?.subject == "timestamp")
            let publication = try await scene.publication(replacement, allowing: [.gap])
            #expect(publication.hasGap)
            for object in publication.objects {
                try await scene.repository.write(object)
                let bundles = [devices[0], try scene.device(.bundle)]
                #expect(await scene.refusing(bundles).isEmpty, "\(object.path)")
            }
            try await scene.repository.write(publication)
            let all = devices + (try scene.newDevices())
            #expect(await scene.refusing(all).isEmpty)
            #expect(try scene.lockedOut(all) == 0)
        }
    }
}

/// An attacker with the online key, who serves clients another repository for a while.
private struct Theft {
    private let scene: RepositoryScene
    private let copy: TUFRepositoryFolder
    private let kept: URL

    init(_ scene: RepositoryScene, _ folder: URL) throws {
        self.scene = scene
        copy = TUFRepositoryFolder(folder.appending(path: "site"))
        kept = folder.appending(path: "kept")
        try FileManager.default.copyItem(at: scene.repository.folder, to: copy.folder)
    }

    /// A few dozen versions are as good as a thousand million.
    func fastForward(with key: TUFSigningKey) async throws {
        for _ in 0..<5 {
            let publication = try await TUFPublication.make(
                of: try await copy.state(), in: copy, onlineKeys: [key],
                // A snapshot of its own each time, since the timestamp outlasts it.
                lifetimes: .init(snapshot: .seconds(1)), includingDrafts: false, at: scene.clock.now)
            try await copy.write(publication)
            scene.clock.advance(by: .seconds(1))
        }
    }

    func serve() throws {
        try FileManager.default.moveItem(at: scene.repository.published, to: kept)
        try FileManager.default.copyItem(at: copy.published, to: scene.repository.published)
    }

    func restore() throws {
        try FileManager.default.removeItem(at: scene.repository.published)
        try FileManager.default.moveItem(at: kept, to: scene.repository.published)
    }
}
#endif
