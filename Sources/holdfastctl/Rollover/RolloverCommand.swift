import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
import HoldfastProbe
import HoldfastPublishing

/// `holdfastctl rollover`
struct RolloverCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollover",
        abstract: "Compare published pins with the servers, and print the next safe step.",
        usage: """
            holdfastctl rollover [<host[:port]> ...] --pins <file> [<options>]
            holdfastctl rollover [<host[:port]> ...] --list <file> \\
              --public-key <public> [<options>]
            holdfastctl rollover [<host[:port]> ...] --challenged-list <url | file> \\
              --public-key <public> [<options>]
            holdfastctl rollover [<host[:port]> ...] --repository <url> \\
              --app-root <file> [<options>]
            holdfastctl rollover [<host[:port]> ...] --trust-server <file | url> \\
              --signer <file> [<options>]
            """,
        discussion: """
            Asks every server of each host in the published document, at every address and for an ECDSA and for an RSA key, \
            and says what to do next so that no client is locked out: publish a backup, wait until every client has it, \
            deploy it, remove the old pin. Each step is printed with its date and reason. Run the command again when \
            the step is done. If some clients cannot be saved, it says which, and advises what fewest lose by.

            The advice rests on what clients hold and servers show, never on which certificate ends later. --next names \
            what will be deployed, --retiring what is to be withdrawn; a pin file says the latter itself. A list does \
            not: without --retiring nothing is taken out of it.

            The wait lasts as long as a client may continue to use an older document (--staleness): for a list seven \
            days, for a trust server's document 25 hours, for a pin file what its refresh says, for a repository what that \
            of its pins says, or 30 days. A pin file without refresh is shipped with an app, and only \
            you know how long older versions are in use. The wait begins when the document was published \
            (--published): by default when it took the place of the last document that --replaced names, then at issuedAt \
            of a pin file, or when the file of a list was last changed, otherwise now, since nobody knows. Until it is over, \
            nobody knows which documents clients hold: name them with --replaced, or say with --first that there were none. \
            Of a trust server, --domains reads the documents that its rounds have replaced. Pin files and bundles that \
            versions of the app carry are named with --shipped. If the document is no pin file, say with --no-shipped-pins if \
            there are none; until you say either, nobody knows whether those apps get in (3).

            A pattern such as *.example.com names no host: name the hosts to ask.

            EXAMPLES
              holdfastctl rollover --pins bank.pins.json
              holdfastctl rollover --pins bank.pins.json --staleness 90d --next next.csr
              holdfastctl rollover --list pins.json --public-key signer.pub \\
                --next next.pem --replaced pins-old.json@2026-11-20 --no-shipped-pins
              holdfastctl rollover www.example.com --list pins.json \\
                --public-key signer.pub --retiring old.pem --no-shipped-pins --json
              holdfastctl rollover --repository https://pins.example.com \\
                --app-root root.json --published 2026-11-20 --no-shipped-pins
              holdfastctl rollover --trust-server output/acme.json.signed \\
                --signer output/acme.crt --domains data/acme.domains \\
                --next next.pem --no-shipped-pins

            Exit codes: 0 there is a step with which every client gets in, 1 clients are locked out, now or whatever is \
            done, or the change cannot be finished without locking clients out, 2 wrong usage, 3 could not connect or \
            read, there is no host to ask, or the app versions are unknown. Of several, 1 outweighs 3.

            With --json one object per line is printed for each host: host, port, step (letClientsIn, publishNext, \
            addBackup, renew, renewCertificate, wait, deploy, remove, nothing, unknown), date, why, action, pins, \
            servers, lost and blocking (document, servers, from, until), premises, error.
            """)

    @Argument(
        help: ArgumentHelp("The hosts to ask, if not all those of the document.", valueName: "host[:port]"),
        transform: { text in CheckedArgument { try ServerAddress.host(text) } })
    var hosts: [CheckedArgument<DialedHost>] = []

    @OptionGroup(title: "The published document")
    var sources: PublishedPinOptions

    @Option(
        help: ArgumentHelp(
            "Of a trust server: the list of its hosts. publish keeps beside it what its rounds replaced.",
            valueName: "file"),
        completion: .file())
    var domains: String?

    @Option(
        help: ArgumentHelp(
            "The certificate, key or request that will be deployed next. Repeatable.", valueName: "file"),
        completion: .file())
    var next: [String] = []

    @Option(
        help: ArgumentHelp(
            "A pin that is to be withdrawn, or the certificate or key that has it. Repeatable.",
            valueName: "pin | file"), completion: .file())
    var retiring: [String] = []

    @OptionGroup
    var earlier: ReplacedDocumentOptions

    @Flag(name: .customLong("first"), help: "Nothing was published before the document.")
    var isFirst = false

    @OptionGroup
    var builds: ShippedPinOptions

    @OptionGroup
    var platforms: PlatformOptions

    @Option(
        help: ArgumentHelp("How long a client continues to use an older document, such as 30d.", valueName: "span"),
        transform: TimeSpan.read)
    var staleness: TimeSpan?

    @Option(
        name: .customLong("published"),
        help: ArgumentHelp("When the document was published: Unix seconds, or a date in UTC.", valueName: "time"),
        transform: TimeArgument.seconds)
    var published: Int64?

    @OptionGroup
    var answer: AnswerOptions

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    /// How many hosts are asked at the same time.
    private static let hostsAtOnce = 8

    func validate() throws {
        for host in hosts { try host.validate("HOST") }
        guard earlier.isEmpty || !isFirst else {
            throw ValidationError("--replaced names a document from before, and --first says that there was none.")
        }
        guard sources.count == 1 else {
            throw ValidationError("Give one published document: \(PublishedPinOptions.sources).")
        }
        guard domains == nil || !sources.trustServer.isEmpty else {
            throw ValidationError("--domains goes with --trust-server.")
        }
    }

    func run() async throws {
        let now = SystemWallClock().now
        let published = try await sources.read(at: now, connection: connection) {
            () async throws(CommandFailure) in try await connection.anchors()
        }
        guard let pins = published.first else { throw CommandFailure(.wrongUsage, "no published document is named") }
        let file = RolloverDocument(pins, at: now)
        let document = sources.names[0]
        var asked: [DialedHost] = []
        if hosts.isEmpty {
            let all = file.hosts(defaultPort: ServerAddress.defaultPort)
            for pattern in all.patterns {
                Output.standard.remark(
                    "\(SafeText.escapedLine(pattern)) names no host to ask: name the hosts to ask")
            }
            asked = all.hosts
        } else {
            for host in hosts {
                let host = try host.get()
                asked.append(host.port == nil ? try DialedHost(host.name, port: ServerAddress.defaultPort) : host)
            }
        }
        guard !asked.isEmpty else { throw CommandFailure(.nothingToAsk, "\(document) names no host to ask") }
        for host in asked { try file.check(host, at: now) }
        let common = try inputs(file, pins, try await connection.anchors(), at: now)
        let probe = try await connection.probe()
        let premises = [common.since, earlier.premise].compactMap(\.self)
        let reports = await SideBySide.map(asked, atMost: Self.hostsAtOnce) { host in
            var inputs = common.inputs
            (inputs.host, inputs.port) = (host.name, host.port)
            inputs.servers = await probe.ask(host).presentations(
                at: now)
            return RolloverReport.all(of: inputs, host: host, document: document, from: file.source)
        }.flatMap(\.self).map { report in
            var report = report
            report.premises? += premises
            return report
        }
        if answer.format != nil {
            try answer.write(PrometheusText(verb: "rollover", now: now, subjects: reports.map(\.metrics)))
        } else {
            for report in reports {
                if answer.json {
                    try Output.standard.json(report)
                } else if !answer.quiet || report.status != nil {
                    report.print(to: Output.standard)
                }
            }
        }
        let statuses = reports.compactMap(\.status)
        if statuses.contains(.negativeAnswer) { throw NegativeAnswer() }
        if statuses.contains(.couldNotFindOut) { throw NegativeAnswer(status: .couldNotFindOut) }
    }

    /// What advice rests on, apart from what the servers of a host show, and since when the document is taken to be
    /// published, in words.
    private func inputs(
        _ file: RolloverDocument, _ pins: PublishedPins, _ anchors: TrustAnchors, at now: Date
    ) throws(CommandFailure) -> (inputs: RolloverInputs, since: String) {
        var documents: [PublicationOutlook.Document] = []
        for (name, data, replaced) in try earlier.files() {
            documents += try sources.earlier(data, named: name, at: now)
                .map { $0.served(from: .distantPast, until: replaced) }
        }
        var isKnown = false
        if let domains, case .trustServer(let signer, let customer, _) = pins.document.kind {
            let kept = try TrustServerFiles(customer: customer, data: "", output: "", domains: domains)
                .replacedDocuments(signedBy: signer, at: now)
            if let gap = kept.gaps.first { throw CommandFailure(.unreadableFile, gap) }
            documents += kept.documents
            isKnown = true
        }
        let (since, reason) = publication(of: file, after: documents, isKnown: isKnown, now)
        documents.append(file.held(from: since))
        for pins in try builds.documents(builtWith: sources.onlyRoot(), at: now) {
            var document = pins.document
            // Nobody knows since when the version is in use.
            document.published = .distantPast
            documents.append(document)
        }
        let platforms = try platforms.platforms(anchors, named: connection.ca ?? "this machine's anchors")
        var inputs = RolloverInputs(
            host: "", documents: documents, hasEarlierDocuments: !isFirst && !isKnown, servers: [],
            platforms: platforms,
            appVersions: appVersions(carrying: documents, with: file),
            staleness: staleness.map { .seconds($0.seconds) } ?? file.staleness, now: now)
        for path in next {
            let data = try InputFile.content(of: path, maximumBytes: ChainFile.maximumBytes)
            inputs.candidates += try CommandFailure.rethrowing { () throws(PublishingError) in
                try RolloverInputs.Candidate.candidates(
                    in: data, named: path, pinsCertificates: file.pinsCertificates)
            }
        }
        for text in retiring where !inputs.retire(pin: text) {
            let data = try InputFile.content(of: text, maximumBytes: ChainFile.maximumBytes)
            try CommandFailure.rethrowing { () throws(PublishingError) in try inputs.retire(data, named: text) }
        }
        return (inputs, reason)
    }

    /// Since when the document counts as published, and why, in words.
    /// - Parameter isKnown: whether the rounds of a trust server have kept what they replaced.
    private func publication(
        of file: RolloverDocument, after earlier: [PublicationOutlook.Document], isKnown: Bool, _ now: Date
    ) -> (Date, String) {
        func since(_ date: Date, _ why: String) -> (Date, String) {
            (date, "the document has been published since \(date.formatted(.iso8601)): \(why)")
        }
        if let published { return since(Date(wholeSeconds: published), "--published says so") }
        if let last = earlier.compactMap(\.replaced).max() { return since(last, "it replaced another then") }
        if isKnown { return (.distantPast, "no round has replaced a document that clients may still have") }
        if let issued = file.issued { return since(issued, "it was issued then, and nobody says that it was later") }
        if let changed = changed(file) { return since(changed, "its file was changed then") }
        return since(now, "nobody knows since when it has been there")
    }

    private func appVersions(
        carrying documents: [PublicationOutlook.Document], with file: RolloverDocument
    ) -> PublicationOutlook.AppVersions {
        let versions = builds.appVersions(carrying: documents)
        // A pin file is what builds carry.
        return versions == .noShippedPins && file.source == .pinFile ? .unknown : versions
    }

    /// When the file of the published document was last changed, for kinds that are written only to be published; nil if
    /// nobody knows.
    private func changed(_ file: RolloverDocument) -> Date? {
        switch file.source {
        case .pinFile, .list:
            let attributes = try? FileManager.default.attributesOfItem(atPath: sources.names[0])
            return attributes?[.modificationDate] as? Date
        // The list that a server sends is not the file at hand.
        case .challengedList, .repository, .trustServer: return nil
        }
    }
}
