public import ArgumentParser
import Foundation
import Holdfast
public import HoldfastPublishing

extension PinFileEdit.Role: ExpressibleByArgument {}
extension PinFileEdit.State: ExpressibleByArgument {}

/// `holdfastctl pins add`
struct PinsAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add pins to a host of a pin file.",
        usage: "holdfastctl pins add <pin file> <host> <pin | file> ... [<options>]",
        discussion: """
            The key of a certificate is added as active, a key that is in no certificate (a private key, a public key or a \
            certificate request) as a backup. A pin alone needs --state. A host that the file does not have gets an entry \
            of its own: from then on, the pins of a pattern that covered it no longer count for it.

            What is added as the server's own must be that: a certificate that is no authority's, names the host and has not \
            expired, and whose chain validates if --ca names the authorities; a key that clients accept (P-256, P-384, P-521, \
            Ed25519, RSA of 2048 bits or more); and no placeholder.

            \(PinFileEditing.asking)

            EXAMPLES
              holdfastctl pins add bank.pins.json api.example.com backup.csr
              holdfastctl pins add bank.pins.json api.example.com --state backup \\
                sha256/x4QzPSC810K5/cMjb05Qm4k3Bw5zBn4lTdO/nEW/Td4=
              holdfastctl pins add bank.pins.json new.example.com chain.pem backup.csr \\
                --ports 8443

            \(PinFileEditing.exitCodes)
            """)

    @OptionGroup
    var editing: PinFileEditing

    @OptionGroup
    var subject: PinFileSubject

    @Option(help: "The certificate that has the key: leaf, the server's own, or issuer, any above it.")
    var role = PinFileEdit.Role.leaf

    @Option(help: "What the key is: active, backup, retiring or candidate.")
    var state: PinFileEdit.State?

    @Option(
        name: .customLong("not-after"),
        help: ArgumentHelp(
            "The last second for which the pin counts: Unix seconds, or a date in UTC.", valueName: "time"),
        transform: TimeArgument.seconds)
    var notAfter: Int64?

    @Option(
        help: ArgumentHelp("The ports of a new entry, such as 443,8443; without it any.", valueName: "ports"),
        transform: PortList.init)
    var ports: PortList?

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    func validate() throws {
        guard !subject.sources.isEmpty else {
            throw ValidationError("Name a pin, or a file with a certificate, a key or a certificate request.")
        }
        let isPlain = subject.sources.contains { $0.hasPrefix("sha256/") }
        guard state != nil || !isPlain else {
            throw ValidationError("Say with --state what the key of a pin is: active, backup, retiring or candidate.")
        }
    }

    func run() async throws {
        let host = try subject.host.get()
        let pins = try subject.pins(includingIssuers: role == .issuer)
        let now = SystemWallClock().now
        // Without --ca it is unknown which authorities clients of the file trust.
        let anchors =
            connection.ca == nil || pins.allSatisfy { $0.entry == nil } ? nil : try await connection.anchors()
        for pin in pins {
            try CommandFailure.rethrowing { () throws(PublishingError) in
                try pin.entry?.checkHost(
                    role == .issuer ? nil : host.description, among: pin.neighbors, trusting: anchors, at: now)
            }
        }
        let end = notAfter.map { Date(wholeSeconds: $0 + 1) }
        try await editing.run(by: connection) { edit throws(PublishingError) in
            // A new entry first needs a pin that is in force.
            for pin in pins {
                try edit.add(
                    pin.named.pin, as: role, state: state ?? (pin.isBackup == true ? .backup : .active), until: end,
                    to: host,
                    ports: ports?.numbers ?? [])
            }
        }
    }
}

/// Ports as an argument: `443,8443`, or `any`.
struct PortList: Sendable {
    let numbers: [Int]

    init(_ text: String) throws {
        guard text != "any" else {
            numbers = []
            return
        }
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        numbers = parts.compactMap { Int($0) }
        guard numbers.count == parts.count, numbers.allSatisfy((1...65_535).contains),
            Set(numbers).count == numbers.count
        else {
            throw ValidationError("expected ports from 1 to 65535, such as 443,8443, or any")
        }
    }
}
