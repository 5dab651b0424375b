import Foundation
import HoldfastPublishing
import HoldfastTesting

/// Follows the advice through many fleets, and counts what comes of it.
struct RolloverCampaign {
    /// The most steps that the advice takes for a change without loss, waits included: a change of servers that relieves
    /// and a publication, twice, with waits in between; the change itself, a backup, and the removal.
    /// Where several documents are published, the clients of each may need a relief of their own.
    static func mostSteps(_ fleet: RolloverFleet) -> Int { 6 + 2 * fleet.streams }

    private(set) var fleets = 0
    private(set) var savable = 0
    /// Those of the savable that need three steps or more.
    private(set) var long = 0
    /// The most steps that were needed.
    private(set) var most = 0
    private(set) var lossy = 0
    private(set) var blocked = 0
    private(set) var failures: [String] = []

    /// Changes a fleet by a person who follows the advice at once, and by one who does not.
    /// - Parameter streams: how many documents are published at once.
    mutating func run(_ seed: Int, streams: Int = 1) {
        var random = SplitMix64(seed: UInt64(seed))
        let fleet = RolloverFleet(using: &random, streams: streams)
        fleets += 1
        for manner in [.literal, seed & 1 == 0 ? RolloverPerson.Manner.late : .halfway] {
            var world = RolloverWorld(fleet)
            var person = RolloverPerson(scene: RolloverScene(fleet), manner: manner, random: random)
            let outcome = person.follow(&world)
            var problems = outcome.harm + outcome.past
            if manner == .literal { problems += judge(outcome, world, fleet) }
            for problem in problems { failures.append("seed \(seed), \(manner): \(problem)\n\(fleet)") }
        }
    }

    private mutating func judge(
        _ outcome: RolloverPerson.Outcome, _ world: RolloverWorld, _ fleet: RolloverFleet
    ) -> [String] {
        guard let advice = outcome.first else { return ["no advice"] }
        var problems: [String] = []
        let least = RolloverReference(fleet).steps()
        if let least {
            savable += 1
            if least >= 3 { long += 1 }
            most = max(most, outcome.steps)
            if !advice.savesEverybody { problems.append("savable in \(least), but \(advice)") }
            if world.loss > 0 { problems.append("savable in \(least), but loses \(world.loss)") }
            if !outcome.isFinished { problems.append("savable in \(least), but never finished: \(outcome)") }
            if outcome.steps > Self.mostSteps(fleet) {
                problems.append("savable in \(least), but takes \(outcome.steps)")
            }
            return problems
        }
        lossy += 1
        if advice.savesEverybody { problems.append("not savable, but \(advice)") }
        if !advice.blocking.isEmpty { blocked += 1 }
        let loss = RolloverReference(fleet).leastLoss()
        if world.loss != loss { problems.append("loses \(world.loss), could be \(loss)") }
        let named = RolloverWorld(fleet).named(in: advice)
        if named != world.refused { problems.append("names \(named), lost \(world.refused): \(advice)") }
        return problems
    }

    /// Adds what another has counted.
    mutating func add(_ other: RolloverCampaign) {
        fleets += other.fleets
        savable += other.savable
        long += other.long
        most = max(most, other.most)
        lossy += other.lossy
        blocked += other.blocked
        failures += other.failures
    }

    var summary: String {
        "\(fleets) fleets: \(savable) savable, \(long) of them in 3 steps or more, at most \(most); \(lossy) not, "
            + "\(blocked) of them blocked"
    }
}
