import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTUF
import HoldfastTesting
import Testing

@Suite("The pins that clients of a repository still hold", .timeLimit(.minutes(15)))
struct EarlierPinsTests {
    private let offline = TUFSigningKey()
    private let online = TUFSigningKey()

    private func published(_ body: (RepositoryScene) async throws -> Void) async throws {
        try await RepositoryScene.published(root: [offline], targets: [offline], online: online, body)
    }

    private func leaf(_ scene: RepositoryScene) throws -> TestCertificate {
        try scene.authority.leaf(names: [.dns(RepositoryScene.host)]) { $0.notAfter = .days(1_000) }
    }

    /// Publishes pins of another certificate, with the same backup.
    private func replacePins(
        _ scene: RepositoryScene, by leaf: TestCertificate, signedBy key: TUFSigningKey? = nil
    ) async throws {
        try await scene.prepare(signedBy: [key ?? offline]) { state in
            _ = try state.prepare(pins: scene.pinFile(active: leaf).json, at: scene.clock.now)
        }
        try await scene.publish(online)
    }

    private func earlier(
        _ scene: RepositoryScene, root: Int = 1, staleness: Duration = PublicationTiming.usualStaleness
    ) async throws -> EarlierDocuments {
        await scene.repository.earlierDocuments(
            than: try #require(try await scene.repository.state().live),
            provedFrom: try scene.served("metadata/\(root).root.json"), staleness: staleness, at: scene.clock.now)
    }

    private func outlook(
        _ scene: RepositoryScene, _ earlier: EarlierDocuments, showing leaf: TestCertificate
    ) throws -> HostsOutlook {
        let root = try scene.served("metadata/1.root.json")
        let pins = try PublishedPins(
            bundle: scene.served("bundle.json"), root: root, named: "the published pins", at: scene.clock.now)
        let chain = leaf.chain.map { Data($0) }
        return try HostsOutlook(
            of: [pins.document], after: earlier,
            at: [.init(RepositoryScene.host, shown: [.init(chain, at: "192.0.2.1", seen: scene.clock.now)])],
            platforms: [.init("company root", anchors: [Data(scene.authority.root)])],
            appVersions: .noShippedPins, at: scene.clock.now)
    }

    private func isTrusted(_ leaf: TestCertificate, by device: PinRepository, _ scene: RepositoryScene) throws -> Bool {
        let trust = ServerTrust(
            certificates: leaf.chain, host: try DialedHost(RepositoryScene.host),
            anchors: try TrustAnchors(der: [scene.authority.root]))
        return try device.policy(for: RepositoryScene.host).evaluate(trust, at: scene.clock.now).isTrusted
    }

    @Test("A server with a new key locks out devices that have not asked since, for as long as the staleness says")
    func newKey() async throws {
        try await published { scene in
            let next = try leaf(scene)
            let device = try scene.device(.bundle)
            _ = try await device.update(mode: .forced)
            scene.clock.advance(by: .seconds(5 * RepositoryScene.day))
            let replaced = scene.clock.now
            try await replacePins(scene, by: next)

            let held = try await earlier(scene)
            #expect(held.documents.map(\.name) == ["the pins of targets 1"] && held.gaps.isEmpty)
            #expect(held.documents.first?.replaced == replaced)
            #expect(held.documents.first?.published == RepositoryScene.start)
            let refused = try outlook(scene, held, showing: next)
            #expect(try !isTrusted(next, by: device, scene))
            #expect(refused.findings.map(\.kind) == [.refused], "\(refused.findings)")
            #expect(refused.findings.first?.text.contains("the pins of targets 1") == true)
            #expect(refused.premises.contains { $0.contains("the pins of targets 1, replaced") })
            // Only the published pins judge it well, and both know the backup.
            #expect(try outlook(scene, EarlierDocuments(), showing: next).worst == nil)
            #expect(try isTrusted(scene.backup, by: device, scene))
            #expect(try outlook(scene, held, showing: scene.backup).worst == nil)

            scene.clock.advance(by: .seconds(6 * RepositoryScene.day))
            try await scene.publish(online, renewing: true)
            #expect(try outlook(scene, try await earlier(scene), showing: next).worst == .refused)
            scene.clock.advance(by: .seconds(1 * RepositoryScene.day + 1))
            let over = try await earlier(scene)
            #expect(over.documents.isEmpty && over.gaps.isEmpty)
            #expect(try outlook(scene, over, showing: next).worst == nil)
        }
    }

    @Test("Every version within the staleness counts, each until the next one took its place; the same pins once")
    func severalVersions() async throws {
        try await published { scene in
            for _ in 0..<3 {
                scene.clock.advance(by: .seconds(2 * RepositoryScene.day))
                try await replacePins(scene, by: scene.leaf)
            }
            // They pin the same keys, but each has another end.
            let all = try await earlier(scene)
            #expect(all.documents.map(\.name) == [3, 2, 1].map { "the pins of targets \($0)" })
            let ends = [6, 4, 2].map { RepositoryScene.start.addingTimeInterval(Double($0) * RepositoryScene.day) }
            #expect(all.documents.map(\.replaced) == ends)
            let short = try await earlier(scene, staleness: .seconds(3 * RepositoryScene.day))
            #expect(short.documents.map(\.name) == ["the pins of targets 3", "the pins of targets 2"])
            #expect(try outlook(scene, all, showing: scene.leaf).worst == nil)

            let pins = try #require(try await scene.repository.state().live).pins
            try await scene.prepare(signedBy: [offline]) { state in
                _ = try state.prepare(pins: pins, at: scene.clock.now)
            }
            try await scene.publish(online)
            #expect(try await earlier(scene).documents.map(\.name) == all.documents.map(\.name))
        }
    }

    @Test("Pins that a key has signed which the newest root no longer knows are judged, for apps of that time")
    func goneKey() async throws {
        try await published { scene in
            let newKey = TUFSigningKey(.ed25519)
            scene.clock.advance(by: .seconds(RepositoryScene.day))
            let between = try leaf(scene)
            try await scene.prepare(signedBy: [offline, newKey]) { state in
                _ = try state.prepare(pins: scene.pinFile(active: between).json, at: scene.clock.now)
                try state.change(
                    .targets, adding: [newKey.publicKey], removing: [offline.publicKey.id], at: scene.clock.now)
            }
            try await scene.publish(online)
            scene.clock.advance(by: .seconds(RepositoryScene.day))
            let next = try leaf(scene)
            try await replacePins(scene, by: next, signedBy: newKey)
            let held = try await earlier(scene)
            #expect(
                held.documents.map(\.name) == ["the pins of targets 2", "the pins of targets 1"] && held.gaps.isEmpty)
            #expect(try outlook(scene, held, showing: next).worst == .refused)
            // An app that was built with the second root never took what the old key alone has signed.
            let later = try await earlier(scene, root: 2)
            #expect(later.documents.map(\.name) == ["the pins of targets 2"] && later.gaps.isEmpty)
        }
    }

    @Test("A host that is added to the pins locks nobody out who has not asked since")
    func addedHost() async throws {
        try await published { scene in
            scene.clock.advance(by: .seconds(RepositoryScene.day))
            let name = "new.example.com"
            let added = try scene.authority.leaf(names: [.dns(name)]) { $0.notAfter = .days(1_000) }
            let pins = try PinFile.Host(
                HostPattern(name),
                pins: [
                    PinFile.KeyPin(Pin.publicKey(of: added.der)),
                    PinFile.KeyPin(Pin.publicKey(of: scene.backup.der), state: .backup),
                ])
            try await scene.prepare(signedBy: [offline]) { state in
                let file = try scene.pinFile()
                let wider = try PinFile(
                    issuedAt: file.issuedAt, notAfter: file.notAfter, refresh: file.refresh,
                    hosts: file.hosts + [pins])
                _ = try state.prepare(pins: wider.json, at: scene.clock.now)
            }
            try await scene.publish(online)
            let root = try scene.served("metadata/1.root.json")
            let current = try PublishedPins(
                bundle: scene.served("bundle.json"), root: root, named: "the published pins", at: scene.clock.now)
            let held = try await earlier(scene)
            #expect(held.documents.count == 1)
            func outlook(_ newHost: TestCertificate) throws -> HostsOutlook {
                let shown = [(RepositoryScene.host, scene.leaf), (name, newHost)]
                return try HostsOutlook(
                    of: [current.document], after: held,
                    at: shown.map { host, leaf in
                        let chain = leaf.chain.map { Data($0) }
                        return .init(host, shown: [.init(chain, at: "192.0.2.1", seen: scene.clock.now)])
                    }, platforms: [.init("company root", anchors: [Data(scene.authority.root)])],
                    appVersions: .noShippedPins, at: scene.clock.now)
            }
            #expect(try outlook(added).worst == nil)
            let other = try scene.authority.leaf(names: [.dns(name)]) { $0.notAfter = .days(1_000) }
            #expect(try outlook(other).findings.map(\.host) == [name])
        }
    }

    @Test("What the folder does not have anymore is unknown, until somebody names it")
    func missing() async throws {
        try await published { scene in
            let before = try scene.served("bundle.json")
            scene.clock.advance(by: .seconds(RepositoryScene.day))
            let next = try leaf(scene)
            try await replacePins(scene, by: next)
            try FileManager.default.removeItem(
                at: scene.repository.published.appending(path: "metadata/1.targets.json"))
            var held = try await earlier(scene)
            #expect(held.documents.isEmpty && held.gaps.count == 1)
            let open = try outlook(scene, held, showing: next)
            #expect(open.findings.map(\.kind) == [.unreachable] && open.worst == .unreachable)
            #expect(open.findings.first?.text.contains("--replaced") == true)
            #expect(open.premises.contains { $0.contains("the pins of targets 1") })

            held.name([])
            #expect(held.gaps.count == 1)
            held.name([
                .init(
                    "old.json", kind: .repository(root: try scene.served("metadata/1.root.json")), octets: before,
                    published: .distantPast, replaced: scene.clock.now)
            ])
            #expect(held.gaps.isEmpty)
            #expect(try outlook(scene, held, showing: next).worst == .refused)
            #expect(try outlook(scene, held, showing: scene.backup).worst == nil)
        }
    }

    @Test("A host that only earlier pins name is one to which clients still connect, and which nobody has asked")
    func droppedHost() async throws {
        try await published { scene in
            scene.clock.advance(by: .seconds(RepositoryScene.day))
            try await scene.prepare(signedBy: [offline]) { state in
                let file = try scene.pinFile()
                let other = try PinFile.Host(HostPattern("old.example.com"), pins: file.hosts[0].pins)
                let wider = try PinFile(
                    issuedAt: file.issuedAt, notAfter: file.notAfter, refresh: file.refresh, hosts: file.hosts + [other]
                )
                _ = try state.prepare(pins: wider.json, at: scene.clock.now)
            }
            try await scene.publish(online)
            scene.clock.advance(by: .seconds(RepositoryScene.day))
            try await replacePins(scene, by: scene.leaf)
            let judged = try outlook(scene, try await earlier(scene), showing: scene.leaf)
            #expect(judged.worst == .unreachable && judged.findings.count == 1, "\(judged.findings)")
            #expect(judged.findings.first?.text.contains("old.example.com, which was not asked") == true)
        }
    }

    @Test("Targets of before with a signature that does not verify are damaged, and not of others")
    func damaged() async throws {
        try await published { scene in
            scene.clock.advance(by: .seconds(RepositoryScene.day))
            try await replacePins(scene, by: try leaf(scene))
            let file = scene.repository.published.appending(path: "metadata/1.targets.json")
            var text = try String(contentsOf: file, encoding: .utf8)
            let range = try #require(text.firstRange(of: /"sig":"[0-9a-f]{20}/))
            text.replaceSubrange(range, with: "\"sig\":\"" + String(repeating: "0", count: 20))
            try Data(text.utf8).write(to: file)
            let held = try await earlier(scene)
            #expect(held.documents.isEmpty && held.gaps.count == 1)
        }
    }

    @Test("One document that is named does not fill two gaps")
    func twoGaps() {
        var held = EarlierDocuments(gaps: ["targets 5 are gone", "targets 6 are gone"])
        func named(_ octet: UInt8) -> PublicationOutlook.Document {
            .init("old.json", kind: .staticList(publicKey: ""), octets: Data([octet]), published: .distantPast)
        }
        held.name([named(1), named(1)])
        #expect(held.gaps.count == 2)
        held.name([named(1), named(2)])
        #expect(held.gaps.isEmpty)
    }

    @Test("A bundle without timestamp counts only if another has replaced it, and only with enough signatures")
    func withoutTimestamp() async throws {
        try await published { scene in
            scene.clock.advance(by: .seconds(RepositoryScene.day))
            try await replacePins(scene, by: try leaf(scene))
            let held = try #require(try await earlier(scene).documents.first)
            let root = try scene.served("metadata/1.root.json")
            #expect(throws: StoreError.self) {
                try PinBundlePins(held.octets, root: root, issuedUpTo: scene.clock.now)
            }
            #expect(throws: Never.self) {
                try PinBundlePins(held.octets, root: root, issuedUpTo: scene.clock.now, isReplaced: true)
            }
            var forged = try RepositoryBundle([UInt8](held.octets), maximumBytes: 1 << 20)
            forged.pins = try scene.pinFile(active: try leaf(scene)).data
            #expect(throws: StoreError.self) {
                try PinBundlePins(forged.json, root: root, issuedUpTo: scene.clock.now, isReplaced: true)
            }
            let stranger = try scene.served("metadata/1.snapshot.json")
            forged.targets = stranger
            #expect(throws: StoreError.self) {
                try PinBundlePins(forged.json, root: root, issuedUpTo: scene.clock.now, isReplaced: true)
            }
        }
    }
}

extension PinFile {
    fileprivate var data: Data { Data(json) }
}
