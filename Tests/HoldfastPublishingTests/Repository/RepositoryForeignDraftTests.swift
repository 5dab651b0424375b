#if os(macOS) || os(Linux)
import Crypto
import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import HoldfastPublishing
@testable import HoldfastTUF

/// Drafts that others left in the folder: planted, out of date or damaged.
@Suite("Drafts of others", .timeLimit(.minutes(15)))
struct RepositoryForeignDraftTests {
    private let offline = TUFSigningKey()
    private let second = TUFSigningKey(.ed25519)
    private let online = TUFSigningKey()
    private let thief = TUFSigningKey(.ed25519)

    private func scene(_ body: (RepositoryScene) async throws -> Void) async throws {
        try await RepositoryScene.published(root: [offline, second], targets: [offline], online: online, body)
    }

    private func isSigned(_ file: TUFMetadataFile?, by key: TUFSigningKey) -> Bool {
        file?.isSigned(by: key.publicKey) ?? false
    }

    @Test("Pins that somebody put there are not signed along with a rotation")
    func plantedPins() async throws {
        try await scene { scene in
            try await scene.prepare(signedBy: []) {
                try $0.prepare(pins: scene.pinFile(days: 60).json, at: scene.clock.now)
            }
            var state = try await scene.repository.state()
            try state.change(
                .timestamp, adding: [TUFSigningKey().publicKey], removing: [online.publicKey.id], at: scene.clock.now)
            #expect(try state.signPrepared(by: offline) == [.targets])
            #expect(isSigned(state.draftRoot, by: offline) && !isSigned(state.draftTargets, by: offline))
            // A keyholder who has read them signs them.
            #expect(try state.sign(by: offline) == [.root, .targets])
            #expect(isSigned(state.draftTargets, by: offline))
        }
    }

    @Test("A root that somebody put there is not signed along with pins, nor as the base of another root")
    func plantedRoot() async throws {
        try await scene { scene in
            try await scene.prepare(signedBy: []) {
                try $0.change(.root, adding: [thief.publicKey], at: scene.clock.now)
                try $0.change(.targets, adding: [thief.publicKey], at: scene.clock.now)
                ($0.draftTargets, $0.draftPins) = (nil, nil)
            }
            let planted = try await scene.repository.state()
            var state = planted
            try state.prepare(pins: try scene.pinFile(days: 60).json, at: scene.clock.now)
            #expect(try state.signPrepared(by: offline) == [.root])
            #expect(isSigned(state.draftTargets, by: offline) && !isSigned(state.draftRoot, by: offline))
            state = planted
            try state.change(.root, at: scene.clock.now)
            try state.change(.snapshot, adding: [TUFSigningKey().publicKey], at: scene.clock.now)
            #expect(try state.signPrepared(by: [offline, second]) == [.root])
            #expect(!isSigned(state.draftRoot, by: offline) && !isSigned(state.draftRoot, by: second))
        }
    }

    @Test("A change on top of what a key has signed is signed by this key, and by no other")
    func continued() async throws {
        try await scene { scene in
            try await scene.prepare(signedBy: [offline]) {
                try $0.change(.root, adding: [TUFSigningKey().publicKey], at: scene.clock.now)
            }
            var state = try await scene.repository.state()
            #expect(try state.signPrepared(by: second) == [.root])
            #expect(try state.signPrepared(by: offline) == [])
            try state.change(.root, threshold: 2, at: scene.clock.now)
            #expect(!isSigned(state.draftRoot, by: offline))
            #expect(try state.signPrepared(by: second) == [.root])
            #expect(try state.signPrepared(by: offline) == [])
            #expect(isSigned(state.draftRoot, by: offline) && !isSigned(state.draftRoot, by: second))
            #expect(throws: TUFRepositoryError.self) { try state.signPrepared(by: online) }
        }
    }

    @Test("A draft from before another publication is not the base of the next: a key that was removed stays removed")
    func stale() async throws {
        try await scene { scene in
            let draft = scene.repository.folder.appending(path: "draft")
            try await scene.prepare(signedBy: []) {
                try $0.change(.root, adding: [thief.publicKey], at: scene.clock.now)
                try $0.change(.targets, adding: [thief.publicKey], at: scene.clock.now)
            }
            let names = ["root.json", "targets.json", "pins.json"]
            let old = try names.map { try Data(contentsOf: draft.appending(path: $0)) }
            try await scene.prepare(signedBy: [offline]) {
                $0.discardDrafts()
                try $0.change(.root, removing: [second.publicKey.id], at: scene.clock.now)
                try $0.prepare(pins: scene.pinFile(days: 70).json, at: scene.clock.now)
            }
            try await scene.publish(online)
            for (name, data) in zip(names, old) { try data.write(to: draft.appending(path: name)) }

            var state = try await scene.repository.state()
            #expect(state.staleDrafts == [.root, .targets])
            #expect(throws: TUFRepositoryError.self) { try state.sign(by: offline) }
            try state.change(.root, at: scene.clock.now)
            #expect(state.staleDrafts.isEmpty && state.draftTargets == nil)
            #expect(try state.keys(of: .root).ids == [offline.publicKey.id])
            #expect(try state.keys(of: .targets).ids == [offline.publicKey.id])
            #expect(try state.signPrepared(by: offline) == [] && isSigned(state.draftRoot, by: offline))
            try await scene.repository.writeDrafts(state)
            try await scene.publish(online)
            #expect(await scene.refusing(try scene.newDevices()).isEmpty)
        }
    }

    @Test("A draft that cannot be read keeps nobody from renewing, and stays as it is")
    func damaged() async throws {
        try await scene { scene in
            try await scene.prepare(signedBy: []) { try $0.change(.root, at: scene.clock.now) }
            let file = scene.repository.folder.appending(path: "draft/root.json")
            let text = Data("<<<<<<< HEAD".utf8)
            try text.write(to: file)
            let refusal = await #expect(throws: TUFRepositoryError.self) { try await scene.repository.state() }
            #expect(refusal?.code == .damaged && refusal?.remedy.contains("Delete the file") == true)
            let state = try await scene.repository.state(includingDrafts: false)
            let publication = try await TUFPublication.make(
                of: state, in: scene.repository, onlineKeys: [online], includingDrafts: false, at: scene.clock.now)
            try await scene.repository.write(publication)
            #expect(try Data(contentsOf: file) == text)
            #expect(try await scene.repository.state(includingDrafts: false).live?.timestamp.version == 2)
        }
    }

    @Test("Without its timestamp a published repository is damaged, and not new")
    func noTimestamp() async throws {
        try await scene { scene in
            let timestamp = scene.repository.published.appending(path: "metadata/timestamp.json")
            try FileManager.default.removeItem(at: timestamp)
            let refusal = await #expect(throws: TUFRepositoryError.self) { try await scene.repository.state() }
            #expect(refusal?.code == .damaged && refusal?.subject == "timestamp.json")
        }
    }

    @Test("Keys are known by themselves, whatever ids another tool has given them")
    func otherIDs() async throws {
        /// As python-tuf writes it: its text ends with an end of line, which makes another id.
        func foreign(_ key: TUFSigningKey) throws -> TUFSigningKey {
            guard case .text(let pem)? = key.publicKey.tree["keyval"]?["public"] else { throw CancellationError() }
            let tree = key.publicKey.tree.setting([
                "keyval": JSONTree(fields: ["public": .text(pem + [0x0A])])
            ])
            let id = HexText.text(of: SHA256.hash(data: tree.canonical))
            return key.listed(as: try #require(TUFPublicKey(id: Array(id.utf8), tree)))
        }
        try await withTemporaryFolder { folder in
            let scene = try RepositoryScene(folder)
            let listed = try foreign(offline)
            #expect(listed.publicKey.id != offline.publicKey.id && listed.publicKey.isSameKey(as: offline.publicKey))
            try await scene.begin(root: [listed], targets: [listed], online: try foreign(online))
            try await scene.prepare(signedBy: [offline])
            try await scene.publish(online)
            // The same key is no new one.
            try await scene.prepare(signedBy: [offline]) {
                try $0.change(.targets, adding: [offline.publicKey], at: scene.clock.now)
            }
            #expect(try await scene.repository.state().keys(of: .targets).ids == [listed.publicKey.id])
            try await scene.publish(online)
            #expect(await scene.refusing(try scene.newDevices()).isEmpty)
        }
    }
}
#endif
