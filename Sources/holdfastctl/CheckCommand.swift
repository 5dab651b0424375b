import ArgumentParser
import Foundation
import Holdfast

/// `holdfastctl check`
struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Connect to a server and say whether it is trusted, and why.",
        discussion: """
            Prints the chain that the server presents, how each rule came out for each certificate with the section \
            it comes from, the verdict, and pins that are ready to paste. Nothing is sent to the server but the \
            handshake. A host is also taken from a URL.

            EXAMPLES
              holdfastctl check www.example.com
              holdfastctl check www.example.com:8443 --pin sha256/AAAA…
              holdfastctl check intranet.example --ca company-root.pem
              holdfastctl check www.example.com --connect-to 192.0.2.7:8443
              holdfastctl check www.example.com --json | jq .failure.code

            Exit codes: 0 trusted, 1 not trusted, 2 wrong usage, 3 could not connect or find out.

            With --json one object is printed, whatever happens after the arguments were read. Its fields, absent \
            where they do not apply: outcome (trusted, untrusted, unknown), host, port, address, tls, time, chain, \
            anchor, rules (rule, reference, subject, position, kept, expected, found), configuredPins, matchedPins, \
            suggestedPins (pin, subject, inValidPath), failure (code, expected, found, remedy, text), error (code, \
            message). chain and anchor have position, inValidPath, subject, issuer, notBefore, notAfter, daysLeft, \
            key, signature, names, keyPin, certificatePin, unreadable.
            """)

    @Argument(
        help: ArgumentHelp("The host to dial, with a port if not 443; IPv6 in brackets.", valueName: "host[:port]"),
        transform: ServerAddress.host)
    var host: DialledHost

    @Option(
        help: ArgumentHelp(
            "Trust the server only with this pin (sha256/BASE64 or cert-sha256/HEX) in a valid path. Repeatable.",
            valueName: "pin"),
        transform: { try Pin($0) })
    var pin: [Pin] = []

    @Flag(help: "Print one JSON object instead of text.")
    var json = false

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    func validate() throws {
        _ = try policy()
    }

    func run() async throws {
        let output = Output.standard
        let clock = SystemWallClock()
        let policy = try policy()
        var report = CheckReport(host: host, time: clock.now, pins: pin)
        do throws(CommandFailure) {
            let validator = PathValidator(anchors: try await connection.anchors())
            let probe = ServerProbe(host: host, options: connection, validator: validator)
            let answer = try await probe.ask(policy)
            report.take(answer, validator: validator)
        } catch {
            report.error = CheckReport.Failing(code: error.code.rawValue, message: error.message)
            if json { try output.json(report) }
            throw error
        }
        if json { try output.json(report) } else { report.print(to: output) }
        guard report.outcome == .trusted else { throw NegativeAnswer() }
    }

    private func policy() throws -> any TrustPolicy {
        let pattern = HostPattern(host)
        guard !pin.isEmpty else { return StandardPolicy(host: pattern) }
        do {
            return try PinnedPolicy(host: pattern, pins: PinSet(pins: pin))
        } catch {
            throw ValidationError("--pin: \(error)")
        }
    }
}
