import Foundation
import Holdfast
import HoldfastPublishing

/// Makes the situation of a fleet: what its integers stand for.
struct RolloverScene {
    static let base = Date(timeIntervalSince1970: 2_000_000_000)

    private let fleet: RolloverFleet
    private let identities: [RolloverSituation.Identity]
    private let shipped: [RolloverSituation.Clients]

    private static let names = (0..<10).map { "\($0)" }
    private static let pins = (0..<RolloverFleet.identities).map { Pin.certificate([UInt8($0)]) }

    init(_ fleet: RolloverFleet) {
        self.fleet = fleet
        identities = fleet.ends.indices.map { identity in
            RolloverSituation.Identity(
                Self.names[identity], pin: Self.pins[identity],
                validity: [Self.date(-100)..<Self.date(fleet.ends[identity])],
                isDeployable: fleet.deployable >> identity & 1 == 1, isBackup: fleet.backups >> identity & 1 == 1,
                isRetiring: fleet.retiring >> identity & 1 == 1, isPublished: false)
        }
        shipped = fleet.shipped.enumerated().map { index, build in
            RolloverSituation.Clients(
                Self.names[index], published: Self.date(build.published), isShipped: true,
                usedUntil: build.usedUntil.flatMap { $0 == RolloverFleet.never ? nil : Self.date($0) },
                admissions: Self.admissions(build, fleet.ends))
        }
    }

    static func date(_ tick: Int) -> Date {
        tick == RolloverFleet.never ? .distantFuture : base.addingTimeInterval(Double(tick * RolloverWorld.second))
    }

    /// The first tick that is not before an instant.
    func tick(_ date: Date) -> Int {
        let ticks = date.timeIntervalSince(Self.base) / Double(RolloverWorld.second)
        return ticks > Double(RolloverFleet.never) ? RolloverFleet.never : Int(ticks.rounded(.up))
    }

    private static func admissions(_ document: RolloverFleet.Document, _ ends: [Int]) -> [[Range<Date>]] {
        var admissions: [[Range<Date>]] = []
        for (identity, end) in ends.enumerated() {
            admissions.append(
                document.mask >> identity & 1 == 1 ? [date(-100)..<date(min(document.end, end))] : [])
        }
        return admissions
    }

    func situation(of world: RolloverWorld) -> RolloverSituation {
        var identities = identities
        let (current, documents) = (world.current, world.fleet.documents)
        for index in identities.indices { identities[index].isPublished = current >> index & 1 == 1 }
        var clients: [RolloverSituation.Clients] = []
        for (index, document) in documents.enumerated() {
            clients.append(
                RolloverSituation.Clients(
                    Self.names[min(index, 9)], published: Self.date(document.published),
                    replaced: world.fleet.successor(of: index).map { Self.date($0.published) },
                    admissions: Self.admissions(document, fleet.ends)))
        }
        var servers: [RolloverSituation.Server] = []
        for (index, identity) in world.fleet.servers.enumerated() {
            servers.append(.init(Self.names[index], shows: identity))
        }
        return RolloverSituation(
            at: Self.date(world.tick), pinned: fleet.needsSpare ? .publicKey : .certificate,
            staleness: .seconds(fleet.staleness * RolloverWorld.second),
            lead: .seconds(fleet.lead * RolloverWorld.second), identities: identities, servers: servers,
            clients: clients + shipped, next: fleet.target)
    }
}
