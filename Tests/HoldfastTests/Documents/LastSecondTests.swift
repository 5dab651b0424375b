import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

/// Most formats state the last second that counts, some the first that does not; each is asked by itself.
@Suite("The last second of each format", .timeLimit(.minutes(15)))
struct LastSecondTests {
    enum Format: String, Sendable, CaseIterable {
        case certificate, fingerprintList, challengeAnswer, trustServer, trustServerFreshness, pinFile, pinOfPinFile
        case revocationList, revocationStore, logInterval

        /// Whether the second that is stated still counts.
        var isInclusive: Bool { self != .logInterval }
    }

    @Test(
        "It counts one second before its stated end, at it if that is its last second, and not one after it",
        arguments: Format.allCases)
    func lastSecond(format: Format) async throws {
        let counts = try await verdict(of: format)
        for (seconds, expected) in [(-1.0, true), (0, format.isInclusive), (0.999, format.isInclusive), (1, false)] {
            #expect(try counts(seconds) == expected, "\(seconds) s")
        }
    }

    /// Whether a document of the format counts so many seconds after the end that it states.
    private func verdict(of format: Format) async throws -> (TimeInterval) throws -> Bool {
        switch format {
        case .certificate:
            let root = try Judge.root()
            let leaf = try root.leaf(names: [.dns(Judge.host)]) { $0.notAfter = .hours(1) }
            return { try Judge.complaint(leaf.chain, trusting: [root.root], at: Judge.now + 3_600 + $0) == nil }
        case .fingerprintList, .challengeAnswer:
            let fixture = try StoreFixture(useChallenge: format == .challengeAnswer)
            let store = fixture.store()
            if format == .challengeAnswer {
                fixture.publishSigned([(StoreFixture.name, 1, 1)])
            } else {
                try fixture.publish([(StoreFixture.name, 1, 1)])
            }
            try await store.update()
            return { seconds in
                fixture.clock.set(Date(wholeSeconds: StoreFixture.start + StoreFixture.day).addingTimeInterval(seconds))
                let isTrusted = store.judge(1) == .trusted
                #expect((store.state == .fresh) == isTrusted)
                return isTrusted
            }
        case .trustServer, .trustServerFreshness:
            let fixture = try TrustServerStoreFixture()
            let store = try fixture.store()
            try fixture.publish()
            try await store.update()
            let end = fixture.clock.now + 3_600 + (format == .trustServer ? 86_400 : 0)
            let policy = try store.policy(for: PolicyFixture.host)
            return { seconds in
                fixture.clock.set(end.addingTimeInterval(seconds))
                guard format == .trustServer else { return store.state == .fresh }
                let isTrusted = try policy.evaluate(fixture.pki.trust(), at: fixture.clock.now).isTrusted
                #expect((store.state == .grace) == isTrusted)
                return isTrusted
            }
        case .pinFile, .pinOfPinFile:
            let scene = try PinFileScene()
            let end = scene.now + 3_600
            let pin = try scene.pin(scene.leafPin, until: format == .pinOfPinFile ? end : nil)
            let file = try scene.file(
                [pin], notAfter: format == .pinFile ? end - 60 : nil, grace: format == .pinFile ? 60 : 0)
            return { try scene.decision(file, at: end + $0).isTrusted }
        case .revocationList:
            let root = try Judge.root()
            let leaf = try root.leaf(names: [.dns(Judge.host)])
            var scene = RevocationScene(root)
            scene.lists = [try root.revocationList { $0.nextUpdate = .hours(1) }]
            let validator = try scene.validator(.fails, .fails)
            let purpose = ValidationPurpose.server(identity: try DialedHost(Judge.host))
            return { seconds in
                let outcome = validator.validate(
                    PresentedChain(leaf.chain), for: purpose, at: Judge.now + 3_600 + seconds
                ) {
                    _ in true
                }
                if let path = outcome.path { #expect(path.holdsUntil == Judge.now + 3_601) }
                return outcome.path != nil
            }
        case .revocationStore:
            let fixture = try RevocationStoreFixture()
            fixture.publish([RevocationStoreFixture.issuingURL: try fixture.list { $0.nextUpdate = .hours(1) }])
            let store = try fixture.store { $0.unknownLeaf = .fails }
            try await store.update()
            let end = try #require(store.lists.first?.list?.nextUpdate)
            #expect(end == fixture.clock.now + 3_600)
            return { seconds in
                fixture.clock.set(end.addingTimeInterval(seconds))
                let isTrusted = try fixture.code(store) == nil
                #expect((store.state == .fresh) == isTrusted && store.lists.first?.isUsable == isTrusted)
                return isTrusted
            }
        case .logInterval:
            let end = Judge.now + 3_600
            let interval = TransparencyLog.TemporalInterval(start: Judge.now, end: end)
            return { interval.contains((end + $0).wholeSeconds) }
        }
    }
}
