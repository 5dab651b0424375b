import ArgumentParser
import Foundation
import Holdfast

/// `holdfastctl pin`
struct PinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pin",
        abstract: "Print the pins of a server's chain, of certificates, keys and certificate requests.",
        discussion: """
            Files may hold certificates, private keys (PKCS #8, SEC 1, PKCS #1), public keys and certificate requests, \
            in PEM, several in one file, or in DER. Keys and requests make backup pins: pins of a key that is in no \
            certificate yet. Nothing of a private key is printed.

            What is a file: an argument that exists as one, has a slash in it, or ends in .pem, .der, .crt, .cer, .key \
            or .csr; several arguments are always files. Everything else is a host.

            A host's pins are printed only if its chain is valid; otherwise the command says why not and exits with \
            1. With --insecure they are printed all the same, marked as not validated.

            The formats for configurations have the pin of a host's own key only, from a host as from files, unless \
            --certificates asks for more: whoever pins an issuer trusts all that it issues. Property lists are whole \
            files, unless --fragment asks for the part. curl compares the server's own key alone.

            EXAMPLES
              holdfastctl pin www.example.com
              holdfastctl pin www.example.com --format okhttp
              holdfastctl pin chain.pem backup.pem --format swift --host example.com
              openssl genpkey -algorithm RSA -out backup.pem
              holdfastctl pin backup.pem
              PIN=$(holdfastctl pin www.example.com --format curl)
              curl --pinnedpubkey "$PIN" https://www.example.com
              holdfastctl pin intranet.example --client-cert me.pem --client-key key.pem
              holdfastctl pin mail.example.com --starttls imap

            Exit codes: 0 success, 1 the chain is not valid, 2 wrong usage, 3 could not connect or read.

            With --format json one object is printed on success, with the fields host, validated, failure and pins (place, kind, \
            subject, key, keyPin, certificatePin, notAfter, inValidPath, isIssuer, remark), absent where they do not \
            apply.
            """)

    @Argument(
        help: ArgumentHelp("A host with a port if not 443, or files.", valueName: "host[:port] | file"),
        completion: .file())
    var sources: [String]

    @Option(help: ArgumentHelp(PinFormat.explanation, valueName: "format"))
    var format = PinFormat.holdfast

    @Option(
        name: .customLong("certificates"),
        help: "Which certificates to pin: the server's own, its issuers, or all.")
    var selection: PinSelection?

    @Option(
        name: .customLong("host"),
        help: ArgumentHelp(
            "The host that a configuration is for, if it is not HOST; also *.example.com or **.example.com.",
            valueName: "host"),
        transform: { text in CheckedArgument { try HostPattern(text) } })
    var hostArgument: CheckedArgument<HostPattern>?

    @Flag(help: "Print the part that goes into a file that is there, not a whole file.")
    var fragment = false

    @Flag(help: "Print the pins of a host although its chain is not valid.")
    var insecure = false

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    private var configuredHost: HostPattern? { hostArgument?.value }

    func validate() throws {
        try hostArgument?.validate("--host")
        guard let first = sources.first else { throw ValidationError("Name a host or a file.") }
        if let configuredHost, !format.allows(configuredHost.scope) {
            throw ValidationError(
                "\(format.rawValue) cannot say \(configuredHost); give a host or **.\(configuredHost.base.name).")
        }
        guard namesFiles else {
            do {
                _ = try ServerAddress.hostWithOptionalPort(first)
            } catch {
                throw ValidationError("\(first.quotedAddress) is neither a file nor a host: \(error)")
            }
            return
        }
        guard connection.isEmpty, !insecure else {
            throw ValidationError(
                "Options of connections, such as --ca and --starttls, and --insecure go with a host, not with files.")
        }
        if format.needsHost, configuredHost == nil {
            throw ValidationError("--format \(format.rawValue) names a host: say which with --host.")
        }
    }

    private var namesFiles: Bool {
        guard sources.count == 1, let source = sources.first else { return sources.count > 1 }
        return PinSource.isFile(source)
    }

    func run() async throws {
        var report: PinReport
        if namesFiles {
            report = PinReport()
            for source in sources {
                let found = try PublicKeyFile(source).read()
                for note in found.notes { Output.standard.complain("\(source): \(note)") }
                report.pins += found.entries
            }
        } else {
            report = try await serverReport(sources.first ?? "")
        }
        let selection = selection ?? (format.isConfiguration ? .leaf : .all)
        report.pins.removeAll { !selection.selects($0) }
        if format.comparesLeafOnly { report.pins.removeAll(where: \.isIssuer) }
        guard !report.pins.isEmpty else {
            throw CommandFailure(
                .notTrusted,
                format.comparesLeafOnly
                    ? "\(format.rawValue) compares the key of a server, and there are only those of authorities here"
                    : "there is nothing to pin with --certificates \(selection.rawValue)"
                        + (selection == .leaf
                            ? "; --certificates issuers pins an authority, and trusts all it issues" : ""))
        }
        try print(report)
    }

    private func serverReport(_ source: String) async throws -> PinReport {
        let host = try connection.dialled(try ServerAddress.hostWithOptionalPort(source))
        let probe = try await ServerProbe(options: connection)
        let decision = try await probe.ask(StandardPolicy(host: HostPattern(host)), about: host).decision
        var report = PinReport(host: host, decision: decision)
        if let failure = decision.failure {
            // Not the whole of it, which has the pins.
            let reason =
                "the chain of \(host) is not valid: \(failure.code.rawValue), expected \(failure.expected), "
                + "found \(failure.found). \(failure.remedy)"
            guard insecure else {
                throw CommandFailure(
                    .notTrusted,
                    "\(reason)\nIts pins are not printed; look at it with check, or force them with --insecure.")
            }
            report.warning = "NOT VALIDATED (\(failure.code.rawValue)): make sure by another way whose keys these are."
            Output.standard.complain(reason)
        }
        return report
    }

    private func print(_ report: PinReport) throws {
        let output = Output.standard
        switch format {
        case .json:
            try output.json(report)
        case .holdfast:
            if let warning = report.warning { output.line("# \(warning)", .bad) }
            for entry in report.pins {
                output.line("# \(entry.title)", .faint)
                output.line(entry.keyPin)
                if let pin = entry.certificatePin { output.line(pin) }
            }
        case .pinfile, .swift, .okhttp, .curl, .tlsa, .trustkit, .android, .ats, .alamofire:
            let host = configuredHost ?? report.dialled.map { HostPattern($0) }
            let snippet = PinSnippet(entries: report.pins, host: host, warning: report.warning)
            let lines = try lines(of: snippet)
            for line in format.isPropertyList && !fragment ? PropertyListText.whole(lines) : lines { output.line(line) }
            if !snippet.hasBackup {
                output.complain(
                    "warning: there is no backup pin; when the key is lost every client is locked out. "
                        + "Make a second key, keep it offline, and add its pin")
            }
        }
    }

    private func lines(of snippet: PinSnippet) throws -> [String] {
        switch format {
        case .alamofire: return try snippet.alamofire()
        case .pinfile:
            let json = String(decoding: try snippet.pinFile().json.dropLast(), as: UTF8.self)
            return json.components(separatedBy: "\n")
        default: return snippet.lines(format)
        }
    }
}
