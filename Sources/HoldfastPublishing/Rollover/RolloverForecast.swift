import Foundation
import Holdfast

/// Which clients would refuse which identity when: the facts of a situation, laid out between the instants at which
/// something changes.
struct RolloverForecast {
    /// The clients that hold a document.
    struct Holding {
        /// An index of the situation's clients.
        let clients: Int
        /// The first instant at which nobody holds it anymore.
        let until: Date
        /// How much it weighs that they are refused: for how long the document could be fetched, at most the staleness,
        /// and a second, so that nobody weighs nothing.
        let weight: Double
        let admissions: [[Range<Date>]]
    }

    /// The instants from which something is different; the first is now.
    private(set) var instants: [Date]
    private(set) var holdings: [Holding] = []
    /// For each instant, what the clients weigh that refuse each identity; infinite where it is not valid or cannot be
    /// shown.
    private(set) var costs: [[Double]] = []
    /// For each instant, the lowest cost; infinite where nothing is valid.
    private(set) var best: [Double] = []

    /// The first instant at which all documents are known.
    private let unknownUntil: Date

    /// The weight, in seconds, of clients whose staleness nobody knows: a year.
    private static let unknownStaleness: Double = 365 * 86_400

    /// - Parameter publishes: whether a document with the pins of everything takes the place of the published one now.
    ///   Otherwise that one is taken to be renewed in time.
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
            // Nobody fetched what was replaced at once.
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

    /// Takes an instant up, in order and once.
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

    /// Whether what is valid after an instant is admitted at the beginning of that.
    static func isAdmitted(_ validity: [Range<Date>], by admitted: [Range<Date>], after now: Date) -> Bool {
        for range in validity where range.upperBound > now {
            return contains(max(now, range.lowerBound), in: admitted)
        }
        return false
    }

    /// Which holdings refuse an identity at an instant, as indices.
    func refusing(_ identity: Int, at index: Int) -> [Int] {
        let instant = instants[index]
        return holdings.indices.filter { place in
            instant < holdings[place].until && !Self.contains(instant, in: holdings[place].admissions[identity])
        }
    }

    /// Whether it is known at an instant that no client refuses an identity.
    func isHarmless(_ identity: Int, at index: Int) -> Bool {
        costs[index][identity] == 0 && instants[index] >= unknownUntil
    }

    /// The first instant from which no client refuses an identity anymore, as long as it is valid.
    func ready(_ identity: Int) -> Date? {
        var ready: Date?
        for (index, instant) in instants.enumerated() {
            let cost = costs[index][identity]
            // Past its own time nothing is said about clients.
            if cost == .infinity, ready != nil { break }
            if cost == 0, instant >= unknownUntil { ready = ready ?? instant } else { ready = nil }
        }
        return ready
    }

    /// The index of the first instant, from an index on, at which something else costs less than an identity.
    func firstBetter(than identity: Int, from index: Int = 0) -> Int? {
        for place in index..<instants.count where costs[place][identity] > best[place] { return place }
        return nil
    }
}
