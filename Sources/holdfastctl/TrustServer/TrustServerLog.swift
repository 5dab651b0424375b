import Foundation
import Holdfast
import HoldfastOutput
import HoldfastPublishing
import HoldfastSigning

/// The log of a trust server's rounds: lines for people or for programs, each with its time.
struct TrustServerLog: Sendable {
    let isJSON: Bool
    /// Whether rounds without problems are left out.
    var isQuiet = false
    let clock: any WallClock

    /// A line of the log. Its fields are those of the JSON object.
    private struct Line: Encodable {
        enum Event: String, Encodable {
            case madeKey, published, publishedAgain, nothingPublished, warning, error
        }

        struct Failure: Encodable {
            let host: String
            let consequence: String
            var since: String?
            let problems: [String]
        }

        struct Refused: Encodable {
            let host: String
            let reason: String
        }

        let time: String
        let event: Event
        var certificate: String?
        var key: String?
        var document: String?
        var hosts: Int?
        var failures: [Failure]?
        var newPins: [String]?
        var left: [String]?
        var refused: [Refused]?
        var unknown: [String]?
        var ending: [String]?
        var allowedChanges: Int?
        var message: String?
        var code: String?
    }

    private var time: String { clock.now.formatted(.iso8601) }

    func warn(_ message: String) {
        guard isJSON else { return Output.standard.complain("\(time) \(message)") }
        write(Line(time: time, event: .warning, message: message))
    }

    func tell(_ failure: CommandFailure) {
        guard isJSON else { return Output.standard.complain("\(time) \(failure.message)") }
        write(Line(time: time, event: .error, message: failure.message, code: failure.code.rawValue))
    }

    /// Prints the certificate of a new key, in spite of `--quiet`: apps are configured with it.
    func tell(_ key: TrustServerKey, in files: TrustServerFiles) {
        let certificate = key.certificate.base64EncodedString()
        guard !isJSON else {
            return write(Line(time: time, event: .madeKey, certificate: certificate, key: files.key.path))
        }
        if !isQuiet {
            Output.standard.complain(
                "\(time) made \(files.key.path): anyone who has it can sign pins, so keep it, and a copy of it, where "
                    + "nobody else can get it. Configure the app with this certificate (trustServerCertificate):")
        }
        Output.standard.line(certificate)
    }

    func tell(_ report: TrustServerPublisher.Report, of files: TrustServerFiles) {
        guard !isQuiet || report.status != nil else { return }
        guard !isJSON else { return write(line(report, files)) }
        let (time, output) = (time, Output.standard)
        for line in report.lines { output.complain("\(time) \(line)") }
        let failed = report.round.failures.count { !$0.isHarmless }
        if let count = report.published {
            let what = report.isRepeated || report.isResigned ? "published again \(count)" : "published \(count)"
            let rest = failed == 0 ? "" : ", \(failed) of the list failed"
            output.line("\(time) \(what) \(count == 1 ? "host" : "hosts") in \(files.document.path)\(rest)")
        } else {
            output.complain("\(time) nothing is published: \(files.document.path) is as it was")
        }
        for host in report.round.changed where !report.round.left.contains(host) {
            output.line(
                "\(time) " + (report.isRepeated ? "new pins of \(host) are NOT published" : "new pins of \(host)"))
        }
    }

    private func line(_ report: TrustServerPublisher.Report, _ files: TrustServerFiles) -> Line {
        let round = report.round
        let isAgain = report.isRepeated || report.isResigned
        return Line(
            time: time, event: report.published == nil ? .nothingPublished : isAgain ? .publishedAgain : .published,
            document: files.document.path, hosts: report.published,
            failures: round.failures.map { failure in
                Line.Failure(
                    host: ServerAddress.text(failure.host.name, port: failure.host.port ?? ServerAddress.defaultPort),
                    consequence: failure.consequence.kind.rawValue,
                    since: failure.consequence.since?.formatted(.iso8601), problems: failure.problems.map(\.reason))
            }, newPins: round.changed.filter { !round.left.contains($0) }, left: round.left,
            refused: report.refusals.map { refusal in
                Line.Refused(
                    host: ServerAddress.text(refusal.host.name, port: refusal.host.port ?? ServerAddress.defaultPort),
                    reason: refusal.reason)
            }, unknown: report.unknown, ending: report.ending, allowedChanges: round.heldAt)
    }

    private func write(_ line: Line) {
        do {
            try Output.standard.json(line)
        } catch {
            Output.standard.complain("a line of the log cannot be written as JSON")
        }
    }
}

extension TrustServerPublisher.Report {
    /// The problems, one line each.
    var lines: [String] {
        var lines = round.failures.map { failure in
            let host = ServerAddress.text(failure.host.name, port: failure.host.port ?? ServerAddress.defaultPort)
            let consequence =
                switch failure.consequence.kind {
                case .partial: "is published with what else it showed"
                case .kept: "keeps its entry of \(failure.consequence.since?.formatted(.iso8601) ?? "an earlier round")"
                case .omitted: "has no entry to keep and is left out"
                default: "is published otherwise (\(failure.consequence.kind))"
                }
            return "\(host) \(consequence): \(failure.problems.map(\.reason).joined(separator: "; "))"
        }
        lines += refusals.map { "CLIENTS ARE LOCKED OUT: \($0.reason)" }
        lines += unknown.map { "nobody knows whether clients get in: \($0)" }
        lines += ending.map { "it ends soon: \($0)" }
        if let limit = round.heldAt {
            lines.append(
                "NOTHING NEW IS PUBLISHED: \(Self.counted(round.changed.count)) changed"
                    + (round.changes < round.changed.count ? " (\(round.changes) changes)" : "")
                    + ", and \(limit) may: \(Self.some(round.changed)). What was published before is signed again. If "
                    + "the changes are right, run one round with --max-changes \(round.changes).")
        } else if !round.left.isEmpty {
            lines.append("no longer published, because the list does not have them: \(Self.some(round.left))")
        }
        return lines
    }

    private static func counted(_ hosts: Int) -> String { hosts == 1 ? "1 host has" : "\(hosts) hosts have" }

    private static func some(_ hosts: [String]) -> String {
        hosts.prefix(10).joined(separator: ", ") + (hosts.count > 10 ? " and \(hosts.count - 10) more" : "")
    }
}
