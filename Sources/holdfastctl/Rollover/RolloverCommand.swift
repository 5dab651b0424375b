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
            days, for a trust server's document 25 hours, for a pin file what its refresh says, for a repository seven days, or \
            what the refresh of its pins says if that is longer. gate, check and sign wait for as long. A pin file without refresh is shipped with an app, and only \
            you know how long older versions are in use. The wait begins when the document was published \
            (--published): by default when it took the place of the last document that --replaced names, then at issuedAt \
            of a pin file, or when the file of a list was last changed, otherwise now, since nobody knows. Until it is over, \
            nobody knows which documents clients hold: name them with --replaced, or say with --first that there were none. \
            Of a trust server, --domains reads the documents that its rounds have replaced. Pin files and bundles that \
            versions of the app carry are named with --shipped. If no document is a pin file, say with --no-shipped-pins if \
            there are none; until you say either, nobody knows whether those apps get in (3).

            If clients of several kinds are in the field, or apps with several roots, name all documents that are \
            published: a step is advised only if the clients of each get in, and is to be done in each of them. A document \
            that does not name a host is left out for that host. A repository's timestamp is taken to be renewed by a machine.

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
              holdfastctl rollover --list pins.json --public-key signer.pub \\
                --repository https://pins.example.com --app-root 1.root.json \\
                --app-root 2.root.json --next next.pem --no-shipped-pins
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
        help: ArgumentHelp("The hosts to ask, if not all those of the documents.", valueName: "host[:port]"),
        transform: { text in CheckedArgument { try ServerAddress.host(text) } })
    var hosts: [CheckedArgument<DialedHost>] = []

    @OptionGroup(title: "The published documents")
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

    @Flag(name: .customLong("first"), help: "Nothing was published before the documents.")
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
        help: ArgumentHelp("When the documents were published: Unix seconds, or a date in UTC.", valueName: "time"),
        transform: TimeArgument.seconds)
    var published: Int64?

    @OptionGroup
    var answer: AnswerOptions

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    /// Number of hosts that are probed at the same time.
    private static let hostsAtOnce = 8

    func validate() throws {
        for host in hosts { try host.validate("HOST") }
        guard earlier.isEmpty || !isFirst else {
            throw ValidationError("--replaced names a document from before, and --first says that there was none.")
        }
        guard !sources.isEmpty else {
            throw ValidationError("Say what is published: \(PublishedPinOptions.sources).")
        }
        guard domains == nil || sources.trustServer.count == 1 else {
            throw ValidationError("--domains goes with one --trust-server.")
        }
    }

    func run() async throws {
        try await answer.answering("rollover", about: subjects) { try await advise() }
    }

    /// The subjects of an answer if nothing can be read: the hosts, or else the documents.
    private var subjects: [String] {
        let named = hosts.compactMap(\.value).map { "\($0)" }
        return named.isEmpty ? sources.names.compactMap { (try? InputDocument($0))?.name } : named
    }

    private func advise() async throws {
        let now = SystemWallClock().now
        let published = try await sources.read(at: now, connection: connection) {
            () async throws(CommandFailure) in try await connection.anchors()
        }
        let files = published.map { RolloverDocument($0, at: now) }
        let asked = try askedHosts(of: files)
        for file in files { try file.check(at: now) }
        let deciding = try asked.map { host in
            let indices = files.indices.filter { files[$0].decides(about: host, at: now) }
            if indices.isEmpty { try files.first?.check(host, at: now) }
            return indices
        }
        let common = try common(files, published, try await connection.anchors(), at: now)
        let questions = zip(asked, deciding).map { common.question($0, to: $1) }
        let probe = try await connection.probe()
        let reports = await SideBySide.map(questions, atMost: Self.hostsAtOnce) { question in
            var inputs = question.inputs
            inputs.servers = await probe.ask(question.host).presentations(
                at: now)
            return RolloverReport.all(of: inputs, host: question.host, documents: question.documents).map { report in
                var report = report
                report.premises? += question.premises
                return report
            }
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

    /// The hosts to probe, each once.
    private func askedHosts(of files: [RolloverDocument]) throws -> [DialedHost] {
        var asked: [DialedHost] = []
        if hosts.isEmpty {
            for file in files {
                let all = file.hosts(defaultPort: ServerAddress.defaultPort)
                for pattern in all.patterns {
                    Output.standard.remark(
                        "\(SafeText.escapedLine(pattern)) names no host to ask: name the hosts to ask")
                }
                asked += all.hosts.filter { !asked.contains($0) }
            }
        } else {
            for host in hosts {
                let host = try host.get()
                asked.append(host.port == nil ? try DialedHost(host.name, port: ServerAddress.defaultPort) : host)
            }
        }
        guard !asked.isEmpty else {
            let names = files.map(\.name).joined(separator: ", ")
            throw CommandFailure(.nothingToAsk, "\(names) \(files.count == 1 ? "names" : "name") no host to ask")
        }
        return asked
    }

    /// The input about a host, without the chains that its servers present.
    private struct Question: Sendable {
        let host: DialedHost
        let inputs: RolloverInputs
        let documents: [RolloverWords.Document]
        let premises: [String]
    }

    /// The input for all hosts.
    private struct Common {
        /// A published document, with its premise.
        struct Published {
            let file: RolloverDocument
            let document: PublicationOutlook.Document
            let premises: [String]
        }

        /// All input except published documents and the pins of builds.
        var inputs: RolloverInputs
        let builds: ShippedPinOptions
        var carried: [PublicationOutlook.Document] = []
        var published: [Published] = []
        var premises: [String] = []

        /// - Parameter indices: the documents that are used for the host.
        func question(_ host: DialedHost, to indices: [Int]) -> Question {
            var inputs = inputs
            let deciding = indices.map { published[$0] }
            (inputs.host, inputs.port) = (host.name, host.port)
            inputs.documents += deciding.map(\.document) + carried
            inputs.appVersions = builds.appVersions(carrying: inputs.documents)
            let spans = deciding.map(\.file.staleness)
            inputs.staleness = inputs.staleness ?? (spans.contains(nil) ? nil : spans.compactMap(\.self).max())
            let others = published.indices.filter { !indices.contains($0) }.map {
                "\(published[$0].file.name) does not name \(host): its clients do not connect there"
            }
            return Question(
                host: host, inputs: inputs,
                documents: deciding.map {
                    .init(name: $0.file.name, source: $0.file.source, endsWithRoot: $0.file.endsWithRoot)
                },
                premises: deciding.flatMap(\.premises) + premises + others)
        }
    }

    private func common(
        _ files: [RolloverDocument], _ published: [PublishedPins], _ anchors: TrustAnchors, at now: Date
    ) throws(CommandFailure) -> Common {
        var earlier: [PublicationOutlook.Document] = []
        for (name, data, replaced) in try self.earlier.files() {
            earlier += try sources.earlier(data, named: name, at: now)
                .map { $0.served(from: .distantPast, until: replaced) }
        }
        for case .trustServer(let signer, let customer, _) in published.map(\.document.kind) {
            guard let domains else { continue }
            let kept = try TrustServerFiles(customer: customer, data: "", output: "", domains: domains)
                .replacedDocuments(signedBy: signer, at: now)
            if let gap = kept.gaps.first { throw CommandFailure(.unreadableFile, gap) }
            earlier += kept.documents
        }
        let isKnown = domains != nil && files.count == 1
        var common = Common(
            inputs: RolloverInputs(
                host: "", documents: earlier, hasEarlierDocuments: !isFirst && !isKnown, servers: [],
                platforms: try platforms.platforms(anchors, named: connection.ca ?? "this machine's anchors"),
                staleness: staleness.map { .seconds($0.seconds) }, now: now), builds: builds)
        for file in files {
            let own = earlier.filter { $0.kind.rolloverSource == file.source }
            let (since, reason) = publication(of: file, after: own, now)
            let name = files.count == 1 ? "the document" : file.name
            let words = "\(name) has been published since \(since.formatted(.iso8601)): \(reason)"
            common.published.append(
                .init(
                    file: file, document: file.held(from: since, at: now),
                    premises: [words, file.renewalPremise(at: now)].compactMap(\.self)))
        }
        for pins in try builds.documents(builtWith: sources.onlyRoot(), at: now) {
            var document = pins.document
            // It is unknown since when the version is in use.
            document.published = .distantPast
            common.carried.append(document)
        }
        common.premises = [self.earlier.premise].compactMap(\.self)
        let pinsCertificates = files.contains(where: \.pinsCertificates)
        for path in next {
            let data = try InputFile.content(of: path, maximumBytes: ChainFile.maximumBytes)
            common.inputs.candidates += try CommandFailure.rethrowing { () throws(PublishingError) in
                try RolloverInputs.Candidate.candidates(in: data, named: path, pinsCertificates: pinsCertificates)
            }
        }
        for text in retiring where !common.inputs.retire(pin: text) {
            let data = try InputFile.content(of: text, maximumBytes: ChainFile.maximumBytes)
            try CommandFailure.rethrowing { () throws(PublishingError) in
                try common.inputs.retire(data, named: text)
            }
        }
        return common
    }

    /// The publication time of a document, and the reason for it as text.
    private func publication(
        of file: RolloverDocument, after earlier: [PublicationOutlook.Document], _ now: Date
    ) -> (Date, String) {
        if let published { return (Date(wholeSeconds: published), "--published says so") }
        if let last = earlier.compactMap(\.replaced).max() { return (last, "it replaced another then") }
        if domains != nil, file.source == .trustServer {
            return (.distantPast, "no round has replaced a document that clients may still have")
        }
        if let issued = file.issued { return (issued, "it was issued then, and nobody says that it was later") }
        if let changed = changed(file) { return (changed, "its file was changed then") }
        return (now, "nobody knows since when it has been there")
    }

    /// When the file of a published document was last changed, for kinds that are written only to be published; nil if
    /// that is unknown.
    private func changed(_ file: RolloverDocument) -> Date? {
        switch file.source {
        case .pinFile, .list:
            let attributes = try? FileManager.default.attributesOfItem(atPath: file.name)
            return attributes?[.modificationDate] as? Date
        // The list that a server sends is not the local file.
        case .challengedList, .repository, .trustServer: return nil
        }
    }
}
