import Foundation
import Holdfast
package import ServerFoundation
package import ServerStore

/// The client reports since a canary began, about it and about all other clients. They can hold a change back but never
/// let one pass: an attacker who forges successes, or sends nothing, gains no more than without reports.
package struct CanaryReports: Sendable, Hashable {
    /// The failure ratios of the canary, by host.
    private let canary: [String: FailureRatio]
    /// The failure ratios of all other clients, by host.
    private let control: [String: FailureRatio]

    /// Minimum number of reports for a ratio.
    static let minimumReports: Int64 = 200
    /// The minimum lower bound at which a canary is held, however low the ratio of other clients is.
    private static let leastRatio = 0.01
    /// The factor by which the canary's ratio must exceed that of other clients.
    private static let factor = 2.0

    /// Selects the reports to compare. From clients of the canary, it uses reports about the time since the canary
    /// began, or about a document issued since then: other reports may be about the previous canary.
    /// - Parameter began: when the canary began, in seconds since 1970.
    package init(_ groups: [ReportGroup], since began: Int64) {
        var ratios: [ReportAudience: [String: FailureRatio]] = [:]
        for group in groups where group.place.host != ReportHosts.unlisted {
            guard
                group.place.audience == .everybody || group.isLater
                    || Self.time(ofVersion: group.documentVersion).map({ $0 >= began }) == true
            else { continue }
            ratios[group.place.audience, default: [:]][group.place.host, default: FailureRatio()]
                .add(group.sums, group.code)
        }
        canary = ratios[.canary] ?? [:]
        control = ratios[.everybody] ?? [:]
    }

    /// The issue time of a pin file from its version, such as `20261121T120000Z`; nil for any other version.
    package static func time(ofVersion version: String) -> Int64? {
        let digits = Array(version.utf8)
        guard digits.count == 16, digits[8] == UInt8(ascii: "T"), digits[15] == UInt8(ascii: "Z") else { return nil }
        let parts = [0..<4, 4..<6, 6..<8, 9..<11, 11..<13, 13..<15].map {
            String(decoding: digits[$0], as: UTF8.self)
        }
        let date = parts[..<3].joined(separator: "-")
        return UTCText.decode("\(date)T\(parts[3...].joined(separator: ":"))Z".utf8)
    }

    /// The first hour that begins at a time or later.
    package static func firstHour(after time: Int64) -> Int64 { (time + 3_599) / 3_600 }

    /// The number of reports about the canary.
    package var count: Int64 { canary.values.reduce(0) { $0 + $1.reports } }

    /// The reasons why the canary is held, one sentence each; empty if it is not held.
    package var refusals: [String] {
        var refusals: [String] = []
        for (host, ratio) in canary.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            if let words = Self.refusal(ratio, control[host] ?? FailureRatio(), host) { refusals.append(words) }
        }
        guard refusals.isEmpty, canary.count > 1 else { return refusals }
        // Few reports per host may be enough in total.
        return [Self.refusal(Self.sum(canary), Self.sum(control), "all hosts")].compactMap(\.self)
    }

    /// A summary for people who wait for the canary.
    package var words: String {
        guard count >= Self.minimumReports else {
            return "too few reports of the canary: \(count) of \(Self.minimumReports)"
        }
        return "\(count) reports of the canary: \(ReportStanding.percent(Self.sum(canary).value)) failed, and "
            + "\(ReportStanding.percent(Self.sum(control).value)) of other clients'"
    }

    private static func sum(_ ratios: [String: FailureRatio]) -> FailureRatio {
        ratios.values.reduce(into: FailureRatio()) { $0.add($1) }
    }

    private static func refusal(_ canary: FailureRatio, _ control: FailureRatio, _ host: String) -> String? {
        guard canary.reports >= minimumReports, canary.lowerBound > leastRatio,
            canary.lowerBound > factor * control.value
        else { return nil }
        return "\(ReportStanding.percent(canary.value)) of the canary's reported connections to \(host) failed, but "
            + "only \(ReportStanding.percent(control.value)) of other clients' (\(canary.reports) and "
            + "\(control.reports) reports, which can be forged)"
    }
}

extension Catalog {
    /// The client reports since an app's canary began; nil if the app takes no reports, or no change holds the canary.
    ///
    /// Reports are counted per hour. Reports in the hour in which the canary began may be about the previous canary, so
    /// that hour is not counted, nor are summaries of that day: "too few" is better than a wrong result. Reports about
    /// a pin file issued since then count at once.
    package static func canaryReports(
        of app: AppName, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> CanaryReports? {
        guard let canary = ledger.canaries[app], try reportSettings(of: app, session, ledger).isEnabled else {
            return nil
        }
        let groups = try reportGroups(
            of: app, sinceHour: canary.began / 3_600, tellingApart: CanaryReports.firstHour(after: canary.began),
            session)
        return CanaryReports(groups, since: try issued(app, canary, session, ledger))
    }

    /// The versions of the canary's documents, as clients report them; nil if no change holds the canary.
    static func canaryVersions(
        of app: AppName, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> CanaryVersions? {
        guard let canary = ledger.canaries[app] else { return nil }
        let began = try issued(app, canary, session, ledger)
        let version = try canaryFile(of: app, session, ledger)?.issuedAt.flatMap { date -> String? in
            let time = Int64(date.timeIntervalSince1970)
            guard time >= began else { return nil }
            return UTCText.encode(time)?.filter { $0 != "-" && $0 != ":" }
        }
        return CanaryVersions(began: canary.began, versions: version.map { [$0] } ?? [])
    }

    private static func canaryFile(
        of app: AppName, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> PinFile? {
        let path = "pins/\(app)-canary.pins.json"
        guard let version = ledger.documents[.init(app: app, name: path)], !version.isWithdrawn else { return nil }
        return try? PinFile(json: Data(try stored(path, version, of: app, session).bytes))
    }

    /// The issue time of the canary's pin file. It precedes the canary: gates and signer programs run in between.
    private static func issued(
        _ app: AppName, _ canary: Ledger.Canary, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> Int64 {
        guard let date = try canaryFile(of: app, session, ledger)?.issuedAt else { return canary.began }
        let issued = Int64(date.timeIntervalSince1970)
        // An older pin file belongs to the previous canary.
        return (canary.began - maximumPreparation...canary.began).contains(issued) ? issued : canary.began
    }

    /// Maximum duration of a publication, in seconds.
    private static let maximumPreparation: Int64 = 3_600
}
