import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
import HoldfastPublishing
import HoldfastSigning

/// `holdfastctl trust-server approve`
struct TrustServerApproveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve",
        abstract: "Approve the certificates of a host that are waiting to be published.",
        usage: """
            holdfastctl trust-server approve <host[:port]> ... --customer <name> \\
              --domains <file>
            """,
        discussion: """
            With publish --hold-changes a new certificate of a known host waits. Compare its fingerprint, which publish \
            names, with that of the certificate that was deployed, and approve it: the next round that sees it \
            publishes it. Nothing else that the host may show by then is approved.

            EXAMPLES
              holdfastctl trust-server approve www.example.com --customer acme \\
                --domains data/acme.domains

            Exit codes: 0 approved, 1 nothing waits for a host, 2 wrong usage, 3 a file could not be read or written.

            Prints the host and the SHA-256 of each certificate that is approved. With --json one object is printed: \
            approved (host, fingerprints, since).
            """)

    @Argument(
        help: ArgumentHelp("The hosts, with a port if not 443.", valueName: "host[:port]"),
        transform: { text in CheckedArgument { try ServerAddress.host(text) } })
    var hosts: [CheckedArgument<DialedHost>]

    @Option(help: ArgumentHelp("The customer that owns the hosts; the files are named after it.", valueName: "name"))
    var customer: String

    @Option(
        help: ArgumentHelp("The list of the hosts; publish keeps its memory beside it.", valueName: "file"),
        completion: .file())
    var domains: String

    @OptionGroup
    var printing: PrintOptions

    private struct Report: Encodable {
        struct Change: Encodable {
            let host: String
            let fingerprints: [String]
            let since: String
        }

        let approved: [Change]
    }

    func validate() throws {
        for host in hosts { try host.validate("HOST") }
        do throws(SigningError) {
            try TrustServerKey.requireCustomer(customer)
        } catch {
            throw ValidationError("--customer: \(error)")
        }
    }

    func run() async throws {
        let files = TrustServerFiles(customer: customer, data: "", output: "", domains: domains)
        guard FileManager.default.fileExists(atPath: files.memory.path) else {
            throw CommandFailure(.unreadableFile, "\(files.memory.path) is not there: publish makes it")
        }
        let lock = try ChangeLock.on(files.memory, for: files.memory.path)
        defer { withExtendedLifetime(lock) {} }
        var hosts: [DialedHost] = []
        for host in self.hosts { hosts.append(try host.get()) }
        let approved: [HeldChange]
        do throws(PublishingError) {
            approved = try await PublishingMemory.approve(hosts, of: customer, in: files)
        } catch {
            throw CommandFailure(error)
        }
        let report = Report(
            approved: approved.map {
                .init(
                    host: ServerAddress.text($0.hostname, port: $0.port), fingerprints: $0.fingerprints,
                    since: $0.since.formatted(.iso8601))
            })
        try printing.print(report) { output in
            for change in report.approved {
                for fingerprint in change.fingerprints { output.line("\(change.host)  cert-sha256/\(fingerprint)") }
            }
        }
    }
}
