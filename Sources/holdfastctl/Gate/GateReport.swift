import Foundation
import Holdfast
import HoldfastOutput
import HoldfastPublishing

/// The result of `gate`. Its fields are those of the JSON object.
struct GateReport: Encodable {
    enum Answer: String, Encodable {
        case open, ending, closed, unknown
    }

    /// The clients that determined the answer.
    struct Clients: Encodable {
        let document: String?
        let kind: String?
        let holders: String
        let appVersions: [String]
        let platform: String?
    }

    struct Cause: Encodable {
        let code: String
        let text: String
    }

    let answer: Answer
    let host: String
    let port: Int?
    let next: String
    /// When the chain may be installed, or until when clients can connect; absent if that is unknown.
    var until: String?
    /// If it may be installed later, but not for --span: the first instant at which clients are locked out.
    var openUntil: String?
    /// The first instant at which the served chain is no longer valid.
    var servedUntil: String?
    /// Whether the next chain must be installed now, because some clients are locked out either way.
    var servedEndsFirst = false
    /// If so, the time at which the lockout begins; absent otherwise.
    var lockedOutSince: String?
    /// Whether that time has come.
    private var isLockedOutAlready = false
    /// Whether the served chain is no longer valid.
    private var isEnded = false
    var cause: Cause?
    var clients: Clients?
    var premises: [String] = []
    /// The reason for an unknown answer.
    var error: CheckReport.Failing?

    private enum CodingKeys: CodingKey {
        case answer, host, port, next, until, openUntil, servedUntil, servedEndsFirst, lockedOutSince, cause, clients
        case premises, error
    }

    /// Makes the report of a host that could not be probed, or of documents that could not be read.
    init(_ failure: CommandFailure, next: String, on host: DialedHost) {
        // The gate stays closed for a certificate of another host.
        answer = failure.code == .notTrusted ? .closed : .unknown
        self.next = next
        self.host = host.name
        port = host.port
        error = .init(code: failure.code.rawValue, message: failure.message)
    }

    /// - Parameter premises: the premises of the answer in addition to the gate's own.
    init(_ gate: InstallationGate, next: String, on host: DialedHost, resting premises: [String]) {
        self.next = next
        self.host = host.name
        port = host.port
        switch gate.answer {
        case .open: answer = .open
        case .ending(let date):
            answer = .ending
            until = date.formatted(.iso8601)
        case .closed(let date):
            answer = .closed
            until = date?.formatted(.iso8601)
        case .unknown: answer = .unknown
        }
        openUntil = gate.openUntil?.formatted(.iso8601)
        servedUntil = gate.servedUntil?.formatted(.iso8601)
        servedEndsFirst = gate.servedEndsFirst
        lockedOutSince = gate.lockedOutSince?.formatted(.iso8601)
        isEnded = gate.servedUntil.map { $0 <= gate.judgedFrom } ?? false
        isLockedOutAlready = gate.lockedOutSince.map { $0 <= gate.judgedFrom } ?? false
        cause = gate.cause.map { Cause(code: $0.code.rawValue, text: $0.words) }
        clients = gate.decisive.map { row in
            Clients(
                document: row.document.map { gate.outlook.documentNames[$0] }, kind: row.client?.rawValue,
                holders: row.holders.rawValue, appVersions: row.appVersions, platform: row.platform)
        }
        self.premises = gate.outlook.premises + premises
    }

    var status: CommandFailure.Status? {
        if servedEndsFirst { return .servedEndsFirst }
        return switch answer {
        case .open: nil
        case .ending: .endsSoon
        case .closed: .negativeAnswer
        case .unknown: .couldNotFindOut
        }
    }

    /// The answer as metrics: the host, the exit code, and what ends.
    var metrics: PrometheusText.Subject {
        var subject = PrometheusText.Subject(
            name: ServerAddress.text(host, port: port ?? ServerAddress.defaultPort), status: status)
        func take(_ what: String, _ date: String?) {
            if let date = date.flatMap({ try? Date($0, strategy: .iso8601) }) { subject.ends.append((what, date)) }
        }
        take("certificate", servedUntil)
        if answer == .ending { take("pins", until) }
        return subject
    }

    func print(to output: Output) {
        let next = SafeText.escapedLine(next)
        switch answer {
        case _ where servedEndsFirst:
            let since = lockedOutSince ?? ""
            output.line(
                .init("Install now", .bad),
                .init(
                    ", and alert: some clients are locked out either way, "
                        + (isLockedOutAlready ? "since \(since)." : "from \(since) on at the latest.")))
            output.line("  What is served \(isEnded ? "ended" : "ends") at \(servedUntil ?? "").")
            if answer == .closed {
                output.line(
                    "  "
                        + (until.map { "With \(next) every client gets in from \($0) on." }
                            ?? "With these documents not every client ever gets in with \(next): publish its pins."))
            }
        case .open: output.line(.init("Open", .good), .init(": every client gets in with \(next)."))
        case .ending:
            output.line(
                .init("Ends soon", .bad),
                .init(": every client gets in with \(next) now, but not after \(until ?? "")."))
        case .closed:
            let when =
                until.map { from in
                    openUntil.map { "From \(from) on every client gets in, but only until \($0)." }
                        ?? "From \(from) on every client gets in, if nothing changes."
                }
                ?? "With these documents not every client ever will: publish its pins first, and for a certificate that "
                + "ends before every client has them, those of its key."
            output.line(.init("Not yet", .bad), .init(": clients would be locked out with \(next). \(when)"))
        case .unknown:
            output.line(.init("Unknown", .bad), .init(": nobody can say whether clients get in with \(next)."))
        }
        if let cause {
            let who = clients?.words.map { "\($0): " } ?? ""
            output.line("  \(SafeText.escapedLine(who + cause.text))")
        }
        if answer == .closed, !servedEndsFirst, let servedUntil {
            output.line("  What is served ends at \(servedUntil).")
        }
        for premise in premises { output.line("  \(SafeText.escapedLine(premise))", .faint) }
    }
}

extension GateReport.Clients {
    /// The clients, as text.
    fileprivate var words: String? {
        guard let document else { return nil }
        let whose =
            switch PublicationOutlook.Holders(rawValue: holders) {
            case .replaced: "clients that still hold \(document)"
            case .beginning: "clients that begin with \(document)"
            default: appVersions.isEmpty ? "clients with \(document)" : "app versions that carry \(document)"
            }
        return platform.map { "\(whose), \($0)" } ?? whose
    }
}
