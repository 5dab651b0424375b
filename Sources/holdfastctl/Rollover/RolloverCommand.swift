import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
import HoldfastProbe
import HoldfastPublishing
import HoldfastSigning

/// `holdfastctl rollover`
struct RolloverCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollover",
        abstract: "Compare published pins with the servers, and print the next safe step.",
        usage: "holdfastctl rollover <pin file | list> [<host[:port]> ...] [<options>]",
        discussion: """
            Asks every server of each host in the document, at every address and for an ECDSA and for an RSA key, and \
            says what to do next so that no client is locked out: publish a backup, wait until every client has it, \
            deploy it, remove the old pin. Each step is printed with its date and reason. Run the command again when \
            the step is done.

            The wait lasts as long as a client may continue to use an older document (--staleness): for a list seven \
            days, for a pin file what its refresh says. A pin file without refresh is shipped with an app, and only \
            you know how long older versions are in use. The wait begins when the document was published \
            (--published): by default at issuedAt of a pin file, otherwise when the file was last changed.

            With --next the command prepares a change to the key or certificate in that file. Without it, a key that \
            is marked as retiring is replaced by the backup, and a certificate of a list by the one that ends later.

            A pattern such as *.example.com names no host: name the hosts to ask.

            EXAMPLES
              holdfastctl rollover bank.pins.json
              holdfastctl rollover bank.pins.json --staleness 90d --next next.csr
              holdfastctl rollover pins.json --public-key signer.pub --published 2026-11-20
              holdfastctl rollover pins.json www.example.com --public-key signer.pub --json

            Exit codes: 0 there is a step and clients are let in, 1 clients are locked out now, 2 wrong usage, 3 could \
            not connect or read.

            With --json one object per line is printed for each host: host, port, step (letClientsIn, publishNext, \
            addBackup, renew, wait, deploy, remove, nothing, unknown), date, why, action, pins, error.
            """)

    @Argument(
        help: ArgumentHelp(
            "The published pins: a pin file, or with --public-key a list.", valueName: "pin file | list"),
        completion: .file(extensions: ["json"]))
    var document: String

    @Argument(
        help: ArgumentHelp("The hosts to ask, if not all those of the document.", valueName: "host[:port]"),
        transform: { text in CheckedArgument { try ServerAddress.host(text) } })
    var hosts: [CheckedArgument<DialedHost>] = []

    @Option(
        name: .customLong("public-key"),
        help: ArgumentHelp("Of a list: " + PublicKeyArgument.help, valueName: "public"),
        completion: .file(), transform: { text in CheckedArgument { try PublicKeyArgument.key(text) } })
    var key: CheckedArgument<DocumentPublicKey>?

    @Option(
        help: ArgumentHelp(
            "The certificate, key or request that will be deployed next. Repeatable.", valueName: "file"),
        completion: .file())
    var next: [String] = []

    @Option(
        help: ArgumentHelp("How long a client continues to use an older document, such as 30d.", valueName: "span"),
        transform: TimeSpan.read)
    var staleness: TimeSpan?

    @Option(
        name: .customLong("published"),
        help: ArgumentHelp("When the document was published: Unix seconds, or a date in UTC.", valueName: "time"),
        transform: TimeArgument.seconds)
    var published: Int64?

    @Flag(help: "Print JSON instead of text, one object per line for each host.")
    var json = false

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    /// How many hosts are asked at the same time.
    private static let hostsAtOnce = 8

    func validate() throws {
        try key?.validate("--public-key")
        for host in hosts { try host.validate("HOST") }
    }

    func run() async throws {
        let now = SystemWallClock().now
        let file = try RolloverDocument(document, key: try key?.get())
        let subjects: [RolloverDocument.Subject]
        if hosts.isEmpty {
            let all = try file.subjects(at: now)
            for pattern in all.patterns {
                Output.standard.complain(
                    "\(SafeText.escapedLine(pattern)) names no host to ask: name the hosts to ask")
            }
            subjects = all.hosts
        } else {
            subjects = try hosts.map { try file.subject(try $0.get(), at: now) }
        }
        guard !subjects.isEmpty else { throw CommandFailure(.wrongUsage, "\(document) names no host to ask") }
        let next = try nextEntries(file)
        let (published, staleness) = (publishedTime(file, now), staleness.map { Double($0.seconds) } ?? file.staleness)
        let probe = try await connection.probe()
        let document = document
        let reports = await SideBySide.map(subjects, atMost: Self.hostsAtOnce) { subject in
            let answer = PublishingRound.Answer(
                await probe.ask(subject.host, policy: StandardPolicy(host: HostPattern(subject.host))))
            let refusals = answer.problems.filter { $0.kind == .untrusted }.map(\.reason)
            let state = subject.state(
                paths: answer.paths, refusals: refusals, next: next, published: published, staleness: staleness, at: now
            )
            // Nobody knows what a server shows that could not be asked.
            let open = answer.problems.filter { $0.kind == .unreachable || $0.kind == .unroutable }
            guard open.isEmpty || !state.refusals.isEmpty else {
                return RolloverReport(host: subject.host, error: open.map(\.reason).joined(separator: "; "))
            }
            return RolloverReport(RolloverStep(state, at: now), state, host: subject.host, document: document)
        }
        for report in reports {
            if json { try Output.standard.json(report) } else { report.print(to: Output.standard) }
        }
        if reports.contains(where: { $0.step == .letClientsIn }) { throw NegativeAnswer() }
        if reports.contains(where: { $0.step == .unknown }) { throw NegativeAnswer(status: .couldNotFindOut) }
    }

    /// What will be deployed, without the issuers that follow it in a file.
    private func nextEntries(_ file: RolloverDocument) throws -> [PinEntry] {
        try next.flatMap { path in
            let entries = try InputFile.publicKeys(of: path).entries.filter { !$0.isIssuer }
            guard !entries.isEmpty, !file.pinsCertificates || entries.allSatisfy({ $0.certificatePin != nil }) else {
                throw CommandFailure(
                    .wrongUsage,
                    "\(path) has no \(file.pinsCertificates ? "certificate" : "key") of a server: --next is what is "
                        + "deployed, and a list pins certificates")
            }
            return file.pinsCertificates ? Array(entries.prefix(1)) : entries
        }
    }

    private func publishedTime(_ file: RolloverDocument, _ now: Date) -> Date {
        if let published { return Date(wholeSeconds: published) }
        if let issued = file.issued { return issued }
        let attributes = try? FileManager.default.attributesOfItem(atPath: document)
        return attributes?[.modificationDate] as? Date ?? now
    }
}
