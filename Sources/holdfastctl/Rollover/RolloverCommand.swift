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
            the step is done. If some clients cannot be saved, it says which, and advises what fewest lose by.

            The advice rests on what clients hold and servers show, never on which certificate ends later. --next names \
            what will be deployed, --retiring what is to be withdrawn; a pin file says the latter itself. A list does \
            not: without --retiring nothing is taken out of it.

            The wait lasts as long as a client may continue to use an older document (--staleness): for a list seven \
            days, for a pin file what its refresh says. A pin file without refresh is shipped with an app, and only \
            you know how long older versions are in use. The wait begins when the document was published \
            (--published): by default when it took the place of the last document that --replaced names, then at issuedAt \
            of a pin file, otherwise when the file was last changed. Until it is over, nobody knows which documents \
            clients hold: name them with --replaced, or say with --first that there were none. Pin files and bundles that \
            versions of the app carry are named with --shipped. If the document is a list, say with --no-shipped-pins if \
            there are none; until you say either, nobody knows whether those apps get in (3).

            A pattern such as *.example.com names no host: name the hosts to ask.

            EXAMPLES
              holdfastctl rollover bank.pins.json
              holdfastctl rollover bank.pins.json --staleness 90d --next next.csr
              holdfastctl rollover pins.json --public-key signer.pub --next next.pem \\
                --replaced pins-old.json@2026-11-20 --no-shipped-pins
              holdfastctl rollover pins.json www.example.com --public-key signer.pub \\
                --retiring old.pem --no-shipped-pins --json

            Exit codes: 0 there is a step with which every client gets in, 1 clients are locked out, now or whatever is \
            done, or the change cannot be finished without locking clients out, 2 wrong usage, 3 could not connect or \
            read, there is no host to ask, or the app versions are unknown. Of several, 1 outweighs 3.

            With --json one object per line is printed for each host: host, port, step (letClientsIn, publishNext, \
            addBackup, renew, renewCertificate, wait, deploy, remove, nothing, unknown), date, why, action, pins, \
            servers, lost and blocking (document, servers, from, until), premises, error.
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
        try key?.validate("--public-key")
        for host in hosts { try host.validate("HOST") }
        guard earlier.isEmpty || !isFirst else {
            throw ValidationError("--replaced names a document from before, and --first says that there was none.")
        }
    }

    func run() async throws {
        let now = SystemWallClock().now
        let file = try read(
            try InputFile.content(of: document, maximumBytes: RolloverDocument.maximumBytes), document)
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
        let common = try await inputs(file, at: now)
        let probe = try await connection.probe()
        let document = document
        let reports = await SideBySide.map(asked, atMost: Self.hostsAtOnce) { host in
            var inputs = common
            (inputs.host, inputs.port) = (host.name, host.port)
            inputs.servers = await probe.ask(host).presentations(
                at: now)
            return RolloverReport.all(of: inputs, host: host, document: document)
        }.flatMap(\.self)
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

    /// What advice rests on, apart from what the servers of a host show.
    private func inputs(_ file: RolloverDocument, at now: Date) async throws -> RolloverInputs {
        var documents: [PublicationOutlook.Document] = []
        for (name, data, replaced) in try earlier.files() {
            documents.append(try read(data, name).held(from: .distantPast, until: replaced))
        }
        documents.append(file.held(from: publishedTime(file, after: documents, now)))
        for pins in try builds.documents(at: now) {
            var document = pins.document
            // Nobody knows since when the version is in use.
            document.published = .distantPast
            documents.append(document)
        }
        let anchors = try await connection.anchors()
        let platforms = try platforms.platforms(anchors, named: connection.ca ?? "this machine's anchors")
        var inputs = RolloverInputs(
            host: "", documents: documents, hasEarlierDocuments: !isFirst, servers: [], platforms: platforms,
            appVersions: appVersions(carrying: documents, with: file),
            staleness: staleness.map { .seconds($0.seconds) } ?? file.staleness, now: now)
        for path in next {
            let data = try InputFile.content(of: path, maximumBytes: ChainFile.maximumBytes)
            inputs.candidates += try RolloverInputs.Candidate.candidates(
                in: data, named: path, pinsCertificates: file.pinsCertificates)
        }
        for text in retiring where !inputs.retire(pin: text) {
            try inputs.retire(
                try InputFile.content(of: text, maximumBytes: ChainFile.maximumBytes), named: text)
        }
        return inputs
    }

    private func appVersions(
        carrying documents: [PublicationOutlook.Document], with file: RolloverDocument
    ) -> PublicationOutlook.AppVersions {
        let versions = builds.appVersions(carrying: documents)
        // A pin file is what builds carry.
        return versions == .noShippedPins && !file.pinsCertificates ? .unknown : versions
    }

    private func read(_ data: Data, _ name: String) throws -> RolloverDocument {
        try RolloverDocument(
            data, named: name, key: key?.value, remedy: "Give the signer's public key with --public-key.")
    }

    /// When the document was published: as an option says, when it took the place of the last one before it, when it was
    /// made, or when its file was changed.
    private func publishedTime(
        _ file: RolloverDocument, after earlier: [PublicationOutlook.Document], _ now: Date
    ) -> Date {
        if let known = published.map(Date.init(wholeSeconds:)) ?? earlier.compactMap(\.replaced).max() ?? file.issued {
            return known
        }
        let attributes = try? FileManager.default.attributesOfItem(atPath: document)
        return attributes?[.modificationDate] as? Date ?? now
    }
}
