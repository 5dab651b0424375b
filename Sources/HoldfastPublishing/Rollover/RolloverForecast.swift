import Foundation
import Holdfast

/// Which clients would refuse which identity at which time: the facts of a situation, divided at the instants at which
/// something changes.
struct RolloverForecast {
    /// The clients that hold a document.
    struct Holding {
        /// The index of the situation's clients.
        let clients: Int
        /// The first instant at which no client holds it.
        let until: Date
        /// The weight of a lockout of these clients: the time for which the document could be fetched, at most the
        /// staleness, plus a second, so that the weight is never zero.
        let weight: Double
        let admissions: [[Range<Date>]]
    }

    /// The instants at which something changes; the first is now.
    private(set) var instants: [Date]
    private(set) var holdings: [Holding] = []
    /// For each instant, the weight of the clients that refuse each identity; infinite if the identity is not valid or
    /// cannot be presented.
    private(set) var costs: [[Double]] = []
    /// For each instant, the lowest cost; infinite if no identity is valid.
    private(set) var best: [Double] = []

    /// The first instant at which all documents are known.
    private let unknownUntil: Date

    /// The weight, in seconds, of clients with unknown staleness: a year.
    private static let unknownStaleness: Double = 365 * 86_400

    /// - Parameter publishes: whether a document with the pins of all identities replaces the published one now.
    ///   Otherwise the published one is assumed to be renewed in time.
    init(_ situation: RolloverSituation, publishes: Bool) {
        instants = [situation.time]
        unknownUntil = situation.unknownUntil ?? .distantPast
        note(unknownUntil)
        let usable = situation.usable
        findHoldings(situation, publishes: publishes)
        for index in usable.indices where usable[index] { note(situation.identities[index].validity) }
        for holding in holdings {
            note(holding.until)
            for index in usable.indices where usable[index] { note(holding.admissions[index]) }
        }
        let none = usable.map { $0 ? 0 : Double.infinity }
        for instant in instants {
            var cost = none
            for index in usable.indices where usable[index] {
                guard Self.contains(instant, in: situation.identities[index].validity) else {
                    cost[index] = .infinity
                    continue
                }
                for holding in holdings
                where instant < holding.until && !Self.contains(instant, in: holding.admissions[index]) {
                    cost[index] += holding.weight
                }
            }
            var lowest = Double.infinity
            for cost in cost where cost < lowest { lowest = cost }
            costs.append(cost)
            best.append(lowest)
        }
    }

    private mutating func findHoldings(_ situation: RolloverSituation, publishes: Bool) {
        let now = situation.time
        let span = situation.staleness?.inSeconds ?? Self.unknownStaleness
        for (index, clients) in situation.clients.enumerated() {
            if clients.isShipped {
                let until = clients.usedUntil ?? .distantFuture
                guard until > now else { continue }
                holdings.append(
                    Holding(clients: index, until: until, weight: 1 + span, admissions: clients.admissions))
                continue
            }
            guard let replaced = clients.replaced ?? (publishes ? now : nil) else {
                // Its pins will be published again before they end.
                var admissions = clients.admissions
                for (index, identity) in situation.identities.enumerated()
                where Self.isAdmitted(identity.validity, by: admissions[index], after: now) {
                    admissions[index] = identity.validity
                }
                holdings.append(
                    Holding(clients: index, until: .distantFuture, weight: 1 + span, admissions: admissions))
                continue
            }
            let until = situation.lastUse(ofDocumentReplacedAt: replaced)
            // A document that was replaced at once was never fetched.
            guard clients.published < replaced, until > now else { continue }
            let live = min(span, replaced.timeIntervalSince(clients.published))
            holdings.append(Holding(clients: index, until: until, weight: 1 + live, admissions: clients.admissions))
        }
    }

    private mutating func note(_ ranges: [Range<Date>]) {
        for range in ranges {
            note(range.lowerBound)
            note(range.upperBound)
        }
    }

    /// Inserts an instant in order, once.
    private mutating func note(_ instant: Date) {
        guard instant > instants[0], instant < .distantFuture else { return }
        var place = instants.count
        while instants[place - 1] > instant { place -= 1 }
        if instants[place - 1] != instant { instants.insert(instant, at: place) }
    }

    private static func contains(_ instant: Date, in ranges: [Range<Date>]) -> Bool {
        for range in ranges where range.lowerBound <= instant && instant < range.upperBound { return true }
        return false
    }

    /// Whether the first valid time of an identity after an instant is admitted at its beginning.
    static func isAdmitted(_ validity: [Range<Date>], by admitted: [Range<Date>], after now: Date) -> Bool {
        for range in validity where range.upperBound > now {
            return contains(max(now, range.lowerBound), in: admitted)
        }
        return false
    }

    /// The holdings that refuse an identity at an instant, as indices.
    func refusing(_ identity: Int, at index: Int) -> [Int] {
        let instant = instants[index]
        return holdings.indices.filter { place in
            instant < holdings[place].until && !Self.contains(instant, in: holdings[place].admissions[identity])
        }
    }

    /// Whether it is certain at an instant that no client refuses an identity.
    func isHarmless(_ identity: Int, at index: Int) -> Bool {
        costs[index][identity] == 0 && instants[index] >= unknownUntil
    }

    /// The first instant from which no client refuses an identity, as long as it is valid.
    func ready(_ identity: Int) -> Date? {
        var ready: Date?
        for (index, instant) in instants.enumerated() {
            let cost = costs[index][identity]
            // After the identity has ended, clients no longer matter.
            if cost == .infinity, ready != nil { break }
            if cost == 0, instant >= unknownUntil { ready = ready ?? instant } else { ready = nil }
        }
        return ready
    }

    /// The index of the first instant, from an index on, at which another identity costs less.
    func firstBetter(than identity: Int, from index: Int = 0) -> Int? {
        for place in index..<instants.count where costs[place][identity] > best[place] { return place }
        return nil
    }
}
