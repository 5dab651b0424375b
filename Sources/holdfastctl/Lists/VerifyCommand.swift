import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
import HoldfastPublishing
import HoldfastSigning

/// `holdfastctl verify`
struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Verify a signed list as a client does, and show when its entries expire.",
        usage: "holdfastctl verify <list> --public-key <public> [<options>]",
        discussion: """
            A single bad signature makes the whole list bad, as it does for clients. With --watch the command \
            also says, with code 4, if an entry expires within that time, so it can run from cron.

            EXAMPLES
              holdfastctl verify pins.json --public-key signer.pub
              holdfastctl verify pins.json --public-key signer.pub --watch 14d
              holdfastctl verify pins.json --public-key signer.pub --json | jq .entries

            Exit codes: 0 every entry is signed and valid, 1 the list does not verify, an entry has expired, or an entry \
            is for a name that no client looks up (a trailing dot, a port, Unicode), 2 wrong usage, 3 the list could not \
            be read, 4 an entry expires within the time of --watch.

            With --json one object is printed: outcome (valid, expired, unusable, expiring, invalid), file, time, \
            verified, watch, entries (state, name, fingerprint, expires, expiryDate, daysLeft, depth, problem), \
            namesWithoutBackup, unsignedDomainsConfig; of a list that does not verify outcome, file and error (code, entry, field, \
            expected, found, message).
            """)

    @Argument(help: ArgumentHelp("The list.", valueName: "list"), completion: .file(extensions: ["json"]))
    var list: String

    @Option(
        name: .customLong("public-key"), help: ArgumentHelp(PublicKeyArgument.help, valueName: "public"),
        completion: .file(),
        transform: { text in CheckedArgument { try PublicKeyArgument.key(text) } })
    var key: CheckedArgument<DocumentPublicKey>

    @Option(
        help: ArgumentHelp("Exit with 4 if an entry expires in less than this time.", valueName: "span"),
        transform: TimeSpan.read)
    var watch: TimeSpan?

    @OptionGroup
    var answer: AnswerOptions

    private var json: Bool { answer.json }

    private enum Outcome: String, Encodable {
        case valid, expired, unusable, expiring, invalid
    }

    private struct Answer: Encodable {
        let outcome: Outcome
        let report: FingerprintListReport

        private enum Key: CodingKey {
            case outcome
        }

        func encode(to encoder: any Encoder) throws {
            try report.encode(to: encoder)
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(outcome, forKey: .outcome)
        }
    }

    private struct Refusal: Encodable {
        struct Failure: Encodable {
            let code: String
            let entry: Int?
            let field: String?
            let expected: String
            let found: String
            let message: String
        }
        let outcome = Outcome.invalid
        let file: String
        let error: Failure
    }

    func validate() throws {
        try key.validate("--public-key")
        try watch?.validate("--watch", TimeSpan.watched)
    }

    func run() async throws { try await answer.answering("verify", about: [list]) { try verify() } }

    private func verify() throws {
        let output = Output.standard
        let now = SystemWallClock().now
        let data = try PinListFile(list).data()
        let publicKey = try key.get()
        var report: FingerprintListReport
        do throws(DocumentError) {
            report = try FingerprintListReport(verifying: data, named: list, with: publicKey, at: now)
        } catch {
            if json {
                let failure = Refusal.Failure(
                    code: error.code.rawValue, entry: error.entry, field: error.field, expected: error.expected,
                    found: error.found, message: error.description)
                try output.json(Refusal(file: list, error: failure))
            }
            throw CommandFailure(.invalidList, "\(list) does not verify: \(error)")
        }
        guard !report.entries.isEmpty else {
            let message = "clients refuse a list without entries"
            if json {
                let failure = Refusal.Failure(
                    code: DocumentError.Code.emptyList.rawValue, entry: nil, field: "fingerprints",
                    expected: "at least one entry", found: "none", message: message)
                try output.json(Refusal(file: list, error: failure))
            }
            throw CommandFailure(.invalidList, "\(list) does not verify: \(message)")
        }
        (report.watch, report.watchedSeconds) = (watch?.description, watch?.seconds)
        let outcome: Outcome =
            report.expired > 0
            ? .expired : report.unusable > 0 ? .unusable : report.expiringSoon > 0 ? .expiring : .valid
        let status: CommandFailure.Status? =
            outcome == .valid ? nil : outcome == .expiring ? .endsSoon : .negativeAnswer
        if answer.format != nil {
            let ends = report.entries.map { (what: "entry of \($0.name)", date: Date(wholeSeconds: $0.expires)) }
            try answer.write(
                PrometheusText(
                    verb: "verify", now: now, subjects: [.init(name: list, status: status, ends: ends)]))
        } else if json {
            try output.json(Answer(outcome: outcome, report: report))
        } else if !answer.quiet || status != nil {
            let count = report.entries.count
            output.line(
                .init("\(count) \(count == 1 ? "entry" : "entries"), signed with the key; "),
                .init(
                    "\(report.expired) expired"
                        + (report.unusable > 0 ? ", \(report.unusable) for names that no client asks for" : "")
                        + (watch.map { ", \(report.expiringSoon) within \($0)" } ?? ""),
                    outcome == .valid ? .good : .bad))
            report.print(to: output)
        }
        report.warn(output)
        if let status { throw NegativeAnswer(status: status) }
    }
}
