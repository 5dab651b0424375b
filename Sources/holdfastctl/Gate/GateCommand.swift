import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
import HoldfastProbe
import HoldfastPublishing

/// `holdfastctl gate`
struct GateCommand: AsyncParsableCommand, ChoosesClients {
    static let configuration = CommandConfiguration(
        commandName: "gate",
        abstract: "Say whether a certificate may be installed, before clients meet it.",
        usage: "holdfastctl gate <host[:port]> --next <file> [<options>]",
        discussion: """
            Asks whether every client that may be out there gets in with the next certificate, if it were installed now: \
            clients with the published document, those that still hold an earlier one, those that begin, and versions of \
            the app that carry pins. Their own code decides, with the certificate as it would be served.

            The host is asked for what it shows now, at every address, because of the time that is left. If that \
            certificate has ended, or ends before the wait is over, some clients are locked out either way, and by waiting \
            all of them. The command says so at once, with the time, and exits with 5: install the next certificate now, \
            and alert a person.

            A document from before that is not named does not matter if documents pin keys, and the next chain has the key \
            and the issuers' keys of every chain that the host shows: clients then get in as before.

            A document that was published within --staleness is not yet held by everybody. Name the one from before, and \
            when it was replaced, with --replaced; without it the answer is that clients may hold something else. \
            --published says since when the document has been there, and --first that none was there before.

            A certificate of a few days may end before clients have got in with it for --span. The command then says from \
            when until when every client gets in, and exits with 1 before that, and with 4 from then on.

            --next is the chain that will be served, the server's own certificate first, or a certificate request or a \
            key. Of a request nobody knows the issuers yet, so only a pin of its own key lets clients in.

            Let the web server read another folder than the one into which the ACME client writes, and copy the \
            certificate and its key there only if the exit code is 0 or 5. With --wait the command asks again until it \
            is, and gives up after that time.

            EXAMPLES
              holdfastctl gate www.example.com --next fullchain.pem --pins bank.pins.json
              holdfastctl gate www.example.com --next fullchain.pem --list pins.json \\
                --public-key signer.pub --replaced pins-old.json@2026-11-20 \\
                --no-shipped-pins
              holdfastctl gate www.example.com --next next.csr \\
                --repository https://pins.example.com --app-root root.json \\
                --published 2026-11-20 --no-shipped-pins --wait 2h
              holdfastctl gate www.example.com --next fullchain.pem --repository site \\
                --app-root site/public/metadata/1.root.json --no-shipped-pins

            Exit codes: 0 every client gets in, for --span at least, 1 not yet or never, with the reason and the date, \
            2 wrong usage, 3 something could not be read or asked, 4 now, but not for --span, 5 install now and alert: what \
            is served has ended, or ends before the wait is over, and some clients are locked out either way.

            With --json one object is printed: answer (open, ending, closed, unknown), host, port, next, until, \
            openUntil, servedUntil, servedEndsFirst, lockedOutSince, cause (code, text), clients (document, kind, holders, appVersions, platform), \
            premises, error (code, message).
            """)

    @Argument(
        help: ArgumentHelp("The host, with the port if it is not the usual one.", valueName: "host[:port]"),
        transform: { text in CheckedArgument { try ServerAddress.hostWithOptionalPort(text) } })
    var host: CheckedArgument<DialedHost>

    @Option(
        help: ArgumentHelp(
            "What is about to be installed: the chain, leaf first, or a certificate request or key.", valueName: "file"),
        completion: .file())
    var next: String

    @OptionGroup(title: "What clients hold")
    var published: PublishedPinOptions

    @OptionGroup(title: "Clients")
    var builds: ShippedPinOptions

    @OptionGroup(title: "Clients")
    var earlier: ReplacedDocumentOptions

    @OptionGroup(title: "Clients")
    var age: StalenessOptions

    @OptionGroup(title: "Clients")
    var platforms: PlatformOptions

    @OptionGroup(title: "Clients")
    var renewals: RenewalOptions

    @Option(
        name: .customLong("published"),
        help: ArgumentHelp(
            "When clients could first get the document, if no --replaced says it: Unix seconds, or a date in UTC. "
                + "Otherwise nobody knows, and it counts as published now.", valueName: "time"),
        transform: TimeArgument.seconds)
    var publishedSince: Int64?

    @Flag(name: .customLong("first"), help: "No document was published before.")
    var isFirst = false

    @Option(
        help: ArgumentHelp("How long clients must get in after the installation.", valueName: "span"),
        transform: TimeSpan.read)
    var span = TimeSpan.days(7)

    @Option(
        help: ArgumentHelp("Ask again until the answer is 0, for this long at most, such as 2h.", valueName: "span"),
        transform: TimeSpan.read)
    var wait: TimeSpan?

    @OptionGroup
    var answer: AnswerOptions

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    /// The maximum time between two attempts of --wait, in seconds.
    private static let longestPause: Int64 = 60

    func validate() throws {
        try host.validate("HOST")
        guard span.seconds > 0 else { throw ValidationError("--span must be positive.") }
        guard !published.isEmpty || !clients.held.builds.shipped.isEmpty else {
            throw ValidationError("Say which pins clients have: \(PublishedPinOptions.sources), or --shipped.")
        }
        guard !isFirst || clients.held.earlier.isEmpty else {
            throw ValidationError("--replaced names a document from before, and --first says that there was none.")
        }
    }

    func run() async throws {
        let end = wait.map { ContinuousClock.now + .seconds($0.seconds) }
        while true {
            let result = await attempt()
            // An early end is reported at once, because waiting makes it worse.
            let isFinal =
                switch result {
                case .success(let report): report.status == nil || report.status == .servedEndsFirst
                case .failure(let error): error.status == .wrongUsage || error.code == .notTrusted
                }
            guard !isFinal, let end, ContinuousClock.now < end else { return try finish(result) }
            let pause = Duration.seconds(min(Self.longestPause, max(1, (wait?.seconds ?? 0) / 20)))
            try await Task.sleep(for: min(pause, end - ContinuousClock.now))
        }
    }

    private func finish(_ result: Result<GateReport, CommandFailure>) throws {
        let report: GateReport
        switch result {
        case .success(let found): report = found
        case .failure(let error) where error.status == .wrongUsage: throw error
        case .failure(let error):
            // Exit code 1 promises a date, which is unknown if a document cannot be read.
            Output.standard.complain(error.message)
            report = GateReport(error, next: next, on: try connection.dialed(try host.get()))
            if answer.isText || answer.quiet { throw NegativeAnswer(status: report.status ?? .couldNotFindOut) }
        }
        if answer.json {
            try Output.standard.json(report)
        } else if answer.format != nil {
            try answer.write(PrometheusText(verb: "gate", now: SystemWallClock().now, subjects: [report.metrics]))
        } else if !answer.quiet || report.status != nil {
            report.print(to: Output.standard)
        }
        if let status = report.status { throw NegativeAnswer(status: status) }
    }

    /// Reads all input and probes the host again.
    private func attempt() async -> Result<GateReport, CommandFailure> {
        do throws(CommandFailure) {
            return .success(try await judge())
        } catch {
            return .failure(error)
        }
    }

    private func judge() async throws(CommandFailure) -> GateReport {
        let now = SystemWallClock().now
        let host: DialedHost
        do {
            host = try connection.dialed(try self.host.get())
        } catch {
            throw CommandFailure(.wrongUsage, "\(error)")
        }
        let (inputs, history) = try await inputs(at: now)
        let next = try nextCertificate(of: host, at: now)
        let served = try await findings(of: host)
        let shown = served.shown.map(\.decision)
        let gate: InstallationGate
        do throws(PublishingError) {
            gate = try InstallationGate(
                installing: next, on: host, judging: inputs,
                hasEarlierDocuments: !isFirst && history.map { !$0.gaps.isEmpty } ?? true,
                servedUntil: served.shownUntil, keepsKeys: next.keepsKeys(of: shown))
        } catch {
            throw CommandFailure(error)
        }
        return GateReport(
            gate, next: self.next, on: host,
            resting: [clients.held.earlier.premise].compactMap(\.self) + (history?.gaps ?? [])
                + [next.lostClientUse(of: shown)].compactMap(\.self)
                + (inputs.appVersions == .unknown ? [ShippedPinOptions.remedy] : []))
    }

    /// Reads the documents that clients may hold, as `check` does.
    /// - Returns: also the history from the folders of repositories; nil if it is unknown.
    private func inputs(
        at now: Date
    ) async throws(CommandFailure) -> (PublicationOutlook.Inputs, history: EarlierDocuments?) {
        let anchors = try await connection.anchors()
        let read = try await published.read(at: now, connection: connection) { () throws(CommandFailure) in anchors }
        let staleness = clients.held.staleness(of: read.map(\.document), at: now)
        let history = try await published.history(staleness: staleness, at: now)
        let named = try clients.held.earlier.documents { data, name throws(CommandFailure) in
            try published.earlier(data, named: name, at: now)
        }
        let earlier = named + (history?.documents ?? [])
        let since = publishedSince.map(Date.init(wholeSeconds:)) ?? earlier.compactMap(\.replaced).max()
        let shipped = try clients.held.builds.documents(builtWith: published.onlyRoot(), at: now).map(\.document)
        let documents =
            read.map { pins in
                var document = pins.document
                if let since, document.kind != .shippedPins { document.published = since }
                if let interval = renewals.renewedEvery {
                    document.renew(
                        every: .seconds(interval.seconds), lasting: .seconds(renewals.lifetime.seconds), at: now)
                }
                return document
            } + shipped + earlier
        let inputs = PublicationOutlook.Inputs(
            documents: documents, hosts: [],
            platforms: try clients.platforms.platforms(
                anchors, named: connection.ca ?? "this machine's anchors"),
            appVersions: clients.held.builds.appVersions(carrying: documents),
            staleness: staleness, span: .seconds(span.seconds), now: now)
        return (inputs, history)
    }

    /// - Throws: if it is not for the host. The outlook reports for each platform whether its chain validates.
    private func nextCertificate(
        of host: DialedHost, at now: Date
    ) throws(CommandFailure) -> InstallationGate.Next {
        let entries = try InputFile.publicKeys(of: next).entries
        guard entries.contains(where: { $0.kind == .certificate }) else {
            guard let entry = entries.first, entries.count == 1 else {
                throw CommandFailure(.wrongUsage, "\(next) has several keys: --next is the one that will be served")
            }
            try CommandFailure.rethrowing { () throws(PublishingError) in try entry.checkHost(nil, at: now) }
            return .key(Data(entry.subjectPublicKeyInfo))
        }
        let chain = try InputFile.chain(of: next)
        return try CommandFailure.rethrowing { () throws(PublishingError) in
            try InstallationGate.Next(chain, named: next, for: host, at: now)
        }
    }

    /// The result of probing the host.
    private func findings(of host: DialedHost) async throws(CommandFailure) -> HostFindings {
        let findings = await (try connection.probe()).ask(host)
        if let failure = findings.commandFailure { throw failure }
        guard !findings.isChosenByProxy else {
            throw CommandFailure(
                .unreachable,
                "the proxy chose the address of \(host), and nobody knows what the others show: name them with --address"
            )
        }
        return findings
    }
}
