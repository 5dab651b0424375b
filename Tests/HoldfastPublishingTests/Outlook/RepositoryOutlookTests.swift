import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

@Suite("The outlook of a repository", .timeLimit(.minutes(15)))
struct RepositoryOutlookTests {
    private let offline = TUFSigningKey()
    private let online = TUFSigningKey()

    private func outlook(
        _ scene: RepositoryScene, renewed: Date? = nil, span: TimeInterval = 45 * RepositoryScene.day
    ) throws -> PublicationOutlook {
        let chain = scene.leaf.chain.map { Data($0) }
        return try PublicationOutlook(
            judging: .init(
                documents: [
                    .init(
                        "bundle.json", kind: .repository(root: try scene.served("metadata/1.root.json")),
                        octets: try scene.served("bundle.json"), published: RepositoryScene.start,
                        renewalInterval: .seconds(RepositoryScene.day), lastRenewal: renewed)
                ],
                hosts: [.init(RepositoryScene.host, shown: [.init(chain, at: "192.0.2.1", seen: scene.clock.now)])],
                platforms: [.init("company root", anchors: [Data(scene.authority.root)])],
                appVersions: .noShippedPins, span: .seconds(span), now: scene.clock.now))
    }

    private func published(_ body: (RepositoryScene) async throws -> Void) async throws {
        try await RepositoryScene.published(root: [offline], targets: [offline], online: online, body)
    }

    @Test("While a machine renews it, a new repository's clients get in until the pins need the offline key")
    func freshRepository() async throws {
        try await published { scene in
            let outlook = try outlook(scene)
            #expect(outlook.rows.map(\.holders) == [.current, .beginning])
            #expect(outlook.verdict == .in)
            #expect(outlook.rows.map(\.verdict) == [.in, .in])
            let long = try self.outlook(scene, span: 100 * RepositoryScene.day)
            #expect(long.verdict == .ending)
            #expect(long.rows[0].cause?.code == .pins)
            #expect(
                long.rows[0].verdictEnd == RepositoryScene.start.addingTimeInterval(90 * RepositoryScene.day + 1))
        }
    }

    @Test("On day 106, with 90 days of pins and 14 of grace over, everybody is locked out, however fresh the timestamp")
    func day106() async throws {
        try await published { scene in
            for (day, verdict) in [
                (89, PublicationOutlook.Verdict.ending), (95, .ending), (103, .ending), (105, .out), (106, .out),
            ] {
                scene.clock.set(RepositoryScene.start.addingTimeInterval(Double(day) * RepositoryScene.day))
                try await scene.publish(online, renewing: true)
                let outlook = try outlook(scene, renewed: scene.clock.now)
                #expect(outlook.verdict == verdict, "day \(day)")
                #expect(outlook.rows[0].cause?.code == (day == 95 || day == 103 ? .grace : .pins), "day \(day)")
                // As the devices themselves have it.
                let device = try scene.device(.bundle)
                _ = try? await device.update(mode: .forced)
                #expect(try scene.lockedOut([device]) == (verdict == .out ? 1 : 0), "day \(day)")
            }
        }
    }

    @Test("Once nobody renews it, clients that begin are refused from the end of the timestamp on")
    func stoppedRenewal() async throws {
        try await published { scene in
            scene.clock.set(RepositoryScene.start.addingTimeInterval(2 * RepositoryScene.day))
            let outlook = try outlook(scene)
            #expect(outlook.verdict == .ending)
            let row = outlook.rows[try #require(outlook.decisive)]
            #expect(row.holders == .beginning)
            #expect(row.cause?.code == .timestamp)
            let end = try #require(row.verdictEnd)
            for (time, refused) in [(end.addingTimeInterval(-1), 0), (end, 1)] {
                scene.clock.set(time)
                #expect(await scene.refusing([try scene.device(.bundle)]).count == refused)
            }
            #expect(outlook.rows[0].verdict == .in)
        }
    }

    @Test("A renewal of the future is none: without one in time, the ends of the metadata count")
    func futureRenewal() async throws {
        try await published { scene in
            let now = scene.clock.now
            let renewed = try outlook(scene, renewed: now)
            let ahead = try outlook(scene, renewed: now.addingTimeInterval(1))
            #expect(renewed.verdict == .in)
            #expect(ahead.verdict == .ending)
        }
    }

    @Test("A bundle that the build's root does not prove gets nobody in")
    func otherRoot() async throws {
        try await published { scene in
            let (rare, daily) = (TUFRoleKeys([TUFSigningKey().publicKey]), TUFRoleKeys([TUFSigningKey().publicKey]))
            let stranger = try TUFRepositoryState(
                roles: [.root: rare, .targets: rare, .snapshot: daily, .timestamp: daily], at: scene.clock.now)
            var inputs = PublicationOutlook.Inputs(
                documents: [
                    .init(
                        "bundle.json", kind: .repository(root: try #require(stranger.newestRoot?.data)),
                        octets: try scene.served("bundle.json"), published: RepositoryScene.start)
                ],
                hosts: [
                    .init(
                        RepositoryScene.host,
                        shown: [.init(scene.leaf.chain.map { Data($0) }, at: "192.0.2.1", seen: scene.clock.now)])
                ], platforms: [.init("company root", anchors: [Data(scene.authority.root)])],
                appVersions: .noShippedPins, now: scene.clock.now)
            #expect(try PublicationOutlook(judging: inputs).verdict == .out)
            inputs.documents[0].octets = Data("{}".utf8)
            let outlook = try PublicationOutlook(judging: inputs)
            #expect(outlook.verdict == .out)
            #expect(outlook.rows[0].cause?.code == .document)
        }
    }
}
