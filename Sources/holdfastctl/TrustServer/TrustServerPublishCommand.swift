public import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
import HoldfastProbe
public import HoldfastPublishing
public import HoldfastSigning

/// `holdfastctl trust-server publish`
struct TrustServerPublishCommand: AsyncParsableCommand, ChoosesClients {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Ask every host, sign what was validated, and replace the published document.",
        usage: """
            holdfastctl trust-server publish --customer <name> --domains <file> \\
              --folder <folder> [<options>]
            """,
        discussion: """
            Connects to every address of each host on the list, over IPv4 and IPv6, and validates the chain that it \
            gets there before it signs anything. The signed document is read again as a client reads it, and then \
            replaces CUSTOMER.json.signed in one step.

            A host is published with every pin that it was validated with during the time of --overlap. So clients \
            reach old and new servers while a certificate is being replaced. To withdraw a pin at once, run one \
            round with --overlap 0s after the last server has stopped using it.

            A host that fails keeps its pins for the time of --keep. A host that has none is left out and reported. \
            The pins of all rounds are kept in CUSTOMER.hosts.json beside the list; back it up with the list. If it \
            is lost, the pins of the published document take its place while clients still use that document.

            If there are more changes than --max-changes allows, nothing new is published: the previous document is \
            signed again with the current time, because clients refuse everything once it is a day old. This lasts \
            until the hosts are as they were, or until you run one round with a higher number. A host has changed when \
            it has a new pin, or when it has left the list. A new host does not count. Hosts that shared a certificate \
            and share its successor are one change. Each host with a new pin is named.

            With --first-run it makes the key that signs, for a customer that has neither key, certificate nor document: \
            CUSTOMER.key beside the list (private, mode 0600), CUSTOMER.crt (the certificate in DER) and CUSTOMER.pem in \
            the folder. It prints the certificate in Base64, with which the app is configured (trustServerCertificate), \
            and publishes. Without it, and beside anything that is there, no key is ever made.

            Each round asks the outlook whether every client gets in with what the hosts showed: with the document of the \
            round, with those that rounds replaced while clients may still have them, and with what versions of the app \
            carry (--shipped). If not, for example because a new certificate is not in the document that was replaced, it \
            names the host and exits with 1. Say with --no-shipped-pins if no \
            version carries pins: until you say either, nobody knows whether these apps get in (3).

            With --resign-only no host is asked: the published document is signed again with the current time, for \
            example while the network of the hosts is down. A document that clients no longer use is not signed again.

            If the list, the backups or the authorities cannot be read, the hosts, backups and pins of the last round \
            are used, and this is reported. Only without the key is nothing published.

            With --every the command runs until SIGTERM or SIGINT; then it finishes the current write and exits with \
            0. It reads every file again for each round; if that fails, it continues with what it read before.

            A link in place of a published file is followed: let nobody else write to the output folder.

            EXAMPLES
              holdfastctl trust-server publish --customer acme \\
                --domains data/acme.domains --folder output --no-shipped-pins --first-run
              holdfastctl trust-server publish --customer acme \\
                --domains data/acme.domains --folder output --every 5m \\
                --include all --backup next.pub --shipped 7.4=app-7.4.pins.json
              holdfastctl trust-server publish --customer acme \\
                --domains data/acme.domains --folder output --no-shipped-pins --json

            Every line begins with the time (UTC), but for the certificate of --first-run. With --json each is an \
            object: time, event (madeKey, published, publishedAgain, nothingPublished, warning, error), certificate, key, \
            document, hosts, failures (host, consequence, since, problems), newPins, left, refused (host, reason), \
            unknown, ending, allowedChanges, message, code.

            Exit codes: 0 every host was validated at every address and is published, and every client gets in; 1 a host \
            is not trusted, too many hosts changed, clients are locked out, or nothing new was signed; 2 wrong usage; 3 a host could not be asked, a file could not be read or written, or nobody knows \
            whether clients get in; 4 clients get in only by grace. With --resign-only, 0 says that the document was signed.
            """)

    @Option(help: ArgumentHelp("The customer that owns the hosts; the files are named after it.", valueName: "name"))
    var customer: String

    @Option(
        help: ArgumentHelp("The hosts, one HOST:PORT per line; # begins a comment.", valueName: "file"),
        completion: .file())
    var domains: String

    @Option(
        help: ArgumentHelp("The folder of CUSTOMER.json.signed.", valueName: "folder"), completion: .directory)
    var folder: String

    @Option(
        help: ArgumentHelp("Repeat at this interval, at most 10m.", valueName: "span"), transform: TimeSpan.read)
    var every: TimeSpan?

    @Option(
        help: ArgumentHelp(
            "The certificates of each validated path that are published: leaf, issuers or all. With issuers "
                + "and all, anyone to whom the same authority issues a certificate for the host is trusted.",
            valueName: "which"))
    var include = PublishingRound.Included.leaf

    @Option(
        help: ArgumentHelp(
            """
            Publish the certificates and keys of this file (PEM) for every host as well; of a chain, the host's own \
            alone. Repeatable.
            """,
            valueName: "file"),
        completion: .file())
    var backup: [String] = []

    @Option(
        help: ArgumentHelp("How long a host that fails keeps its pins.", valueName: "span"), transform: TimeSpan.read)
    var keep = TimeSpan.days(7)

    @Option(
        help: ArgumentHelp("How long a host keeps a pin that it no longer shows.", valueName: "span"),
        transform: TimeSpan.read)
    var overlap = TimeSpan.days(7)

    @Option(
        name: .customLong("max-changes"),
        help: ArgumentHelp(
            "Publish nothing new if there are more changes than this. By default half as many as hosts were "
                + "published before, and at least 10.", valueName: "number"))
    var maximumChanges: Int?

    @Flag(
        name: .customLong("first-run"),
        help: "Make the key and the certificate, for a customer that has neither them nor a document.")
    var isFirstRun = false

    @Option(
        name: .customLong("kind"),
        help: ArgumentHelp(
            "With --first-run, the kind of key: rsa-4096, as in the published signer and by default, or p-256.",
            valueName: "kind"))
    var kind: TrustServerKey.Kind?

    @Flag(name: .customLong("resign-only"), help: "Sign the published document again, and ask no host.")
    var resignsOnly = false

    @Flag(help: "Log JSON instead of text, one object per line.")
    var json = false

    @Flag(help: "Print failures only: no line for a round in which all is well.")
    var quiet = false

    @Option(
        help: ArgumentHelp(
            "Connect this many times to each address. Every second time asks for a key of the other kind (ECDSA, RSA). "
                + "Raise it if several servers share an address.", valueName: "number"))
    var tries = 2

    @Option(name: .customLong("at-once"), help: ArgumentHelp("Ask this many hosts at a time.", valueName: "number"))
    var hostsAtOnce = 64

    @Option(
        help: ArgumentHelp(
            "The private key; by default CUSTOMER.key beside the list.", valueName: "file"),
        completion: .file(extensions: ["key", "pem"]))
    var key: String?

    @Option(
        help: ArgumentHelp(
            "The signer's certificate; by default CUSTOMER.crt in the output folder.", valueName: "file"),
        completion: .file(extensions: ["crt", "pem", "cer"]))
    var certificate: String?

    @OptionGroup(title: "Clients")
    var builds: ShippedPinOptions

    @OptionGroup(title: "Clients")
    var earlier: ReplacedDocumentOptions

    @OptionGroup(title: "Clients")
    var age: StalenessOptions

    @OptionGroup(title: "Clients")
    var platforms: PlatformOptions

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    func validate() throws {
        do throws(SigningError) {
            try TrustServerKey.requireCustomer(customer)
        } catch {
            throw ValidationError("--customer: \(error)")
        }
        guard (1...1_024).contains(hostsAtOnce) else {
            throw ValidationError("--at-once must be 1 to 1024, not \(hostsAtOnce).")
        }
        guard (1...16).contains(tries) else { throw ValidationError("--tries must be 1 to 16, not \(tries).") }
        if let maximumChanges, maximumChanges < 0 { throw ValidationError("--max-changes must not be negative.") }
        guard isFirstRun || kind == nil else { throw ValidationError("--kind goes with --first-run.") }
        guard !isFirstRun || key == nil && certificate == nil && !resignsOnly else {
            throw ValidationError("--first-run makes the key: leave out --key, --certificate and --resign-only.")
        }
        // Clients refuse a downloaded document that was signed more than ten minutes ago.
        try every?.validate("--every", TimeSpan(seconds: 1)...TimeSpan(seconds: 600))
    }

    func run() async throws {
        if held.builds.isEmpty, !resignsOnly { log.warn("app versions unknown: \(ShippedPinOptions.remedy)") }
        if isFirstRun { try makeKey() }
        let gate = StopGate()
        guard let every else {
            let report: TrustServerPublication.Report
            do throws(CommandFailure) {
                report = try await round(try await inputs(), gate)
            } catch {
                log.tell(error)
                throw NegativeAnswer(status: error.status)
            }
            log.tell(report, of: files)
            if let status = report.status { throw NegativeAnswer(status: status) }
            return
        }
        var inputs = try await inputs()
        // Even if the log's reader is gone, clients must still get their document.
        Output.endsWithReader.withLock { $0 = false }
        signal(SIGPIPE, SIG_IGN)
        let sources = gate.endOnSignals()
        defer { withExtendedLifetime(sources) {} }
        let clock = ContinuousClock()
        let start = clock.now
        while !Task.isCancelled {
            do throws(CommandFailure) {
                log.tell(try await round(inputs, gate), of: files)
            } catch {
                log.tell(error)
            }
            try await clock.sleep(until: start + RepeatingSchedule(interval: every).next(after: clock.now - start))
            inputs = try await self.inputs(before: inputs)
        }
    }

    private func makeKey() throws {
        do throws(CommandFailure) {
            // If the list cannot be read, it may be in another folder, and the key would be there too.
            _ = try files.readDomains()
            log.tell(try files.makeKey(kind ?? .rsa4096, at: SystemWallClock().now), in: files)
        } catch {
            log.tell(error)
            throw NegativeAnswer(status: error.status)
        }
    }

    private var log: TrustServerLog { TrustServerLog(isJSON: json, isQuiet: quiet, clock: SystemWallClock()) }

    private func round(
        _ inputs: TrustServerInputs, _ gate: StopGate
    ) async throws(CommandFailure) -> TrustServerPublication.Report {
        let publication = publication(inputs, gate)
        return resignsOnly ? try await publication.resign() : try await publication.run()
    }

    private var files: TrustServerFiles {
        TrustServerFiles(customer: customer, data: "", output: folder, domains: domains, key: key)
    }

    private func inputs(before: TrustServerInputs? = nil) async throws(CommandFailure) -> TrustServerInputs {
        let (files, certificate, backup, include, connection) = (files, certificate, backup, include, connection)
        let canBeFirst = key == nil && certificate == nil && !resignsOnly
        let now = SystemWallClock().now
        let inputs = try await TrustServerInputs(
            before: before,
            key: { () throws(CommandFailure) in try files.readKey(certificateFile: certificate, canBeFirst: canBeFirst)
            },
            hosts: { () throws(CommandFailure) in try files.readDomains() },
            backups: { () throws(CommandFailure) in try Self.backups(backup, include) },
            clients: { () throws(CommandFailure) in try clients(at: now) },
            probe: { () async throws(CommandFailure) in try await connection.probe() })
        for complaint in inputs.complaints { log.warn(complaint) }
        return inputs
    }

    private static func backups(
        _ paths: [String], _ included: PublishingRound.Included
    ) throws(CommandFailure) -> TrustServerBackups {
        let files = try paths.map { path throws(CommandFailure) in
            (name: path, data: try InputFile.content(of: path, maximumBytes: ChainFile.maximumBytes))
        }
        return try CommandFailure.rethrowing { () throws(PublishingError) in
            try TrustServerBackups(files: files, included: included)
        }
    }

    private func clients(at now: Date) throws(CommandFailure) -> RoundClients {
        let shipped = try held.builds.documents(at: now).map(\.document)
        var replaced: [PublicationOutlook.Document] = []
        if !held.earlier.isEmpty {
            let certificate = try KeyFile.content(of: certificate ?? files.publishedCertificate.path)
            replaced = try held.earlier.documents(signedBy: certificate, customer: customer, at: now)
        }
        return RoundClients(
            shipped: shipped, replaced: replaced, appVersions: held.builds.appVersions(carrying: shipped),
            platforms: try platforms.named(), staleness: .seconds(held.staleness.seconds))
    }

    private func publication(_ inputs: TrustServerInputs, _ gate: StopGate) -> TrustServerPublication {
        let ask: @Sendable (DialedHost) async -> PublishingRound.Answer
        switch inputs.probe {
        case .success(var probe):
            probe.connectionsPerAddress = tries
            ask = { [probe] host in
                PublishingRound.Answer(await probe.ask(host))
            }
        case .failure(let error): ask = { _ in .unreachable(error.message) }
        }
        let rules = PublishingRound.Rules(
            included: include, keep: .seconds(keep.seconds), overlap: .seconds(overlap.seconds),
            maximumChanges: maximumChanges)
        let log = log
        return TrustServerPublication(
            customer: customer, key: inputs.key, files: files, hosts: inputs.hosts, backups: inputs.backups,
            clients: inputs.clients, rules: rules, hostsAtOnce: hostsAtOnce, clock: SystemWallClock(), gate: gate,
            complain: { log.warn($0) },
            ask: ask)
    }
}

extension PublishingRound.Included: ExpressibleByArgument {}
extension TrustServerKey.Kind: ExpressibleByArgument {}
