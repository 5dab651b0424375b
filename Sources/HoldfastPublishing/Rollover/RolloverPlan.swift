import Foundation
import Holdfast

/// Computes the advice.
///
/// Adding a pin locks out no client, so all pins that may be needed are published first, and pins are withdrawn last.
/// In between, each server presents at each instant the identity that the fewest clients refuse, and changes to the
/// target as soon as no client refuses it.
struct RolloverPlan {
    private let situation: RolloverSituation
    /// The identity that all servers should present.
    private let target: Int?
    /// Whether some server presents, or would present, a retiring identity.
    private let isLeaving: Bool
    private let forecast: RolloverForecast
    private let courses: [RolloverCourse]
    /// For each identity, whether a server presents it now, or will.
    private let wanted: [Bool]
    /// The identities that are wanted, or kept as a spare, and are not published.
    private let missing: [Int]
    /// The wanted identities whose published pin ends before they do, with its end.
    private let ending: [(identity: Int, end: Date)]
    private let published: [RolloverSituation.Clients]

    init(_ situation: RolloverSituation) {
        self.situation = situation
        let published = situation.published.map { situation.clients[$0] }
        let free = RolloverForecast(situation, publishes: true)
        var planned = situation.servers.indices.map { RolloverCourse(of: $0, situation, free, situation.next) }
        let isLeaving = situation.isLeaving(planned)
        let target = situation.next ?? (isLeaving ? situation.target(free) : nil)
        if target != situation.next {
            planned = situation.servers.indices.map { RolloverCourse(of: $0, situation, free, target) }
        }
        self.isLeaving = isLeaving
        self.target = target
        var wanted = Array(repeating: false, count: situation.identities.count)
        for course in planned { for identity in course.shows { wanted[identity] = true } }
        if let target { wanted[target] = true }
        var missing: [Int] = []
        var ending: [(identity: Int, end: Date)] = []
        var isDue = false
        for identity in wanted.indices where wanted[identity] {
            guard situation.isCovered(identity, by: published) else { missing.append(identity); continue }
            guard let end = situation.end(of: identity, in: published) else { continue }
            ending.append((identity, end))
            if situation.renewal(before: end) <= situation.time { isDue = true }
        }
        if let spare = situation.missingSpare(target) { missing.append(spare) }
        self.wanted = wanted
        self.missing = missing
        self.published = published
        self.ending = ending
        if missing.isEmpty, !isDue {
            let kept = RolloverForecast(situation, publishes: false)
            forecast = kept
            courses = situation.servers.indices.map { RolloverCourse(of: $0, situation, kept, target) }
        } else {
            forecast = free
            courses = planned
        }
    }

    // MARK: The advice

    var advice: RolloverAdvice {
        RolloverAdvice(
            step, lost: losses, blocking: blocking,
            holdsUntil: earliest(courses.map { $0.laterChange.map { forecast.instants[$0] } }))
    }

    private var isAnythingValid: Bool { forecast.best[0] < .infinity }

    private var step: RolloverAdvice.Step {
        guard isAnythingValid else { return .prepareNext(by: nil) }
        if let relief = deployment(where: { forecast.costs[0][$0.shown] > forecast.best[0] }) { return relief }
        guard missing.isEmpty else { return .publish(missing) }
        let due = ending.filter { situation.renewal(before: $0.end) <= situation.time }
        if !due.isEmpty { return .renew(due.map(\.identity), by: lastCall(earliest(due.map(\.end)))) }
        if let change = deployment(where: { _ in true }) { return change }
        if let waiting { return waiting }
        return cleaning
    }

    /// A change of servers that is due, or already better than the current state.
    private func deployment(where isMeant: (RolloverCourse) -> Bool) -> RolloverAdvice.Step? {
        var (identity, servers): (Int?, [Int]) = (nil, [])
        var ends: [Date?] = []
        for course in courses where isMeant(course) {
            guard let index = course.change, dueTime(of: course, index) <= situation.time else { continue }
            let next = course.shows[index]
            // A client that has just fetched a published document would refuse it.
            guard identity ?? next == next, situation.isCovered(next, by: published) else { continue }
            identity = next
            servers.append(course.server)
            ends.append(forecast.firstBetter(than: course.shown).flatMap { $0 > 0 ? forecast.instants[$0] : nil })
        }
        guard let identity else { return nil }
        return .deploy(identity, servers: servers, before: earliest(ends))
    }

    /// When a server should change, so that people have time and no client refuses it: no later than it must.
    private func dueTime(of course: RolloverCourse, _ index: Int) -> Date {
        let next = course.shows[index]
        var first = index
        while first > 0, forecast.isHarmless(next, at: first - 1) { first -= 1 }
        return max(forecast.instants[first], forecast.instants[index].addingTimeInterval(-situation.lead.inSeconds))
    }

    /// The time of the next step other than a certificate change with the same key; nil without one.
    private var nextEvent: Date? {
        var events: [Date?] = courses.map { course in course.change.map { dueTime(of: course, $0) } }
        for (_, end) in ending { events.append(situation.renewal(before: end)) }
        return earliest(events)
    }

    /// The step that waits for the end of a change in progress.
    private var waiting: RolloverAdvice.Step? {
        guard let target else { return isLeaving ? .prepareNext(by: lastCall(nextEvent)) : nil }
        guard courses.contains(where: { $0.shown != target }) else { return nil }
        let last = situation.identities[target].validity.last?.upperBound ?? .distantPast
        guard last > situation.time else { return .prepareNext(by: lastCall(nextEvent)) }
        return .wait(until: nextEvent)
    }

    private var cleaning: RolloverAdvice.Step {
        if situation.pinned == .publicKey, !situation.hasSpare(target) { return .addBackup }
        var (old, kept): ([Int], Int) = ([], 0)
        for (index, identity) in situation.identities.enumerated() where identity.isPublished {
            if identity.isRetiring, !wanted[index] { old.append(index) } else { kept += 1 }
        }
        if !old.isEmpty, kept > 0 { return .remove(old) }
        var events = [nextEvent]
        // Going back to a retiring identity is an emergency, not a plan.
        let isChangePending = courses.contains { course in
            course.change.map { !situation.identities[course.shows[$0]].isRetiring } ?? false
        }
        // Clients need the next certificate before the current ones end.
        if let end = lastEnd {
            let date = situation.renewal(before: end)
            if date <= situation.time || situation.pinned == .certificate && !isChangePending {
                return .prepareNext(by: lastCall(end))
            }
            events.append(date)
        }
        var (keys, ends): ([Int], [Date]) = ([], [])
        for (index, identity) in situation.identities.enumerated() where courses.contains(where: { $0.shown == index })
        {
            guard let end = identity.certificateEnd else { continue }
            let date = end.addingTimeInterval(-situation.lead.inSeconds)
            events.append(date)
            if date <= situation.time { (keys, ends) = (keys + [index], ends + [end]) }
        }
        if !keys.isEmpty {
            return .renewCertificates(keys, by: earliest(ends).flatMap { $0 > situation.time ? $0 : nil })
        }
        return isChangePending ? .wait(until: earliest(events)) : .nothing(until: earliest(events))
    }

    /// When the last identity that servers can present ends, apart from retiring ones; nil if it never does.
    private var lastEnd: Date? {
        for (index, costs) in forecast.costs.enumerated() {
            let isAnythingLeft = costs.indices.contains {
                costs[$0] < .infinity && !situation.identities[$0].isRetiring
            }
            if !isAnythingLeft { return forecast.instants[index] }
        }
        return nil
    }

    /// The last instant at which all clients can still be reached before an end; nil if that is past.
    private func lastCall(_ end: Date?) -> Date? {
        guard let date = end.map(situation.timing.lastSafePublication(before:)), date > situation.time else {
            return nil
        }
        return date
    }

    private func earliest(_ dates: [Date?]) -> Date? {
        var found: Date?
        for date in dates { if let date { found = found.map { min($0, date) } ?? date } }
        return found
    }

    // MARK: Locked-out clients

    /// The clients that refuse a server although every server presents the identity with the lowest cost.
    private var losses: [RolloverAdvice.Loss] {
        guard isAnythingValid else {
            return forecast.holdings.map {
                .init(clients: $0.clients, servers: Array(courses.indices), start: situation.time, end: nil)
            }
        }
        guard courses.contains(where: { loses($0) }) else { return [] }
        var losses: [RolloverAdvice.Loss] = []
        for (place, holding) in forecast.holdings.enumerated() {
            var servers: [Int] = []
            var (start, end) = (Date.distantFuture, Date.distantPast)
            for course in courses {
                let refused = course.shows.indices.filter {
                    forecast.refusing(course.shows[$0], at: $0).contains(place)
                }
                guard let first = refused.first, let last = refused.last else { continue }
                servers.append(course.server)
                start = min(start, forecast.instants[first])
                end = max(end, last + 1 < forecast.instants.count ? forecast.instants[last + 1] : .distantFuture)
            }
            guard !servers.isEmpty else { continue }
            losses.append(
                .init(
                    clients: holding.clients, servers: servers, start: start,
                    end: end == .distantFuture ? nil : end))
        }
        return losses
    }

    private func loses(_ course: RolloverCourse) -> Bool {
        for (index, identity) in course.shows.enumerated() where forecast.costs[index][identity] > 0 { return true }
        return false
    }

    /// The clients that prevent the target from becoming ready.
    private var blocking: [Int] {
        guard let target, forecast.ready(target) == nil else { return [] }
        guard let last = forecast.costs.lastIndex(where: { $0[target] < .infinity }) else { return [] }
        return forecast.refusing(target, at: last).map { forecast.holdings[$0].clients }
    }
}

extension RolloverSituation {
    /// Whether some server presents, or would present, a retiring identity.
    fileprivate func isLeaving(_ courses: [RolloverCourse]) -> Bool {
        for course in courses {
            if identities[course.shown].isRetiring { return true }
            for identity in course.shows where identities[identity].isRetiring { return true }
        }
        return false
    }

    /// The default target of all servers: it prefers identities with which the change can be finished, then those that
    /// other servers present, then published ones; backups come last. It never depends on which certificate ends later.
    fileprivate func target(_ forecast: RolloverForecast) -> Int? {
        var found: (identity: Int, rank: [Int])?
        for (index, identity) in identities.enumerated() where !identity.isRetiring {
            guard forecast.costs.contains(where: { $0[index] < .infinity }) else { continue }
            let rank = [
                forecast.ready(index) == nil ? 0 : 1, servers.count { $0.shows == index },
                identity.isPublished ? 1 : 0, identity.isBackup ? 0 : 1,
            ]
            guard let other = found?.rank, !other.lexicographicallyPrecedes(rank) else {
                found = (index, rank)
                continue
            }
        }
        return found?.identity
    }

    /// Whether every published document admits an identity as soon as it is valid.
    fileprivate func isCovered(_ identity: Int, by published: [Clients]) -> Bool {
        guard !published.isEmpty else { return false }
        let facts = identities[identity]
        guard let last = facts.validity.last, last.upperBound > time else { return facts.isPublished }
        for clients in published
        where !RolloverForecast.isAdmitted(facts.validity, by: clients.admissions[identity], after: time) {
            return false
        }
        return true
    }

    /// The earliest end of an identity's published pin, if the identity is valid for longer.
    fileprivate func end(of identity: Int, in published: [Clients]) -> Date? {
        guard let valid = identities[identity].validity.last?.upperBound else { return nil }
        var first: Date?
        for clients in published {
            guard let end = clients.admissions[identity].last?.upperBound, end < valid, end > time else { continue }
            first = min(first ?? end, end)
        }
        return first
    }

    /// When something must be replaced so that every client has the replacement before it ends, with time for people.
    fileprivate func renewal(before end: Date) -> Date {
        timing.alert(before: end, lead: lead)
    }

    /// Whether a spare, in case a key is lost, is published in every document.
    fileprivate func hasSpare(_ target: Int?) -> Bool {
        let published = published
        for (index, identity) in identities.enumerated() where identity.isPublished && isSpare(index, target) {
            if published.count < 2 || isCovered(index, by: published.map { clients[$0] }) { return true }
        }
        return false
    }

    /// The key to publish as a spare; nil if one is published, or none is known.
    fileprivate func missingSpare(_ target: Int?) -> Int? {
        guard pinned == .publicKey, !hasSpare(target) else { return nil }
        return identities.indices.first { identities[$0].isBackup && isSpare($0, target) }
    }

    private func isSpare(_ index: Int, _ target: Int?) -> Bool {
        index != target && !identities[index].isRetiring && !servers.contains { $0.shows == index }
            && !identities[index].validity.isEmpty
    }
}
