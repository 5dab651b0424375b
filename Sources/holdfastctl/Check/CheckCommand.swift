import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
import HoldfastProbe
import HoldfastPublishing

/// `holdfastctl check`
struct CheckCommand: AsyncParsableCommand, ChoosesClients {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Connect to servers and say whether they are trusted, and why.",
        usage: "holdfastctl check [<options>] <host[:port]> ...",
        discussion: """
            Prints the verdict, the chain that the server presents, the result of each rule for each certificate with \
            the section that the rule comes from, and pins that are ready to paste. The command sends the server \
            nothing but the handshake. A host may also be given as a URL. For several hosts, eight at a time, it prints a table instead: verdict, days until the first \
            certificate of the path ends, and reason. Errors go to standard error.

            With --watch the command exits with 4 if a certificate ends within that time, and names it: a certificate of \
            the valid path, including its anchor, or one that was presented and has a configured pin.

            Lists of --crl must be current and signed by their issuer: if there are lists for an issuer's certificates \
            but none of them counts, the certificates are refused. With --revocation the command fetches the lists \
            that the certificates of the path name, over http or https and without the proxy, and the result says \
            where it looked. A certificate whose status no list gives is then refused, even if it names no list.

            With --log-list a certificate needs timestamps of logs in the list: two, or three if it is valid for more \
            than 180 days, of two operators. The result names each timestamp and says why it does not count. A list \
            that is older than 70 days is not enforced, as in an app, and a remark says so. Get the list from \
            https://www.gstatic.com/ct/log_list/v3/log_list.json and verify its signature yourself.

            Every address of the name is asked, IPv4 and IPv6, and each for an ECDSA key and for an RSA key, because \
            some clients see one certificate and some another: each certificate has its own result, which names the \
            addresses that show it. An address that could not be asked makes the result unknown, also if the reason is \
            that this machine has no IPv6: nobody knows what clients see there. --address, -4 and -6 ask fewer, and say \
            that the others do not matter. A server without the other kind of key says so with an alert. One that merely \
            closes that connection, as Windows and some load balancers do, could as well have a key that nobody saw, and \
            the result is unknown until --one-key-kind says that it has none. If a proxy chooses the address, a remark says so.

            With published pins the command says whether clients that have them get in: with those of a pin file, which \
            decides as in the app (--pins), of a signed list (--list), of what a server sends to clients with challenges \
            (--challenged-list), of a repository, or of a trust server's document. \
            If no host is given, all hosts of the document that can be dialed are checked: for **.DOMAIN the domain \
            itself, for *.DOMAIN none, and retired hosts are left out. --watch then also covers whatever ends the \
            access of a client. Several documents are versions that clients hold at the same time, and \
            all of them must let a host in.

            Who gets in is judged by the outlook of the publication: the clients' own code, for each kind of client, \
            with what it may hold (--replaced, --staleness) and with the anchors of each --platform. Each pin file \
            counts as what a version of the app carries. For a list, a trust server's document or a repository, say \
            which versions of the app are in the field and what they carry (--shipped), or that none carries pins \
            (--no-shipped-pins): until then the answer is unknown. A trust server's document must have been signed \
            within ten minutes, as its clients require of a download; while it was, its rounds are taken to go on.

            Pins of an authority's keys must let in whatever the authority issues next, from another of its intermediates, \
            through a certificate that another authority signed for it, or with one certificate more in the chain. Give \
            its certificates with --issuers, current and announced: the command then judges every chain that may follow \
            from them, on each --platform, names the pins that are missing, and exits with 4 if clients would refuse \
            one. Without --issuers it only says whether an intermediate that it does not know would be refused.

            With --repository the pins are those that an app gets that was built with the root of --app-root: a client \
            updates from that root to the newest pins, from bundle.json or, if there is none, file by file.

            With --chain the command checks a chain in a file, for --host, before any server has it. The time is --at, \
            or now.

            A server that asks for a certificate gets the one of --client-cert. With TLS 1.3 the server decides about \
            it only after the handshake, so its verdict is not part of the result.

            EXAMPLES
              holdfastctl check www.example.com
              holdfastctl check www.example.com:8443 --watch 21d
              holdfastctl check intranet.example --ca company-root.pem --crl company.crl
              holdfastctl check www.example.com --revocation
              holdfastctl check www.example.com --log-list log_list.json
              holdfastctl check www.example.com --connect-to 192.0.2.7:8443
              holdfastctl check www.example.com --json | jq .failure.code
              holdfastctl check example.com api.example.com [2001:db8::1]:8443 --watch 21d
              holdfastctl check www.example.com --address 192.0.2.7 --quiet --watch 21d
              holdfastctl check --pins bank.pins.json --quiet --watch 21d
              holdfastctl check --pins app-1.pins.json --pins app-2.pins.json --brief
              holdfastctl check --pins https://www.example.com/bank.pins.json --brief
              holdfastctl check --list pins.json --public-key signer.pub --brief
              holdfastctl check --challenged-list https://pins.example.com/pins \\
                --public-key signer.pub --no-shipped-pins
              holdfastctl check --trust-server acme.json.signed --signer acme.crt
              holdfastctl check --repository https://pins.example.com --app-root root.json
              holdfastctl check --chain fullchain.pem --host www.example.com
              holdfastctl check intranet.example --client-cert me.pem --client-key key.pem
              holdfastctl check www.example.com --proxy proxy.example:3128

            Exit codes: 0 trusted, 1 not trusted or a client would be locked out, 2 wrong usage, 3 could not connect or \
            find out, 4 trusted now, but something ends within --watch, clients get in only by grace, or the authority may issue \
            what they refuse. Of several, \
            1 outweighs 3, and 3 outweighs 4.

            If failures of a host are reported to a host that the same pins cover, the command warns of it: wrong pins would \
            stop the reports as well, and the library refuses the address. The exit code stays as it is.

            With --format prometheus, metrics are printed for each host: holdfast_status, which is the exit code, \
            holdfast_end_timestamp_seconds of certificates and pins, and holdfast_covered_reports.

            With --json one object per line is printed for each host, in the order of the arguments, or for each of \
            its certificates, whatever happens after the arguments were read. Its fields, absent where they do not apply: \
            outcome (trusted, untrusted, unknown), host, port, address, addresses, proxy, tls, asksForClientCertificate, time, \
            chain, anchor, rules (rule, \
            reference, subject, position, kept, expected, found), configuredPins, matchedPins, suggestedPins (pin, \
            subject, inValidPath), expiring (position, subject, notAfter, daysLeft, certificatePin, inValidPath, \
            hasConfiguredPin), revocationLists (url, isUsable, revokedCertificates, thisUpdate, nextUpdate, error), published (verdict, isLockedOut, text, until, daysLeft, cause, expiresSoon), publishedVersions, renewal (getsIn, until, cause), premises, issuerPins (isKnown, isComplete, isLasting, chains, refused, untrusted, missing, missingToLast: \
            pin, subject), coveredReports, remarks, failure (code, expected, found, remedy, text), error (code, message). chain and anchor \
            have position, inValidPath, subject, issuer, serial, isNotYetValid, notBefore, notAfter, daysLeft, key, signature, names, keyPin, \
            certificatePin, unreadable.
            """)

    @Argument(
        help: ArgumentHelp(
            "The hosts to dial, with the port if it is not the usual one; IPv6 in brackets.", valueName: "host[:port]"),
        transform: { text in CheckedArgument { try ServerAddress.hostWithOptionalPort(text) } })
    var hostArguments: [CheckedArgument<DialedHost>] = []

    private var hosts: [DialedHost] { hostArguments.compactMap(\.value) }

    @Option(
        help: ArgumentHelp(
            "Trust a server only with this pin (sha256/BASE64 or cert-sha256/HEX) in a valid path. Repeatable.",
            valueName: "pin"),
        transform: { try NamedPin($0) })
    var pin: [NamedPin] = []

    private var required: PinRequirement { PinRequirement(pin.map(\.pin)) }

    @Option(
        help: ArgumentHelp(
            "Exit with 4 if anything ends in less than this time. With published pins, certificates do not count if the key "
                + "of the server's own is pinned.", valueName: "span"),
        transform: TimeSpan.read)
    var watch: TimeSpan?

    @OptionGroup(title: "Revocation, policies and transparency")
    var certificateStatus: StatusOptions

    @OptionGroup(title: "Published pins")
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

    @OptionGroup(title: "Clients")
    var authority: IssuerOptions

    @OptionGroup(title: "A chain in a file")
    var file: ChainFileOptions

    @OptionGroup
    var answer: AnswerOptions

    @Flag(help: "Print one line for each host: verdict, days left and reason.")
    var brief = false

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    private var json: Bool { answer.json }

    /// Number of simultaneous handshakes.
    private static let hostsAtOnce = 8

    func validate() throws {
        try watch?.validate("--watch", TimeSpan.watched)
        guard !brief || answer.isText else {
            throw ValidationError("Give one of --json, --brief, --quiet and --format.")
        }
        for host in hostArguments { try host.validate("HOST") }
        guard pin.isEmpty || published.isEmpty else {
            throw ValidationError("Give --pin or published pins, not both.")
        }
        guard file.isEmpty else {
            guard hostArguments.isEmpty, !connection.concernsConnections else {
                throw ValidationError("--chain is about a file: it excludes hosts and connection options.")
            }
            return
        }
        guard clients.isEmpty && renewals.renewedEvery == nil && authority.issuers.isEmpty || !published.isEmpty else {
            throw ValidationError("The options about clients go with \(PublishedPinOptions.sources).")
        }
        guard !hostArguments.isEmpty || !published.isEmpty else {
            throw ValidationError("Missing expected argument '<host[:port]> ...'")
        }
        for host in hosts {
            do throws(PublishingError) {
                _ = try required.policy(of: host)
            } catch {
                throw ValidationError("--pin: \(error)")
            }
        }
    }

    func run() async throws {
        let output = Output.standard
        let now = SystemWallClock().now
        // Renewing a certificate with a pinned key changes nothing for published pins.
        let skips = !self.published.isEmpty
        let watch = watch.map { ExpiryWatch(span: .seconds($0.seconds), skippingPinnedKeys: skips) }
        guard file.isEmpty else {
            let time = file.time ?? now
            let (reports, outlook) = try await answer.answering("check", about: subjects) {
                let pins = try await readPins(at: time)
                let anchors = try await connection.anchors()
                let checking = try certificateStatus.checking(
                    trusting: anchors, watch: watch, within: .seconds(connection.timeout))
                var reports = [
                    try await file.report(checking, at: time) { try policy(published: pins, for: $0) }
                ]
                let outlook = try self.outlook(of: pins, anchors, watch, at: time)
                try outlook?.judge(&reports, at: time)
                pins?.noteCoveredReports(in: &reports)
                return (reports, outlook)
            }
            try finish(reports, of: outlook, at: now, to: output)
            return
        }
        let published = try await answer.answering("check", about: subjects) { try await readPins(at: now) }
        let hosts = self.hosts.isEmpty ? published?.hosts ?? [] : self.hosts
        if self.hosts.isEmpty, let names = published?.namesThatCannotBeDialed, !names.isEmpty, !answer.quiet {
            output.complain(
                "not checked, because they name no host that can be dialed: "
                    + names.map { SafeText.escapedLine($0) }.joined(separator: ", "))
        }
        guard !hosts.isEmpty else {
            // Without a host to probe, nothing is known.
            return try await answer.answering("check", about: subjects) {
                throw CommandFailure(
                    .nothingToAsk, "the published pins are for no host that can be dialed; name the hosts to check")
            }
        }
        let examinations = try hosts.map { host in
            let host = try connection.dialed(host)
            let pins = published?.pins(of: host, at: now) ?? required.pins
            return HostExamination(
                policy: try policy(published: published, for: host), host: host,
                report: CheckReport(host: host, time: now, pins: pins))
        }
        let (probe, checking): (HostProbe, ChainChecking)
        let outlook: PublishedOutlook?
        do throws(CommandFailure) {
            let anchors = try await connection.anchors()
            outlook = try self.outlook(of: published, anchors, watch, at: now)
            checking = try certificateStatus.checking(
                trusting: anchors, watch: watch, within: .seconds(connection.timeout))
            probe = try await connection.probe(checking)
        } catch {
            // The error concerns all hosts alike, so it is reported once.
            if json || answer.format != nil {
                try print(examinations.map { $0.report.failing(error) }, at: now, to: output)
            }
            throw error
        }
        let found = await SideBySide.map(examinations, atMost: Self.hostsAtOnce) { examination in
            await examination.run(probe, checking)
        }
        var reports = found.flatMap(\.self)
        // Probing takes time, and anything that ended meanwhile must be reported.
        try outlook?.judge(&reports, at: SystemWallClock().now)
        published?.noteCoveredReports(in: &reports)
        try finish(reports, of: outlook, at: now, to: output)
    }

    private func finish(
        _ reports: [CheckReport], of outlook: PublishedOutlook?, at now: Date, to output: Output
    ) throws {
        let status = Self.status(of: reports)
        if status == .couldNotFindOut, outlook?.appVersions == .unknown { output.remark(ShippedPinOptions.remedy) }
        if reports.count > 1 || brief, !json, !answer.quiet, answer.format == nil {
            for report in reports {
                if let notAsked = report.notAsked { output.complain("\(report.server): \(notAsked)") }
            }
        }
        // A single report prints them with the answer.
        if answer.format == nil, !json, !answer.quiet || status != nil, reports.count > 1 || brief || answer.quiet {
            var said: Set<String> = []
            for text in reports.flatMap({ $0.coveredReports ?? [] }) where said.insert(text).inserted {
                output.complain("warning: \(SafeText.escapedLine(text))")
            }
        }
        if reports.count == 1, let report = reports.first {
            if !answer.isText || brief || report.error == nil { try print(reports, at: now, to: output) }
            if let error = report.error { output.complain(error.message) }
        } else {
            try print(reports, at: now, to: output)
            for report in reports {
                if let error = report.error { output.complain("\(report.server): \(error.message)") }
            }
        }
        if let status { throw NegativeAnswer(status: status) }
    }

    /// The exit code. A negative answer outweighs an unknown one, and both outweigh a near end; nil if all is well.
    static func status(of reports: [CheckReport]) -> CommandFailure.Status? {
        if reports.contains(where: { $0.outcome == .untrusted }) { return .negativeAnswer }
        if reports.contains(where: { $0.outcome == .unknown }) { return .couldNotFindOut }
        return reports.contains(where: \.expiresSoon) ? .endsSoon : nil
    }

    private func print(_ reports: [CheckReport], at now: Date, to output: Output) throws {
        switch reports.count {
        case _ where json: for report in reports { try output.json(report) }
        case _ where answer.format != nil:
            try answer.write(PrometheusText(verb: "check", now: now, subjects: reports.map(\.metrics)))
        case _ where answer.quiet:
            CheckTable(reports: reports.filter { Self.status(of: [$0]) != nil }).printBriefly(to: output)
        case _ where brief: CheckTable(reports: reports).printBriefly(to: output)
        case 1: reports[0].print(to: output)
        default: CheckTable(reports: reports).print(to: output)
        }
    }

    /// The subjects of metrics if nothing can be read: the named hosts, or else the documents.
    private var subjects: [String] {
        if let host = file.hostArgument?.value { return ["\(host)"] }
        let named = hosts.compactMap { host in (try? connection.dialed(host)).map { "\($0)" } }
        return named.isEmpty ? published.names.compactMap { (try? InputDocument($0))?.name } : named
    }

    private func readPins(at time: Date) async throws -> PublishedPinVersions? {
        guard !published.isEmpty else { return nil }
        let versions = try await published.read(at: time, connection: connection) {
            () async throws(CommandFailure) in try await connection.anchors()
        }
        return PublishedPinVersions(
            versions + (try clients.held.builds.documents(builtWith: published.onlyRoot(), at: time)))
    }

    /// The outlook of clients with the published pins; nil if no pins are named.
    private func outlook(
        of pins: PublishedPinVersions?, _ anchors: TrustAnchors, _ watch: ExpiryWatch?, at time: Date
    ) throws(CommandFailure) -> PublishedOutlook? {
        guard let pins else { return nil }
        var documents = pins.versions.map(\.document)
        if let every = renewals.renewedEvery {
            for index in documents.indices {
                documents[index].renew(
                    every: .seconds(every.seconds), lasting: .seconds(renewals.lifetime.seconds), at: time)
            }
        }
        let versions = clients.held.builds.appVersions(carrying: documents)
        return PublishedOutlook(
            documents: documents
                + (try clients.held.earlier.documents { data, name throws(CommandFailure) in
                    try published.earlier(data, named: name, at: time)
                }),
            platforms: try clients.platforms.platforms(
                anchors, named: connection.ca ?? "this machine's anchors",
                lists: try certificateStatus.lists()),
            appVersions: versions, staleness: clients.held.staleness(of: documents, at: time), watch: watch,
            authority: try authority.authority())
    }

    /// The policy that clients have, or one with the pins that were given.
    private func policy(published: PublishedPinVersions?, for host: DialedHost) throws -> any TrustPolicy {
        guard let published else { return try required.policy(of: host) }
        return try published.policy(of: host)
    }
}
