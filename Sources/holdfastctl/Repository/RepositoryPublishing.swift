import ArgumentParser
import Foundation
import Holdfast
import HoldfastSigning

/// What `publish` and `renew` have in common: online keys, and how long what they sign lasts.
struct RepositoryPublishing: ParsableArguments {
    @OptionGroup
    var keys: RepositoryKeyOptions

    @Option(help: ArgumentHelp("How long the timestamp lasts, at least 7d.", valueName: "time"))
    var lifetime = TimeSpan(seconds: 14 * 86_400)

    @Flag(help: "Print JSON instead of text.")
    var json = false

    func validateKeys() throws {
        guard !keys.key.isEmpty else { throw ValidationError("Give the online key with --key.") }
    }

    /// Days before the end of what is signed offline from which on somebody is told.
    private static let warningDays = 30

    func publish(
        _ state: TUFRepositoryState, _ place: RepositoryPlace, _ signers: [TUFSigningKey], includingDrafts: Bool,
        allowing exceptions: Set<TUFPublication.Exception> = [], at now: Date
    ) async throws(CommandFailure) -> RepositoryReport {
        let publication: TUFPublication
        do throws(TUFRepositoryError) {
            publication = try await TUFPublication.make(
                of: state, in: place.folder, onlineKeys: signers,
                lifetimes: .init(timestamp: .seconds(lifetime.seconds)), includingDrafts: includingDrafts,
                allowing: exceptions, at: now)
            try place.folder.write(publication)
        } catch {
            throw CommandFailure(error)
        }
        let next = publication.state
        let versions = [next.live?.root, next.live?.targets, next.live?.timestamp].compactMap(\.self)
            .map { "\($0.role.rawValue) \($0.version)" }.joined(separator: ", ")
        var report = RepositoryReport("\(includingDrafts ? "Published" : "Renewed"): \(versions)")
        try report.take(next, at: now)
        report.written = publication.objects.map { "\(place.path)/public/\($0.path)" }
        if publication.hasGap {
            report.overridden.append("gap: clients of single files were refused between two writes")
        }
        if exceptions.contains(.lifetime), lifetime.seconds < 7 * 86_400 {
            report.overridden.append("lifetime: the timestamp lasts less than 7 days")
        }
        report.warnings = RepositoryWatch(days: Self.warningDays).endings(of: next, at: now)
        return report
    }
}

extension RepositoryReport {
    func finish(_ warnings: [String], _ overridden: [String], json: Bool) throws {
        var report = self
        report.warnings = warnings + report.warnings
        report.overridden = overridden + report.overridden
        try report.print(asJSON: json)
    }
}

/// Looks for what ends soon of what people sign.
struct RepositoryWatch {
    let days: Int

    /// One line for each; root and targets need keyholders, and pins a new pin file.
    func endings(of state: TUFRepositoryState, at now: Date) -> [String] {
        guard let live = state.live else { return [] }
        var lines = [live.root, live.targets].compactMap(\.self).compactMap {
            line("\($0.role.rawValue) \($0.version)", $0.expires, now)
        }
        if let last = (try? PinFile(json: live.pins))?.notAfter, let line = line("the pin file", last, now) {
            lines.append(line)
        }
        return lines
    }

    func line(_ what: String, _ end: Date, _ now: Date) -> String? {
        let left = CertificateReport.days(until: end, from: now)
        guard left < days else { return nil }
        return "\(what): \(CertificateReport.remaining(left)), at \(end.formatted(.iso8601))"
    }
}
