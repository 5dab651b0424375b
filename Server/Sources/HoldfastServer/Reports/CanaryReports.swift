import Foundation
import Holdfast

/// What clients reported since a canary began, about it and about everybody else. It may hold a change back, and never lets
/// one pass: whoever wants that sends nothing, or forges successes, and gains what is there without reports.
struct CanaryReports: Sendable, Hashable {
    /// The ratios of the canary, by host.
    private let canary: [String: FailureRatio]
    /// Those of everybody.
    private let control: [String: FailureRatio]

    /// With fewer nothing is said about a ratio.
    static let minimumReports: Int64 = 200
    /// The lower bound from which on a canary is held, however bad everybody else is off.
    private static let leastRatio = 0.01
    /// How much worse than everybody else it has to be.
    private static let factor = 2.0

    /// Takes what was counted. Of the canary's clients it takes what is about the time since it began, or about a document
    /// that was issued since: whoever reports a day in which the canary began reports the canary before as well.
    /// - Parameter began: when the canary began, in seconds since 1970.
    init(_ groups: [ReportGroup], since began: Int64) {
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

    /// When a pin file was issued, which is its version: `20261121T120000Z`; nil for any other version.
    static func time(ofVersion version: String) -> Int64? {
        let digits = Array(version.utf8)
        guard digits.count == 16, digits[8] == UInt8(ascii: "T"), digits[15] == UInt8(ascii: "Z") else { return nil }
        let parts = [0..<4, 4..<6, 6..<8, 9..<11, 11..<13, 13..<15].map {
            String(decoding: digits[$0], as: UTF8.self)
        }
        let date = parts[..<3].joined(separator: "-")
        return UTCText.decode("\(date)T\(parts[3...].joined(separator: ":"))Z".utf8)
    }

    /// The first hour that begins at a time or later.
    static func firstHour(after time: Int64) -> Int64 { (time + 3_599) / 3_600 }

    /// How many reports there are of the canary.
    var count: Int64 { canary.values.reduce(0) { $0 + $1.reports } }

    /// Why the canary is held, a sentence each; empty if it is not.
    var refusals: [String] {
        var refusals: [String] = []
        for (host, ratio) in canary.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            if let words = Self.refusal(ratio, control[host] ?? FailureRatio(), host) { refusals.append(words) }
        }
        guard refusals.isEmpty, canary.count > 1 else { return refusals }
        // Few of each host may be enough of all.
        return [Self.refusal(Self.sum(canary), Self.sum(control), "all hosts")].compactMap(\.self)
    }

    /// What is known, for people who wait.
    var words: String {
        guard count >= Self.minimumReports else {
            return "too few reports of the canary: \(count) of \(Self.minimumReports)"
        }
        return "\(count) reports of the canary: \(ReportStanding.percent(Self.sum(canary).value)) failed, and "
            + "\(ReportStanding.percent(Self.sum(control).value)) of everybody else's"
    }

    private static func sum(_ ratios: [String: FailureRatio]) -> FailureRatio {
        ratios.values.reduce(into: FailureRatio()) { $0.add($1) }
    }

    private static func refusal(_ canary: FailureRatio, _ control: FailureRatio, _ host: String) -> String? {
        guard canary.reports >= minimumReports, canary.lowerBound > leastRatio,
            canary.lowerBound > factor * control.value
        else { return nil }
        return "\(ReportStanding.percent(canary.value)) of the canary's reported connections to \(host) failed, and "
            + "\(ReportStanding.percent(control.value)) of everybody else's (\(canary.reports) and \(control.reports) "
            + "reports, which anybody can forge)"
    }
}

extension Catalog {
    /// What clients of an app report since its canary began; nil if it takes no reports, or no change holds the canary.
    ///
    /// Reports are counted by hours. Nobody knows which of those in the hour in which the canary began are about it, and
    /// which about the canary before, so that hour does not count, nor the day of a summary: it says "too few" rather than
    /// what is not so. Reports about a pin file that was issued since then count at once.
    static func canaryReports(
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

    /// The versions that the canary's documents have, as clients report them; nil if no change holds the canary.
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

    /// When the canary's pin file was issued, which is before the canary began: gates and signer programs come in between.
    private static func issued(
        _ app: AppName, _ canary: Ledger.Canary, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> Int64 {
        guard let date = try canaryFile(of: app, session, ledger)?.issuedAt else { return canary.began }
        let issued = Int64(date.timeIntervalSince1970)
        // One that the canary had before is about what it had before.
        return (canary.began - maximumPreparation...canary.began).contains(issued) ? issued : canary.began
    }

    /// In seconds: longer than any publication takes.
    private static let maximumPreparation: Int64 = 3_600
}
