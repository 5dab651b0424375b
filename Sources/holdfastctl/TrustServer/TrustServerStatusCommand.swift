import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
import HoldfastPublishing
import HoldfastSigning

/// `holdfastctl trust-server status`
struct TrustServerStatusCommand: AsyncParsableCommand, ChoosesClients {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Say whether clients accept the published document, and how old it and its pins are.",
        usage: """
            holdfastctl trust-server status --customer <name> [--folder <folder>] \\
              [--domains <file>] [--max-age <span>] [<options>]
            """,
        discussion: """
            Verifies CUSTOMER.json.signed as clients do, with the certificate that they are configured with. Clients \
            that have a document use it for 25 hours; those that have none yet refuse one that is older than 10 minutes. \
            With --max-age the command notices sooner that no round signs anymore. With --domains it also asks the \
            hosts of the list that the document does not have, because clients are refused there, and reads the memory \
            beside the list: which hosts have not been validated for longer than --max-age, although their document is \
            signed again and again, and what waits for approval.

            Every host of the document is asked at every address, as check --pins does, because pins that no server shows let \
            nobody in. A host that could not be asked makes the answer unknown (3). It is also unknown until you say which versions \
            of the app are in the field: name them with --shipped, each with the pin file that it carries, or give \
            --no-shipped-pins. With --offline no host is asked. What the document alone proves is said, and since nobody \
            knows then whether clients get in, the exit code is at best 3.

            Clients use a document for 25 hours, so some still have one that a round with other pins has replaced. publish \
            keeps those documents beside its memory; with --domains they are judged too, and the premises name them. \
            Otherwise name them with --replaced.

            With --url it asks what a server or a CDN serves instead of the folder.

            EXAMPLES
              holdfastctl trust-server status --customer acme --domains data/acme.domains \\
                --no-shipped-pins
              holdfastctl trust-server status --customer acme --no-shipped-pins \\
                --max-age 6m --quiet
              holdfastctl trust-server status --customer acme \\
                --shipped 7.4=app-7.4.pins.json \\
                --url https://pins.example.com/acme.json.signed --format prometheus

            Exit codes: 0 clients accept it and get in, and it is young enough, 1 clients refuse it, if only those that have \
            none yet, or are locked out of a host, or there is none, 2 wrong usage, 3 a file could not be read, the server or \
            a host could not be asked, also with --offline, or the app versions are unknown, 4 clients accept it, but it or the validation of a host is older than --max-age, or \
            clients get in only by grace.

            With --json one object is printed: verdict, outcome (current, aged, ending, unknown, lockedOut, \
            refusedByNewClients, aheadOfClock, refused), document, hosts, timestamp, age (seconds), endForNewClients, end, staleHosts \
            (host, validated), waiting (host, fingerprints, since), findings (kind, host, text, until), premises, error.
            """)

    @OptionGroup
    var signer: TrustServerSignerOptions

    @Option(
        help: ArgumentHelp("The list of the hosts; publish keeps its memory beside it.", valueName: "file"),
        completion: .file())
    var domains: String?

    @Option(
        name: .customLong("max-age"),
        help: ArgumentHelp(
            "Exit with 4 if the document, or the last validation of a host, is older.", valueName: "span"),
        transform: TimeSpan.read)
    var maximumAge = TimeSpan(seconds: 8 * 60)

    @Option(help: ArgumentHelp("Ask for the document at this https URL.", valueName: "url"))
    var url: String?

    @OptionGroup
    var asking: OfflineOptions

    @OptionGroup
    var builds: ShippedPinOptions

    @OptionGroup
    var earlier: ReplacedDocumentOptions

    @OptionGroup
    var age: StalenessOptions

    @OptionGroup
    var platforms: PlatformOptions

    @OptionGroup
    var answer: AnswerOptions

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    private struct Report: Encodable {
        struct Host: Encodable {
            let host: String
            let validated: String
        }

        struct Waiting: Encodable {
            let host: String
            let fingerprints: [String]
            let since: String
        }

        var verdict: String
        var outcome: String
        let document: String
        var hosts: Int?
        var timestamp: String?
        var age: Int64?
        var endForNewClients: String?
        var end: String?
        var staleHosts: [Host]?
        var waiting: [Waiting]?
        var findings: [HostsOutlook.Finding]?
        var premises: [String]?
        var error: String?

        /// Adds what hosts showed.
        /// - Parameter status: the exit code that the document alone gives.
        /// - Returns: the exit code.
        mutating func take(_ asked: AskedHosts, after status: CommandFailure.Status?) -> CommandFailure.Status? {
            (findings, premises) = (asked.findings, asked.premises)
            let kinds = asked.findings.map(\.kind)
            if kinds.contains(.refused) {
                (verdict, outcome) = ("CLIENTS ARE LOCKED OUT of a host. \(verdict)", "lockedOut")
                return .negativeAnswer
            }
            if kinds.contains(.unreachable) {
                (verdict, outcome) = ("Nobody knows whether clients get in. \(verdict)", "unknown")
                return .couldNotFindOut
            }
            guard kinds.contains(.ending), status == nil else { return status }
            (verdict, outcome) = ("Clients get in only by grace. \(verdict)", "ending")
            return .endsSoon
        }
    }

    func validate() throws {
        try maximumAge.validate("--max-age", TimeSpan(seconds: 1)...TimeSpan.days(365))
        if let url { try InputDocument.validate(url, "--url") }
    }

    func run() async throws {
        let files = TrustServerFiles(customer: signer.customer, data: "", output: signer.folder)
        let name = try url.map { url throws(CommandFailure) in try InputDocument(url).name } ?? files.document.path
        try await answer.answering("trust-server status", about: [name]) { try await tell() }
    }

    private func tell() async throws {
        let now = SystemWallClock().now
        let files = TrustServerFiles(customer: signer.customer, data: "", output: signer.folder, domains: domains)
        let certificate = Data(try signer.certificate().der)
        let (data, name) = try await document(files)
        let memory = try memory(files)
        let status: TrustServerStatus
        do throws(DocumentError) {
            status = try TrustServerStatus(
                of: data, signedBy: certificate, customer: signer.customer, memory: memory,
                maximumAge: .seconds(maximumAge.seconds), at: now)
        } catch {
            let report = Report(
                verdict: "Clients refuse it", outcome: TrustServerStatus.Verdict.refused.rawValue, document: name,
                error: "\(error)")
            try tell(report, status: .negativeAnswer, ends: [], at: now)
            throw NegativeAnswer()
        }
        var code: CommandFailure.Status? =
            switch status.verdict {
            case .current: nil
            case .aged: .endsSoon
            case .refused, .refusedByNewClients, .aheadOfClock: .negativeAnswer
            }
        var report = report(status, name, now)
        if asking.offline, code != .negativeAnswer {
            report.verdict += "; no host was asked whether clients get in"
            (report.outcome, code) = ("unknown", .couldNotFindOut)
        } else if code != .negativeAnswer {
            let pins = try PublishedPins(
                trustServerDocument: data, named: name, signer: certificate, customer: signer.customer, at: now)
            // Clients are refused at a host of the list that no round has validated.
            let listed = domains == nil ? [] : try files.readDomains()
            let asked = try await AskedHosts(
                of: [pins], beside: listed, after: try earlier(files, certificate, at: now), in: clients,
                by: connection, at: now)
            for remark in asked.remarks { Output.standard.remark(remark) }
            code = report.take(asked, after: code)
        }
        try tell(
            report, status: code,
            ends: [("document", status.end), ("document for new clients", status.endForNewClients)], at: now)
        if let code { throw NegativeAnswer(status: code) }
    }

    private func report(_ status: TrustServerStatus, _ name: String, _ now: Date) -> Report {
        let age = "made \(SpanText.rounded(max(0, status.age.components.seconds))) ago"
        let verdict =
            switch status.verdict {
            case .current: "Clients accept it: \(age)"
            case .aged where status.age > .seconds(maximumAge.seconds):
                "Clients accept it, new ones until \(status.endForNewClients.formatted(.iso8601)), but no round signs: \(age)"
            case .aged:
                "Clients accept it, but its pins are old: "
                    + (status.staleHosts.count == 1
                        ? "1 host was not validated" : "\(status.staleHosts.count) hosts were not validated")
            case .refusedByNewClients:
                "NEW CLIENTS REFUSE IT since \(status.endForNewClients.formatted(.iso8601)), and all others from "
                    + "\(status.end.formatted(.iso8601)) on: \(age)"
            case .aheadOfClock:
                "ITS TIMESTAMP IS AHEAD OF THE CLOCK, \(status.timestamp.formatted(.iso8601)): clients that accept it "
                    + "refuse correct documents for a day. Are its seconds milliseconds?"
            case .refused: "CLIENTS REFUSE IT since \(status.end.formatted(.iso8601)): \(age)"
            }
        return Report(
            verdict: verdict, outcome: status.verdict.rawValue, document: name, hosts: status.hostCount,
            timestamp: status.timestamp.formatted(.iso8601), age: status.age.components.seconds,
            endForNewClients: status.endForNewClients.formatted(.iso8601), end: status.end.formatted(.iso8601),
            staleHosts: status.staleHosts.map { .init(host: $0.place, validated: $0.validated.formatted(.iso8601)) },
            waiting: status.waiting.map {
                .init(
                    host: ServerAddress.text($0.hostname, port: $0.port), fingerprints: $0.fingerprints,
                    since: $0.since.formatted(.iso8601))
            })
    }

    private func tell(
        _ report: Report, status: CommandFailure.Status?, ends: [(what: String, date: Date)], at now: Date
    ) throws {
        let output = Output.standard
        if answer.format != nil {
            return try answer.write(
                PrometheusText(
                    verb: "trust-server status", now: now,
                    subjects: [.init(name: report.document, status: status, ends: ends)]))
        }
        guard !answer.json else { return try output.json(report) }
        guard !answer.quiet || status != nil else { return }
        output.line(report.verdict, status != nil ? .bad : asking.offline ? .plain : .good)
        output.line(
            "  \(SafeText.escapedLine(report.document))"
                + (report.hosts.map { $0 == 1 ? ", 1 host" : ", \($0) hosts" } ?? ""))
        if let error = report.error { output.line("  \(SafeText.escapedLine(error))", .bad) }
        for host in report.staleHosts ?? [] {
            output.line("  \(SafeText.escapedLine(host.host)) was last validated at \(host.validated)", .bad)
        }
        for finding in report.findings ?? [] { output.line("  \(SafeText.escapedLine(finding.text))", .bad) }
        for premise in report.premises ?? [] { output.line("  \(SafeText.escapedLine(premise))", .faint) }
        for change in report.waiting ?? [] {
            output.line(
                "  \(SafeText.escapedLine(change.host)) waits for approval: \(change.fingerprints.map { "cert-sha256/\($0)" }.joined(separator: ", "))"
            )
        }
    }

    private func document(_ files: TrustServerFiles) async throws -> (data: Data, name: String) {
        guard let url else {
            let path = files.document.path
            guard FileManager.default.fileExists(atPath: path) else {
                throw CommandFailure(
                    .invalidList,
                    "\(path) is not there: nothing is published; holdfastctl trust-server publish --customer "
                        + "\(files.customer) --domains \(ForeignFile.quoted(files.domains.path)) --folder "
                        + "\(ForeignFile.quoted(files.document.deletingLastPathComponent().path)) makes it")
            }
            return (try InputFile.content(of: path, maximumBytes: DocumentLimits().bytes + 1), path)
        }
        let source = try InputDocument(url)
        let data = try await source.content(
            maximumBytes: DocumentLimits().bytes + 1, timeout: connection.timeout,
            through: connection.proxiesOfDownloads
        ) { () async throws(CommandFailure) in try await connection.anchors() }
        return (data, source.name)
    }

    /// What clients may still have because they have not asked since: what rounds have kept, and what options name.
    private func earlier(
        _ files: TrustServerFiles, _ certificate: Data, at now: Date
    ) throws(CommandFailure) -> EarlierDocuments {
        var earlier = try kept(files, certificate, at: now)
        earlier.name(
            try held.earlier.documents(signedBy: certificate, customer: signer.customer, at: now))
        return earlier
    }

    /// What rounds have replaced while clients may still have it.
    private func kept(
        _ files: TrustServerFiles, _ certificate: Data, at now: Date
    ) throws(CommandFailure) -> EarlierDocuments {
        guard domains != nil else {
            return EarlierDocuments(premises: [
                "what rounds have replaced is not known without --domains: name it with --replaced"
            ])
        }
        return try files.replacedDocuments(signedBy: certificate, at: now)
    }

    /// The memory of the rounds; nil without --domains.
    private func memory(_ files: TrustServerFiles) throws(CommandFailure) -> PublishingMemory? {
        guard domains != nil else { return nil }
        let path = files.memory.path
        guard FileManager.default.fileExists(atPath: path) else {
            throw CommandFailure(.unreadableFile, "\(path) is not there: publish makes it")
        }
        let data = try InputFile.content(of: path, maximumBytes: TrustServerPath.maximumBytes)
        do throws(SigningError) {
            return try PublishingMemory(reading: data)
        } catch {
            throw CommandFailure(.unreadableFile, "\(path): \(error)")
        }
    }
}
