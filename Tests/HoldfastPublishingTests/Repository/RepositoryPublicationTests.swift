#if os(macOS) || os(Linux)
import Crypto
import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import HoldfastTUF

@Suite("Publishing a repository of pins", .timeLimit(.minutes(15)))
struct RepositoryPublicationTests {
    private let offline = TUFSigningKey()
    private let online = TUFSigningKey(.ed25519)

    /// A published repository with one offline and one online key.
    private func small(
        start: Date = RepositoryScene.start, _ body: (RepositoryScene) async throws -> Void
    ) async throws {
        try await RepositoryScene.published(
            root: [offline], targets: [offline], online: online, start: start, body)
    }

    enum Change: String, CaseIterable, Sendable {
        case firstPins, pins, renewal, onlineKey, targetsKey, rootKey, everything
    }

    private struct Prepared {
        let publication: TUFPublication
        let onlineKeys: [TUFSigningKey]
        let isRenewal: Bool
    }

    private func prepared(_ change: Change, _ scene: RepositoryScene) async throws -> Prepared {
        let (newOnline, newOffline) = (TUFSigningKey(), TUFSigningKey(.ed25519))
        func rotate(_ state: inout TUFRepositoryState, _ role: TUFRole) throws {
            let (old, new) = role.isOnline ? (online, newOnline) : (offline, newOffline)
            try state.change(role, adding: [new.publicKey], removing: [old.publicKey.id], at: scene.clock.now)
        }
        var onlineKeys = [online]
        switch change {
        case .firstPins, .renewal: break
        case .pins: try await scene.prepare(signedBy: [offline])
        case .onlineKey:
            onlineKeys.append(newOnline)
            try await scene.prepare(signedBy: [offline]) {
                try rotate(&$0, .timestamp)
                try rotate(&$0, .snapshot)
            }
        case .targetsKey: try await scene.prepare(signedBy: [offline, newOffline]) { try rotate(&$0, .targets) }
        case .rootKey: try await scene.prepare(signedBy: [offline, newOffline]) { try rotate(&$0, .root) }
        case .everything:
            onlineKeys.append(newOnline)
            try await scene.prepare(signedBy: [offline, newOffline]) { state in
                try state.prepare(pins: scene.pinFile(days: 60).json, at: scene.clock.now)
                for role in TUFRole.allCases { try rotate(&state, role) }
            }
        }
        let publication = try await TUFPublication.make(
            of: try await scene.repository.state(), in: scene.repository, onlineKeys: onlineKeys,
            includingDrafts: change != .renewal, at: scene.clock.now)
        return Prepared(publication: publication, onlineKeys: onlineKeys, isRenewal: change == .renewal)
    }

    @Test(
        "Stopped after any write, clients old and new find a repository that verifies, and the next attempt completes it",
        arguments: Change.allCases)
    func stopped(_ change: Change) async throws {
        var written = 0
        var total = 1
        while written < total {
            try await withTemporaryFolder { folder in
                let scene = try RepositoryScene(folder)
                try await scene.begin(root: [offline], targets: [offline], online: online)
                try await scene.prepare(signedBy: [offline])
                if change != .firstPins { try await scene.publish(online) }
                scene.clock.advance(by: .seconds(RepositoryScene.day))
                let old = change == .firstPins ? [] : try scene.newDevices()
                #expect(await scene.refusing(old).isEmpty)
                let prepared = try await prepared(change, scene)
                #expect(!prepared.publication.hasGap)
                let objects = prepared.publication.objects
                total = objects.count
                written += 1
                for object in objects.prefix(written) { try await scene.repository.write(object) }
                if change != .firstPins {
                    let all = old + (try scene.newDevices())
                    let refusals = await scene.refusing(all)
                    #expect(refusals.isEmpty, "after \(objects[written - 1].path): \(refusals)")
                    #expect(try scene.lockedOut(all) == 0)
                }
                // The next publisher continues from there.
                let next = try await TUFPublication.make(
                    of: try await scene.repository.state(), in: scene.repository, onlineKeys: prepared.onlineKeys,
                    includingDrafts: !prepared.isRenewal, at: scene.clock.now)
                try await scene.repository.write(next)
                let state = try await scene.repository.state()
                #expect(state.hasNoDraft)
                #expect(state.live?.pins == prepared.publication.state.live?.pins)
                #expect(state.live?.root?.data == prepared.publication.state.live?.root?.data)
                let all = old + (try scene.newDevices())
                #expect(await scene.refusing(all).isEmpty)
                #expect(try scene.lockedOut(all) == 0)
                #expect(all.allSatisfy { $0.state == .fresh })
            }
        }
        #expect(total > 1)
    }

    @Test(
        "Uploaded to a store that has the publication before, clients old and new verify after each object of the plan",
        arguments: Change.allCases)
    func uploaded(_ change: Change) async throws {
        try await withTemporaryFolder { folder in
            let scene = try RepositoryScene(folder)
            try await scene.begin(root: [offline], targets: [offline], online: online)
            try await scene.prepare(signedBy: [offline])
            if change != .firstPins { try await scene.publish(online) }
            scene.clock.advance(by: .seconds(RepositoryScene.day))
            let old = change == .firstPins ? [] : try scene.newDevices()
            #expect(await scene.refusing(old).isEmpty)
            let before = try scene.files()
            let publication = try await prepared(change, scene).publication
            let ahead = try await scene.repository.uploadPlan(of: publication)
            #expect(ahead.objects.map(\.path) == publication.objects.map(\.path))
            try await scene.repository.write(publication)
            let (after, plan) = (try scene.files(), try await scene.repository.uploadPlan(at: scene.clock.now))
            // The plan has all files that clients may request.
            #expect(Set(plan.objects.map(\.path)).isSuperset(of: publication.objects.map(\.path)))
            #expect(
                plan.objects.filter { before[$0.path] != after[$0.path] }.map(\.path)
                    == publication.objects.map(\.path))
            for object in plan.objects where object.precondition == .unchanged {
                #expect(object.replaces == before[object.path].map { [HexText.text(of: SHA256.hash(data: $0))] } ?? [])
            }
            try FileManager.default.removeItem(at: scene.repository.published)
            for (path, data) in before { try scene.serve(data, as: path) }
            for object in plan.objects {
                let data = try #require(after[object.path])
                #expect(object.byteCount == data.count && object.sha256 == HexText.text(of: SHA256.hash(data: data)))
                if object.precondition == .absent { #expect([nil, data].contains(before[object.path])) }
                try scene.serve(data, as: object.path)
                guard change != .firstPins || object == plan.objects.last else { continue }
                let all = old + (try scene.newDevices())
                let refusals = await scene.refusing(all)
                #expect(refusals.isEmpty, "after \(object.path): \(refusals)")
                #expect(try scene.lockedOut(all) == 0)
            }
        }
    }

    @Test("A plan of an upload knows what the folder served before, and refuses a folder that clients refuse")
    func replaced() async throws {
        try await small { scene in
            var earlier: [String] = []
            for _ in 0..<3 {
                earlier.insert(HexText.text(of: SHA256.hash(data: try scene.served("metadata/timestamp.json"))), at: 0)
                scene.clock.advance(by: .seconds(RepositoryScene.day))
                try await scene.publish(online, renewing: true)
            }
            let timestamp = try await scene.repository.uploadPlan(at: scene.clock.now).objects.first {
                $0.path == "metadata/timestamp.json"
            }
            #expect(timestamp?.replaces == earlier && timestamp?.cacheControl == "no-cache")
            scene.clock.advance(by: .seconds(20 * RepositoryScene.day))
            await #expect(throws: TUFRepositoryError.self) {
                try await scene.repository.uploadPlan(at: scene.clock.now)
            }
            scene.clock.advance(by: .seconds(-20 * RepositoryScene.day))
            let file = scene.repository.folder.appending(path: "replaced.json")
            for text in ["{}", "{\"version\":2,\"replaced\":{}}", "{\"version\":1,\"replaced\":{\"a\":[\"00\"]}}"] {
                try Data(text.utf8).write(to: file)
                let refusal = await #expect(throws: TUFRepositoryError.self) {
                    try await scene.repository.uploadPlan(at: scene.clock.now)
                }
                #expect(refusal?.code == .damaged && refusal?.subject == "replaced.json")
            }
        }
    }

    @Test(
        "python-tuf takes what is published, from the first version through every rotation",
        .needs(.pythonTUF), arguments: Change.allCases)
    func foreignClient(_ change: Change) async throws {
        try await small(start: SystemWallClock().now) { scene in
            #expect(try scene.pythonTakesIt())
            let prepared = try await prepared(change, scene)
            for object in prepared.publication.objects {
                try await scene.repository.write(object)
                #expect(try scene.pythonTakesIt(), "\(object.path)")
            }
        }
    }

    @Test(
        "python-tuf takes what keys of every kind have signed",
        .needs(.pythonTUF))
    func foreignClientOfEveryKey() async throws {
        try await withTemporaryFolder { folder in
            let keys = try [TestKey.Choice.p384, .sharedRSA(bits: 2_048, index: 0), .ed25519, .p256].map {
                try TUFSigningKey(pem: try TestKey($0).privateKeyPEM)
            }
            let online = try TUFSigningKey(pem: try TestKey(.sharedRSA(bits: 2_048, index: 1)).privateKeyPEM)
            let scene = try RepositoryScene(folder, start: SystemWallClock().now)
            try await scene.begin(
                root: keys, rootThreshold: keys.count, targets: keys, targetsThreshold: keys.count, online: online)
            try await scene.prepare(signedBy: keys)
            try await scene.publish(online)
            #expect(try scene.pythonTakesIt())
            #expect(await scene.refusing(try scene.newDevices()).isEmpty)
        }
    }

    @Test("Objects have the names of consistent snapshots, in an order in which nothing names what is not there yet")
    func order() async throws {
        try await small { scene in
            let digest = HexText.text(of: SHA256.hash(data: try scene.pinFile().json))
            let state = try await scene.repository.state()
            #expect(state.live?.pins == (try scene.pinFile().json))
            let files = try FileManager.default.subpathsOfDirectory(atPath: scene.repository.published.path)
            #expect(
                Set(files) == [
                    "bundle.json", "metadata", "targets", "metadata/1.root.json", "metadata/1.targets.json",
                    "metadata/1.snapshot.json", "metadata/timestamp.json", "targets/\(digest).pins.json",
                ])
            scene.clock.advance(by: .seconds(60))
            let everything = try await prepared(.everything, scene).publication
            #expect(
                everything.objects.map(\.path).dropFirst() == [
                    "metadata/2.targets.json", "metadata/2.snapshot.json", "metadata/timestamp.json",
                    "metadata/2.root.json", "bundle.json",
                ])
            #expect(everything.objects.map(\.isImmutable) == [true, true, true, false, true, false])
            let renewal = try await prepared(.renewal, scene).publication
            #expect(renewal.objects.map(\.path) == ["metadata/timestamp.json", "bundle.json"])
        }
    }

    @Test("A snapshot is made anew before a timestamp would outlast it, and versions grow by one")
    func renewals() async throws {
        try await small { scene in
            let device = try scene.device(.files)
            var versions: [Int64] = []
            for _ in 0..<9 {
                scene.clock.advance(by: .seconds(10 * RepositoryScene.day))
                try await scene.publish(online, renewing: true)
                let live = try #require(try await scene.repository.state().live)
                versions.append(live.snapshot.version)
                #expect(live.snapshot.end >= live.timestamp.end)
                #expect(await scene.refusing([device]).isEmpty)
            }
            #expect(versions == [1, 1, 1, 1, 1, 1, 1, 2, 2])
            #expect(try await scene.repository.state().live?.timestamp.version == 10)
        }
    }

    @Test("Nothing is published without enough signatures, with too short a timestamp, or without an online key")
    func refused() async throws {
        try await withTemporaryFolder { folder in
            let scene = try RepositoryScene(folder)
            let keys = [TUFSigningKey(), TUFSigningKey(), TUFSigningKey()]
            try await scene.begin(root: keys, rootThreshold: 2, targets: keys, targetsThreshold: 3, online: online)
            func refusal(
                _ keys: [TUFSigningKey], _ lifetimes: TUFRepositoryState.Lifetimes = .init()
            ) async -> TUFRepositoryError? {
                do throws(TUFRepositoryError) {
                    _ = try await TUFPublication.make(
                        of: try await scene.repository.state(), in: scene.repository, onlineKeys: keys,
                        lifetimes: lifetimes, at: scene.clock.now)
                    return nil
                } catch {
                    return error
                }
            }
            #expect(await refusal([online])?.code == .notSigned)
            try await scene.prepare(signedBy: [keys[0], keys[2]])
            let two = await refusal([online])
            #expect(two?.code == .notSigned && two?.subject == "targets" && two?.found == "2")
            try await scene.prepare(signedBy: [keys[1]]) { _ in }
            #expect(await refusal([])?.code == .otherKey)
            #expect(await refusal([keys[0]])?.code == .otherKey)
            #expect(await refusal([online], .init(timestamp: .seconds(7 * 86_400 - 1)))?.code == .tooShort)
            #expect(await refusal([online]) == nil)
        }
    }

    @Test("Pins that run out before the timestamp does are published only where that is allowed, and still renewed")
    func endOfPins() async throws {
        try await small { scene in
            // Five days and a grace of fourteen.
            let pins = try scene.pinFile(days: 5).json
            try await scene.prepare(signedBy: [offline]) { _ = try $0.prepare(pins: pins, at: scene.clock.now) }
            #expect(try await scene.publication(online).objects.isEmpty == false)
            for days in [6.0, 20] {
                scene.clock.advance(by: .seconds(days * RepositoryScene.day))
                let refusal = await #expect(throws: TUFRepositoryError.self) {
                    _ = try await scene.publication(online)
                }
                #expect(refusal?.code == .tooShort && refusal?.subject == "pins", "after \(days) days more")
            }
            try await scene.repository.write(try await scene.publication(online, allowing: [.expiry]))
            #expect(try await scene.repository.state().live?.pins == pins)
            scene.clock.advance(by: .seconds(RepositoryScene.day))
            try await scene.publish(online, renewing: true)
            #expect(try await scene.repository.state().live?.timestamp.version == 3)
        }
    }

    @Test("A folder in which somebody changed what is published is damaged, and nothing is published from it")
    func damaged() async throws {
        try await small { scene in
            for path in ["metadata/timestamp.json", "metadata/1.targets.json", "metadata/1.root.json"] {
                let file = scene.repository.published.appending(path: path)
                let data = try Data(contentsOf: file)
                try Data(String(decoding: data, as: UTF8.self).replacing("\"version\":1", with: "\"version\":7").utf8)
                    .write(to: file)
                let refusal = await #expect(throws: TUFRepositoryError.self) { try await scene.repository.state() }
                #expect(refusal?.code == .damaged, "\(path)")
                try data.write(to: file)
            }
            #expect(try await scene.publication(online).objects.count == 2)
        }
    }
}
#endif
