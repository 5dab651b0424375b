import ArgumentParser
import Foundation
import Holdfast

/// `holdfastctl check`
struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Connect to servers and say whether they are trusted, and why.",
        usage: "holdfastctl check [<options>] <host[:port]> ...",
        discussion: """
            Prints the chain that the server presents, how each rule came out for each certificate with the section \
            it comes from, the verdict, and pins that are ready to paste. Nothing is sent to the server but the \
            handshake, and with --starttls or --proxy the request for it. A host is also taken from a URL. Of \
            several hosts, eight at a time, it prints a table instead: verdict, days until the first certificate of \
            the path ends, and reason; errors are on standard error.

            With --watch the command fails, and says which, if a certificate ends sooner than so many days: one of \
            the valid path with its anchor, or one that was presented and has a pin that was asked for.

            Lists of --crl have to be current and signed by the issuer that they are of: where a list speaks of an \
            issuer's certificates and none counts, they are refused. Nothing is downloaded.

            A server that asks for a certificate gets that of --client-cert. With TLS 1.3 it decides about it only \
            after the handshake, so that its verdict is not part of the answer.

            EXAMPLES
              holdfastctl check www.example.com
              holdfastctl check www.example.com:8443 --watch 21
              holdfastctl check intranet.example --ca company-root.pem --crl company.crl
              holdfastctl check www.example.com --connect-to 192.0.2.7:8443
              holdfastctl check www.example.com --json | jq .failure.code
              holdfastctl check example.com api.example.com [2001:db8::1]:8443 --watch 21
              holdfastctl check intranet.example --client-cert me.pem --client-key key.pem
              holdfastctl check mail.example.com:587 --starttls smtp
              holdfastctl check db.example.com --starttls postgres --ca company-root.pem
              holdfastctl check www.example.com --proxy proxy.example:3128

            With --starttls the server is first asked for TLS in the words of its protocol. The command ends with 3 \
            where the server refuses, and where anything in plaintext follows its go-ahead.

            Exit codes: 0 trusted, 1 not trusted or expiring too soon, 2 wrong usage, 3 could not connect or find out. \
            Of several hosts: 0 all are trusted, 1 one or more are not, 3 none is known to be untrusted but of one or \
            more the command could not find out.

            With --json one object is printed, whatever happens after the arguments were read; of several hosts one \
            in a line each, in the order of the arguments. Its fields, absent where they do not apply: outcome \
            (trusted, untrusted, unknown), host, port, address, proxy, tls, time, chain, anchor, rules (rule, \
            reference, subject, position, kept, expected, found), configuredPins, matchedPins, suggestedPins (pin, \
            subject, inValidPath), expiring (position, subject, notAfter, daysLeft, certificatePin, inValidPath, \
            hasConfiguredPin), failure (code, expected, found, remedy, text), error (code, message). chain and anchor \
            have position, inValidPath, subject, issuer, notBefore, notAfter, daysLeft, key, signature, names, keyPin, \
            certificatePin, unreadable.
            """)

    @Argument(
        help: ArgumentHelp(
            "The hosts to dial, with a port if not the usual one; IPv6 in brackets.", valueName: "host[:port]"),
        transform: { text in CheckedArgument { try ServerAddress.hostWithOptionalPort(text) } })
    var hostArguments: [CheckedArgument<DialledHost>]

    private var hosts: [DialledHost] { hostArguments.compactMap(\.value) }

    @Option(
        help: ArgumentHelp(
            "Trust a server only with this pin (sha256/BASE64 or cert-sha256/HEX) in a valid path. Repeatable.",
            valueName: "pin"),
        transform: { try Pin($0) })
    var pin: [Pin] = []

    @Option(help: ArgumentHelp("Fail if a certificate ends in less than so many days.", valueName: "days"))
    var watch: Int?

    @Option(
        help: ArgumentHelp(
            "Refuse a certificate that its issuer's revocation list in this file (DER or PEM) names. Repeatable.",
            valueName: "file"),
        completion: .file(extensions: ["crl", "pem", "der"]))
    var crl: [String] = []

    @Flag(help: "Print JSON instead of text, one object for each host.")
    var json = false

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    /// So many handshakes are made side by side.
    private static let hostsAtOnce = 8

    func validate() throws {
        if let watch, !(1...36_500).contains(watch) {
            throw ValidationError("The days to watch must be between 1 and 36500, not \(watch).")
        }
        for host in hostArguments { try host.validate("HOST") }
        for host in hosts { _ = try policy(for: host) }
    }

    func run() async throws {
        let output = Output.standard
        let now = SystemWallClock().now
        let examinations = try hosts.map { host in
            let host = try connection.dialled(host)
            return Examination(
                policy: try policy(for: host), host: host, report: CheckReport(host: host, time: now, pins: pin),
                watch: watch.map(ExpiryWatch.init))
        }
        let probe: ServerProbe
        do throws(CommandFailure) {
            probe = try await ServerProbe(
                options: connection, revocation: try RevocationFile.revocation(from: crl))
        } catch {
            // It is true of every host alike, and said once.
            if json { try print(examinations.map { $0.report.failing(error) }, to: output) }
            throw error
        }
        let reports = await SideBySide.map(examinations, atMost: Self.hostsAtOnce) { await $0.run(probe) }
        if examinations.count == 1, let report = reports.first {
            if json || report.error == nil { try print(reports, to: output) }
            if let error = report.error { output.complain(error.message) }
        } else {
            try print(reports, to: output)
            for report in reports {
                if let error = report.error { output.complain("\(report.server): \(error.message)") }
            }
        }
        if let status = Self.status(of: reports) { throw NegativeAnswer(status: status) }
    }

    /// A negative answer outweighs one that could not be had; nil where all is well.
    static func status(of reports: [CheckReport]) -> CommandFailure.Status? {
        if reports.contains(where: { $0.outcome == .untrusted || $0.expiresSoon }) { return .negativeAnswer }
        return reports.contains { $0.outcome == .unknown } ? .couldNotFindOut : nil
    }

    private struct Examination: Sendable {
        let policy: any TrustPolicy
        let host: DialledHost
        let report: CheckReport
        let watch: ExpiryWatch?

        func run(_ probe: ServerProbe) async -> CheckReport {
            var report = report
            do throws(CommandFailure) {
                report.take(try await probe.ask(policy, about: host), validator: probe.validator, watch: watch)
                return report
            } catch {
                return report.failing(error)
            }
        }
    }

    private func print(_ reports: [CheckReport], to output: Output) throws {
        switch (json, reports.count) {
        case (true, 1): try output.json(reports[0])
        case (true, _): for report in reports { try output.jsonLine(report) }
        case (false, 1): reports[0].print(to: output)
        case (false, _): CheckTable(reports: reports).print(to: output)
        }
    }

    private func policy(for host: DialledHost) throws -> any TrustPolicy {
        let pattern = HostPattern(host)
        guard !pin.isEmpty else { return StandardPolicy(host: pattern) }
        do {
            return try PinnedPolicy(host: pattern, pins: PinSet(pins: pin))
        } catch {
            throw ValidationError("--pin: \(error)")
        }
    }
}
