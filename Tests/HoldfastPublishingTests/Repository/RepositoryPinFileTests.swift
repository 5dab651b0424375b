#if os(macOS) || os(Linux)
import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import HoldfastPublishing
@testable import HoldfastTUF

@Suite("Pin files of a repository, before clients get them", .timeLimit(.minutes(15)))
struct RepositoryPinFileTests {
    private let offline = TUFSigningKey()
    private let online = TUFSigningKey()

    private func published(_ body: (RepositoryScene) async throws -> Void) async throws {
        try await RepositoryScene.published(root: [offline], targets: [offline], online: online, body)
    }

    /// The scene's pins with an end of their own.
    private func file(
        _ scene: RepositoryScene, issued days: Double = 0, activeUntil active: Double? = nil,
        backupUntil backup: Double? = nil, _ afterExpiry: PinSet.ExpiryAction = .reject
    ) throws -> PinFile {
        func time(_ days: Double) -> Date { scene.clock.now.addingTimeInterval(days * RepositoryScene.day) }
        return try PinFile(
            issuedAt: time(days), notAfter: time(90), refresh: PinFile.Refresh(after: 21_600, grace: 14 * 86_400),
            hosts: [
                try PinFile.Host(
                    HostPattern(RepositoryScene.host), afterExpiry: afterExpiry,
                    pins: [
                        try PinFile.KeyPin(Pin.publicKey(of: scene.leaf.der), notAfter: active.map(time)),
                        try PinFile.KeyPin(
                            Pin.publicKey(of: scene.backup.der), state: .backup, notAfter: backup.map(time)),
                    ])
            ])
    }

    @Test("Hosts of which all pins expire before the timestamp does are published only where that is allowed")
    func endingHosts() async throws {
        try await published { scene in
            for (active, backup, afterExpiry, isRefused) in [
                (5, 13, .reject, true), (5, 15, .reject, false), (5, nil, .reject, false),
                (5, 13, .standardValidation, false),
            ] as [(Double?, Double?, PinSet.ExpiryAction, Bool)] {
                let pins = try file(scene, activeUntil: active, backupUntil: backup, afterExpiry).json
                try await scene.prepare(signedBy: [offline]) { _ = try $0.prepare(pins: pins, at: scene.clock.now) }
                guard isRefused else {
                    #expect(try await scene.publication(online).objects.isEmpty == false)
                    continue
                }
                let refusal = await #expect(throws: TUFRepositoryError.self) {
                    _ = try await scene.publication(online)
                }
                #expect(refusal?.code == .tooShort && refusal?.expected.contains(RepositoryScene.host) == true)
                #expect(try await scene.publication(online, allowing: [.expiry]).objects.isEmpty == false)
            }
        }
    }

    @Test("With leafAndIssuer the pins of either role have to last")
    func bothRoles() throws {
        let digest = { (octet: UInt8) in try Pin(subject: .publicKey, digest: [UInt8](repeating: octet, count: 32)) }
        let end = RepositoryScene.start
        let host = try PinFile.Host(
            HostPattern(RepositoryScene.host), requirement: .oneOfEachRole,
            pins: [
                try PinFile.KeyPin(digest(1)), try PinFile.KeyPin(digest(2), state: .backup),
                try PinFile.KeyPin(digest(3), role: .issuer, notAfter: end),
            ])
        let file = try PinFile(hosts: [host])
        // The last second counts.
        #expect(TUFLastingPins(file, at: end.addingTimeInterval(0.5)).ended.isEmpty)
        #expect(TUFLastingPins(file, at: end.addingTimeInterval(1)).closed == [host])
    }

    @Test("Pins that were issued more than a day ahead are neither prepared nor published")
    func future() async throws {
        try await published { scene in
            var state = try await scene.repository.state()
            let pins = try file(scene, issued: 3).json
            let refusal = #expect(throws: TUFRepositoryError.self) {
                try state.prepare(pins: pins, at: scene.clock.now)
            }
            #expect(refusal?.code == .invalidPins)
            // The machine on which they are prepared is three days ahead.
            try await scene.prepare(signedBy: [offline]) {
                _ = try $0.prepare(pins: pins, at: scene.clock.now.addingTimeInterval(3 * RepositoryScene.day))
            }
            let late = await #expect(throws: TUFRepositoryError.self) { _ = try await scene.publication(online) }
            #expect(late?.code == .invalidPins && late?.expected.contains("a day ahead") == true)
            scene.clock.advance(by: .seconds(2.5 * RepositoryScene.day))
            #expect(try await scene.publication(online).objects.isEmpty == false)
        }
    }

    @Test("Pins that last longer than apps accept are refused before anybody signs them, and signed by nobody")
    func length() async throws {
        try await published { scene in
            var state = try await scene.repository.state()
            // With a grace of fourteen days.
            let refusal = #expect(throws: TUFRepositoryError.self) {
                try state.prepare(pins: scene.pinFile(days: 387).json, at: scene.clock.now)
            }
            #expect(refusal?.code == .invalidPins && refusal?.expected.contains("400 days") == true)
            #expect(refusal?.found.hasPrefix("401 days, until ") == true)
            #expect(state.hasNoDraft)
            try state.prepare(pins: scene.pinFile(days: 386).json, at: scene.clock.now)
        }
    }

    @Test("The time of a publication is that of its first snapshot, whatever was renewed, copied or prepared before")
    func history() async throws {
        try await published { scene in
            let start = scene.clock.now
            var pins = [try scene.pinFile().json]
            scene.clock.advance(by: .seconds(80 * RepositoryScene.day))
            // A snapshot is made again, of the same targets.
            try await scene.publish(online, renewing: true)
            for days in [3.0, 3, 3] {
                // Prepared, and signed weeks later.
                try await scene.prepare(signedBy: [offline])
                pins.insert(try scene.pinFile().json, at: 0)
                scene.clock.advance(by: .seconds(days * RepositoryScene.day))
                try await scene.publish(online)
            }
            func history(backTo days: Double) async -> [TUFPublishedPins] {
                await scene.repository.publishedPins(
                    upTo: 4, backTo: scene.clock.now.addingTimeInterval(-days * RepositoryScene.day))
            }
            let all = await history(backTo: 100)
            #expect(all.map(\.pins) == pins)
            #expect(
                all.map { ($0.since.timeIntervalSince(start) / RepositoryScene.day).rounded() } == [89, 86, 83, 0])
            let (four, none) = (await history(backTo: 4), await history(backTo: 0))
            #expect(four.count == 3 && none.count == 1)
            // Without a snapshot of its own, a version is as old as the next one.
            for version in [1, 4] {
                try FileManager.default.removeItem(
                    at: scene.repository.published.appending(path: "metadata/\(version).snapshot.json"))
            }
            let later = await history(backTo: 100)
            #expect(
                later.map { ($0.since.timeIntervalSince(start) / RepositoryScene.day).rounded() }
                    == [89, 89, 83, 80])
        }
    }
}
#endif
