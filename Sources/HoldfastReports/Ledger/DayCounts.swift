import Foundation
import Holdfast

/// Counts of one day, by destination, host and version of the document.
struct DayCounts: Codable, Hashable, Sendable {
    /// The day, counted from 1970-01-01 in UTC; nil before the first count.
    private(set) var day: Int64?
    private var places: [String: [SummaryFacts.Place]] = [:]
    private var application: ReportedApplication?

    /// The day of a time.
    static func day(of seconds: Int64) -> Int64 { seconds / 86_400 }

    var isEmpty: Bool { places.isEmpty }
    /// The number of counted places, for all destinations.
    var count: Int { places.values.reduce(0) { $0 + $1.count } }

    /// Counts one sampled decision. Beyond the limits nothing more is counted, so existing counts stay right.
    mutating func add(
        _ observation: Observation, to destination: String, sampling: Observation.Sampling, isSuccess: Bool,
        failures: [(code: String, outcome: ReportOutcome)], on day: Int64, by application: ReportedApplication
    ) {
        self.day = day
        self.application = application
        var places = places[destination] ?? []
        let index: Int
        if let known = places.firstIndex(where: { $0.isFor(observation, sampling) }) {
            index = known
        } else {
            guard count < ReportLimits.mostPlaces else { return }
            index = places.count
            places.append(
                SummaryFacts.Place(
                    host: observation.host, documentVersion: observation.documentVersion,
                    failureFraction: sampling.failures, successFraction: sampling.successes))
        }
        if isSuccess { places[index].successes += 1 }
        if observation.isFailure, !failures.isEmpty { places[index].failures += 1 }
        for failure in failures { places[index].count(failure.code, failure.outcome) }
        self.places[destination] = places
    }

    /// Returns the summary for each destination, and resets the counts.
    mutating func close() -> [(destination: String, facts: SummaryFacts)] {
        defer { self = DayCounts() }
        guard let day, let application else { return [] }
        return places.sorted { $0.key < $1.key }.map {
            ($0.key, SummaryFacts(day: day, application: application, places: $0.value))
        }
    }

    /// Removes destinations that are no longer named, and all counts if they are invalid.
    mutating func keep(_ destinations: Set<String>) {
        places = places.filter { destinations.contains($0.key) }
        let isSound =
            count <= ReportLimits.mostPlaces && day.map(SummaryFacts.days.contains) == true
            && places.values.joined().allSatisfy(\.isSound)
        if !isSound { self = DayCounts() }
    }
}

extension SummaryFacts.Place {
    fileprivate func isFor(_ observation: Observation, _ sampling: Observation.Sampling) -> Bool {
        host == observation.host && documentVersion == observation.documentVersion
            && failureFraction == sampling.failures && successFraction == sampling.successes
    }

    fileprivate mutating func count(_ code: String, _ outcome: ReportOutcome) {
        if let known = details.firstIndex(where: { $0.code == code && $0.outcome == outcome }) {
            details[known].count += 1
        } else if details.count < ReportLimits.mostDetails {
            details.append(SummaryFacts.Failures(code: code, outcome: outcome, count: 1))
        }
    }

    /// A counter that grows with each connection stays below this.
    private static let mostCounted = 1 << 30

    /// Whether this type could have counted it.
    var isSound: Bool {
        details.count <= ReportLimits.mostDetails && host.isASCII(atMost: ReportLimits.longestText)
            && documentVersion.isASCII(atMost: ReportLimits.longestText)
            && (0...1).contains(failureFraction) && (0...1).contains(successFraction)
            && ([successes, failures] + details.map(\.count)).allSatisfy { (0...Self.mostCounted).contains($0) }
    }
}

extension SummaryFacts {
    static let days = 0...DayCounts.day(of: ReportLimits.lastSecond)

    /// Whether this type could have made it.
    var isSound: Bool {
        Self.days.contains(day) && places.count <= ReportLimits.mostPlaces && places.allSatisfy(\.isSound)
    }
}
