import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastTesting
import Testing

@Suite("A rollover that follows the advice", .timeLimit(.minutes(30)))
struct RolloverModelTests {
    /// How many fleets a campaign has.
    private static let count = ProcessInfo.processInfo.environment["HOLDFAST_FLEETS"].flatMap { Int($0) } ?? 10_000

    private static func campaign(through count: Int, streams: Int = 1) async -> RolloverCampaign {
        let parts = 4
        return await withTaskGroup { group in
            for part in 0..<parts {
                group.addTask {
                    var campaign = RolloverCampaign()
                    for seed in stride(from: part, to: count, by: parts) {
                        campaign.run(seed, streams: streams)
                        // Other tests run on the same threads, and some have servers that wait for an answer.
                        await Task.yield()
                    }
                    return campaign
                }
            }
            var all = RolloverCampaign()
            for await campaign in group { all.add(campaign) }
            return all
        }
    }

    @Test("Nobody is refused whom anybody could save, and who cannot be saved is named")
    func campaign() async throws {
        let campaign = await Self.campaign(through: Self.count)
        print("Rollover: \(campaign.summary)")
        #expect(campaign.failures.isEmpty, "\(campaign.failures.count): \(campaign.failures.prefix(3))")
        #expect(campaign.fleets == Self.count && campaign.long * 10 >= Self.count * 3)
    }

    @Test("The same holds where two documents are published at once, each for apps of its own")
    func severalDocuments() async throws {
        let count = Self.count / 5
        let campaign = await Self.campaign(through: count, streams: 2)
        print("Rollover of two documents: \(campaign.summary)")
        #expect(campaign.failures.isEmpty, "\(campaign.failures.count): \(campaign.failures.prefix(3))")
        #expect(campaign.fleets == count && campaign.long * 10 >= count * 2 && campaign.lossy * 50 > count)
    }

    @Test("The reference finds no more if it may publish any set of pins, one at a time")
    func exhaustive() {
        for seed in 0..<200 {
            var random = SplitMix64(seed: UInt64(seed))
            let fleet = RolloverFleet(using: &random, streams: seed < 150 ? 1 : 2)
            let (some, all) = (RolloverReference(fleet).steps(), RolloverReference(fleet, isExhaustive: true).steps())
            #expect(some == all, "seed \(seed)")
        }
    }

    private static func advice(_ fleet: RolloverFleet) -> RolloverAdvice {
        RolloverAdvice(on: RolloverScene(fleet).situation(of: RolloverWorld(fleet)))
    }

    private static func date(_ tick: Int) -> Date { RolloverScene.date(tick) }

    @Test("A certificate that follows is not withdrawn because it ends first")
    func earlierEnd() {
        // The next certificate (1) ends before the one that is served (0).
        var fleet = RolloverFleet(
            kind: .list, staleness: 2, servers: [0, 0], documents: [.init(published: -1, mask: 0b011, end: 1_000)],
            ends: [19, 12, 1_000, 1_000], target: 1)
        fleet.deployable = 0b011
        #expect(Self.advice(fleet).step == .deploy(1, servers: [0, 1], before: nil))
        // The withdrawn pin stays as a fallback until a published one outlasts what is served.
        fleet.servers = [1, 1]
        #expect(Self.advice(fleet).step == .prepareNext(by: Self.date(10)))
        fleet.documents[0].mask = 0b111
        fleet.deployable = 0b111
        #expect(Self.advice(fleet).step == .remove([0]))
        // And nothing is withdrawn without a request.
        fleet.retiring = 0
        fleet.target = nil
        for servers in [[0, 0], [0, 1], [1, 1]] {
            fleet.servers = servers
            if case .remove = Self.advice(fleet).step { Issue.record("\(Self.advice(fleet))") }
        }
    }

    @Test("What some servers show already goes before the backup")
    func halfDeployed() {
        var fleet = RolloverFleet(
            kind: .pinFile, staleness: 2, servers: [1, 1, 0],
            documents: [.init(published: -9, mask: 0b111, end: 1_000)], target: nil)
        fleet.retiring = 0b001
        #expect(Self.advice(fleet).step == .deploy(1, servers: [2], before: nil))
    }

    @Test("What must wait for clients that hold older documents says until when, and for whom nobody can wait")
    func waiting() {
        var fleet = RolloverFleet(
            kind: .pinFile, staleness: 4, servers: [0],
            documents: [.init(published: -9, mask: 0b001, end: 1_000), .init(published: -1, mask: 0b111, end: 1_000)],
            target: 1)
        #expect(Self.advice(fleet).step == .wait(until: Self.date(3)))
        fleet.shipped = [.init(published: -50, mask: 0b101, end: 1_000, usedUntil: 7)]
        #expect(Self.advice(fleet).step == .wait(until: Self.date(7)))
        fleet.shipped[0].usedUntil = RolloverFleet.never
        let blocked = Self.advice(fleet)
        #expect(blocked.step == .wait(until: nil) && blocked.blocking == [2] && blocked.lost.isEmpty)
        #expect(!blocked.savesEverybody)
    }

    @Test("While clients may hold documents that nobody has given, servers stay as they are")
    func unknownDocuments() {
        let fleet = RolloverFleet(
            kind: .pinFile, staleness: 4, servers: [1, 0],
            documents: [.init(published: -1, mask: 0b111, end: 1_000)], target: 1)
        var situation = RolloverScene(fleet).situation(of: RolloverWorld(fleet))
        #expect(RolloverAdvice(on: situation).step == .deploy(1, servers: [1], before: nil))
        situation.unknownUntil = Self.date(3)
        #expect(RolloverAdvice(on: situation).step == .wait(until: Self.date(3)))
        situation.unknownUntil = .distantFuture
        #expect(RolloverAdvice(on: situation).step == .wait(until: nil))
    }

    @Test("What a step costs is what the model says of it")
    func costs() {
        var harmful = 0
        for seed in 0..<2_000 {
            var random = SplitMix64(seed: UInt64(seed))
            var fleet = RolloverFleet(using: &random)
            // It is renewed in time, whatever is done.
            fleet.documents[fleet.documents.count - 1].end = RolloverFleet.never
            let (before, situation) = (RolloverWorld(fleet), RolloverScene(fleet).situation(of: RolloverWorld(fleet)))
            var after = before
            let identity = Int.random(in: 0..<3, using: &random)
            let server = Int.random(in: fleet.servers.indices, using: &random)
            let step: RolloverAdvice.Step
            if seed % 4 == 0 {
                step = .remove([identity])
                after.publish { $0 & ~(1 << identity) }
            } else {
                step = .deploy(identity, servers: [server], before: nil)
                after.deploy(identity, on: [server])
            }
            let harm = after.harm(comparedTo: before, until: RolloverFleet.horizon)
            let costs = situation.losses(of: step)
            if case .remove = step {
                // The next document ends later, so that only servers with the key that is gone are refused.
                #expect(costs.isEmpty == (fleet.shown >> identity & 1 == 0), "seed \(seed)")
                if costs.isEmpty { #expect(harm == 0, "seed \(seed)") }
            } else {
                #expect(costs.isEmpty == (harm == 0), "seed \(seed): \(costs), \(harm), \(fleet)")
            }
            if harm != 0 { harmful += 1 }
        }
        #expect(harmful > 500)
    }
}
