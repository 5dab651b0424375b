public import ArgumentParser
import Foundation
import Holdfast
public import HoldfastSigning

/// `holdfastctl trust-server publish`
struct TrustServerPublishCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Ask every host, sign what was validated, and replace the published document.",
        discussion: """
            Connects to each host of the list, many at a time, and validates its chain before anything of it is \
            signed. What is signed is read again as a client reads it, and then takes the place of \
            CUSTOMER.json.signed in one step.

            A host that fails keeps the entry of when it was last validated, for as long as --keep says; those \
            entries are in CUSTOMER.hosts.json beside the list. When it has none, nothing is published unless \
            --allow-fewer is given, since clients trust no host that is not in the document.

            With --every it goes on until SIGTERM or SIGINT, after which it finishes the write at hand and ends with \
            0. The list, the backups, the key and the authorities are read again each time; where that fails, what \
            was read before goes on to count.

            A link in the place of a published file is followed: let nobody else write to the output folder.

            EXAMPLES
              holdfastctl trust-server publish --customer acme --domains data/acme.domains --output output
              holdfastctl trust-server publish --customer acme --domains data/acme.domains --output output \
            --include all --backup next.pub --every 5m

            Exit codes: 0 every host was validated and is published; 1 a host is not trusted, or nothing was signed; \
            2 wrong usage; 3 a host could not be asked, or a file not be read or written.
            """)

    @Option(help: ArgumentHelp("Whose hosts they are; the name of the files.", valueName: "name"))
    var customer: String

    @Option(
        help: ArgumentHelp("The hosts, one HOST:PORT a line; # begins a comment.", valueName: "file"),
        completion: .file())
    var domains: String

    @Option(
        help: ArgumentHelp("The folder of CUSTOMER.json.signed.", valueName: "folder"), completion: .directory)
    var output: String

    @Option(help: ArgumentHelp("Do it again and again, for example 5m.", valueName: "time"))
    var every: TimeSpan?

    @Option(
        help: ArgumentHelp(
            "The certificates of each validated path that are published: leaf, issuers or all. Whoever the same "
                + "authority issues a certificate for the host is trusted with issuers and all.", valueName: "which"))
    var include = PublishingRound.Included.leaf

    @Option(
        help: ArgumentHelp(
            "Publish the certificates and keys of this file (PEM) for every host as well. Repeatable.",
            valueName: "file"),
        completion: .file())
    var backup: [String] = []

    @Option(help: ArgumentHelp("How long a host that fails keeps its last good entry.", valueName: "time"))
    var keep = TimeSpan(seconds: 7 * 86_400)

    @Flag(
        name: .customLong("allow-fewer"), help: "Publish also without the hosts that failed and have no entry to keep.")
    var allowsFewer = false

    @Option(name: .customLong("at-once"), help: ArgumentHelp("Ask so many hosts at a time.", valueName: "number"))
    var hostsAtOnce = 64

    @Option(
        help: ArgumentHelp(
            "The private key; CUSTOMER.key beside the list if it is not given.", valueName: "file"),
        completion: .file(extensions: ["key", "pem"]))
    var key: String?

    @Option(
        help: ArgumentHelp(
            "The signer's certificate; CUSTOMER.crt in the output folder if it is not given.", valueName: "file"),
        completion: .file(extensions: ["crt", "pem", "cer"]))
    var certificate: String?

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
        if let every, every.seconds < 1 { throw ValidationError("--every must be a second or more.") }
    }

    func run() async throws {
        let gate = StopGate()
        var publication = try await publication(gate)
        guard let every else {
            let report = try await publication.run()
            log(report, files: publication.files)
            if let status = report.status { throw NegativeAnswer(status: status) }
            return
        }
        let sources = gate.endOnSignals()
        defer { withExtendedLifetime(sources) {} }
        let clock = ContinuousClock()
        let start = clock.now
        while !Task.isCancelled {
            do throws(CommandFailure) {
                log(try await publication.run(), files: publication.files)
            } catch {
                Output.standard.complain(error.message)
            }
            try await clock.sleep(until: start + RepeatingSchedule(interval: every).next(after: clock.now - start))
            do throws(CommandFailure) {
                publication = try await self.publication(gate)
            } catch {
                Output.standard.complain("\(error.message); what was read before goes on to count")
            }
        }
    }

    private func publication(_ gate: StopGate) async throws(CommandFailure) -> TrustServerPublication {
        let files = TrustServerFiles(customer: customer, data: "", output: output, domains: domains, key: key)
        let key = try files.readKey(certificateFile: certificate)
        let rules = PublishingRound.Rules(
            included: include, keep: keep.seconds, allowsFewerHosts: allowsFewer,
            backups: try TrustServerBackupFile.read(backup))
        let probe = try await ServerProbe(options: connection)
        let limit = Duration.seconds(connection.timeout)
        let seconds = connection.timeout
        return TrustServerPublication(
            customer: customer, key: key, files: files, rules: rules, hostsAtOnce: hostsAtOnce,
            clock: SystemWallClock(), gate: gate
        ) { host in
            await TimeLimit.within(limit, otherwise: .unreachable("no answer within \(seconds) s")) {
                await Self.ask(host, probe)
            }
        }
    }

    private static func ask(_ host: DialledHost, _ probe: ServerProbe) async -> PublishingRound.Answer {
        do throws(CommandFailure) {
            let decision = try await probe.ask(StandardPolicy(host: HostPattern(host)), about: host).decision
            if decision.isTrusted, let path = decision.path { return .validated(path) }
            guard let failure = decision.failure else { return .untrusted("no validated path") }
            return .untrusted("\(failure.code.rawValue): expected \(failure.expected), found \(failure.found)")
        } catch {
            return .unreachable(error.message)
        }
    }

    private func log(_ report: TrustServerPublication.Report, files: TrustServerFiles) {
        let output = Output.standard
        for failure in report.round.failures {
            let kept =
                failure.keptSince.map {
                    "keeps its entry of \(Date(timeIntervalSince1970: Double($0)).formatted(.iso8601))"
                } ?? "has no entry to keep"
            let host = ServerAddress.text(failure.host.name, port: failure.host.port ?? ServerAddress.defaultPort)
            output.complain("\(host) \(kept): \(failure.reason)")
        }
        let failed = report.round.failures.count
        if let count = report.published {
            let rest = failed == 0 ? "" : ", \(failed) of the list failed"
            output.line("published \(count) \(count == 1 ? "host" : "hosts") in \(files.document.path)\(rest)")
        } else {
            output.complain("nothing is published: \(files.document.path) is as it was")
        }
    }
}

extension PublishingRound.Included: ExpressibleByArgument {}
