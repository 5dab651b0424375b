import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("Waiting times", .timeLimit(.minutes(5)))
struct WaitingTimeTests {
    /// The options of gate, check and the verbs of repositories.
    private static func held(_ staleness: TimeSpan? = nil) -> HeldDocumentOptions {
        HeldDocumentOptions(
            builds: ShippedPinOptions(), earlier: ReplacedDocumentOptions(), givenStaleness: staleness)
    }

    @Test("gate, check, sign, list remove and rollover wait equally long for the clients of a list")
    func list() async throws {
        try await SigningSite.with { site in
            try site.list([(SigningSite.name, "a", 40)])
            let now = SystemWallClock().now
            let pins = try PublishedPins(
                list: Data(try site.text("pins.json").utf8), named: "pins.json", key: try site.key.publicKey, at: now)
            let usual = PublicationTiming.usualStaleness
            #expect(usual == .seconds(7 * 86_400))
            #expect(Self.held().staleness(of: [pins.document], at: now) == usual)
            #expect(Self.held().staleness == .usualStaleness && .seconds(TimeSpan.usualStaleness.seconds) == usual)
            for verb in [["sign"], ["list", "remove"]] {
                let help = try await site.run(verb + ["--help"])
                #expect(help.output.split { $0.isWhitespace }.joined(separator: " ").contains("7d without it"))
            }
            #expect(RolloverDocument(pins, at: now).staleness == usual)
            #expect(pins.document.waitingTime(at: now) == usual)
            let given = TimeSpan(seconds: 20 * 86_400)
            #expect(Self.held(given).staleness(of: [pins.document], at: now) == .seconds(20 * 86_400))
        }
    }

    @Test("A repository's refresh makes the wait longer than the usual one for every verb, and never shorter")
    func repository() async throws {
        try await SigningSite.with { site in
            let repository = try await PublishedRepository(in: site)
            let now = SystemWallClock().now
            for (refresh, days) in [(21_600, 7.0), (20 * 86_400, 20)] {
                let host = try PinFile.Host(
                    HostPattern(SigningSite.name),
                    pins: [
                        .init(.publicKey(of: repository.leaf.der)),
                        .init(.publicKey(of: repository.backup.der), state: .backup),
                    ])
                try await repository.replacePins(
                    with: PinFile(
                        issuedAt: now, notAfter: now.addingTimeInterval(90 * 86_400),
                        refresh: PinFile.Refresh(after: refresh, jitter: .zero, grace: 14 * 86_400), hosts: [host]))
                let bundle = try Data(contentsOf: site.published.appending(path: "bundle.json"))
                let root = try Data(contentsOf: site.published.appending(path: "metadata/1.root.json"))
                let pins = try PublishedPins(bundle: bundle, root: root, named: "site", at: SystemWallClock().now)
                let expected = Duration.seconds(days * 86_400)
                #expect(RolloverDocument(pins, at: now).staleness == expected)
                #expect(Self.held().staleness(of: [pins.document], at: SystemWallClock().now) == expected)
            }
        }
    }
}
