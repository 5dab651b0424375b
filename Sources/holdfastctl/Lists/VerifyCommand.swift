import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
import HoldfastSigning

/// `holdfastctl verify`
struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Verify a signed list as a client does, and show when its entries expire.",
        discussion: """
            A single bad signature makes the whole list bad, as it does for clients. With --watch the command also \
            fails if an entry expires within that many days, so it can run from cron.

            EXAMPLES
              holdfastctl verify pins.json --key signer.pub
              holdfastctl verify pins.json --key signer.pub --watch 14
              holdfastctl verify pins.json --key signer.pub --json | jq .entries

            Exit codes: 0 every entry is signed and valid, 1 the list does not verify, or an entry has expired or \
            expires too soon, 2 wrong usage, 3 the list could not be read.

            With --json one object is printed: outcome (valid, expired, expiring, invalid), file, time, verified, \
            watch, entries (state, name, fingerprint, expires, expiryDate, daysLeft, depth), namesWithoutBackup, \
            unsignedDomainsConfig; of a list that does not verify outcome, file and error (code, entry, field, \
            expected, found, message).
            """)

    @Argument(help: ArgumentHelp("The list.", valueName: "list"), completion: .file(extensions: ["json"]))
    var list: String

    @Option(
        name: .shortAndLong, help: ArgumentHelp(PublicKeyArgument.help, valueName: "public"), completion: .file(),
        transform: { text in CheckedArgument { try PublicKeyArgument.key(text) } })
    var key: CheckedArgument<DocumentPublicKey>

    @Option(help: ArgumentHelp("Fail if an entry expires in less than this many days.", valueName: "days"))
    var watch: Int?

    @Flag(help: "Print JSON instead of text.")
    var json = false

    private enum Outcome: String, Encodable {
        case valid, expired, expiring, invalid
    }

    private struct Answer: Encodable {
        let outcome: Outcome
        let report: PinListReport

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
        try key.validate("--key")
        if let watch, !(1...36_500).contains(watch) {
            throw ValidationError("The days to watch must be between 1 and 36500, not \(watch).")
        }
    }

    func run() async throws {
        let output = Output.standard
        let data = try PinListFile(list).data()
        let publicKey = try key.get()
        let verified: FingerprintList
        do throws(DocumentError) {
            verified = try FingerprintList(verifying: data, with: publicKey)
        } catch {
            if json {
                let failure = Refusal.Failure(
                    code: error.code.rawValue, entry: error.entry, field: error.field, expected: error.expected,
                    found: error.found, message: error.description)
                try output.json(Refusal(file: list, error: failure))
            }
            throw CommandFailure(.invalidList, "\(list) does not verify: \(error)")
        }
        guard !verified.entries.isEmpty else {
            let message = "clients refuse a list without entries"
            if json {
                let failure = Refusal.Failure(
                    code: DocumentError.Code.emptyList.rawValue, entry: nil, field: "fingerprints",
                    expected: "at least one entry", found: "none", message: message)
                try output.json(Refusal(file: list, error: failure))
            }
            throw CommandFailure(.invalidList, "\(list) does not verify: \(message)")
        }
        var report = PinListReport(
            file: list, entries: verified.entries, hasDomains: verified.unsignedDomainsConfiguration != nil,
            verified: true, now: SystemWallClock().now)
        report.watch = watch
        let outcome: Outcome = report.expired > 0 ? .expired : report.expiringSoon > 0 ? .expiring : .valid
        if json {
            try output.json(Answer(outcome: outcome, report: report))
        } else {
            report.print(to: output)
            let count = report.entries.count
            output.line(
                .init("\(count) \(count == 1 ? "entry" : "entries"), signed with the key; "),
                .init(
                    "\(report.expired) expired" + (watch.map { ", \(report.expiringSoon) within \($0) days" } ?? ""),
                    outcome == .valid ? .good : .bad))
        }
        report.warn(output)
        if outcome != .valid { throw NegativeAnswer() }
    }
}
