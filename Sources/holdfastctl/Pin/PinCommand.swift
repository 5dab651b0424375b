import ArgumentParser
import Foundation
import Holdfast
import HoldfastSigning

/// `holdfastctl pin`
struct PinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pin",
        abstract: "Print the pins of a server's chain, of certificates, keys and certificate requests.",
        usage: "holdfastctl pin [<options>] <host[:port] | file> ...",
        discussion: """
            Files may hold certificates, private keys (PKCS #8, SEC 1, PKCS #1), public keys and certificate requests, \
            in PEM, several in one file, or in DER. Keys and requests make backup pins: pins of a key that is in no \
            certificate yet. Nothing of a private key is printed.

            \(PinSource.explanation) Several may be named, hosts and files together.

            A host with a certificate for an ECDSA key and one for an RSA key has both pinned, since some clients see the \
            one and some the other. A host's pins are printed only if its chain is valid; otherwise the command says why not and exits with \
            1. With --insecure they are printed all the same, marked as not validated.

            The formats for configurations have the pin of a host's own key only, from a host as from files, unless \
            --certificates asks for more: whoever pins an issuer trusts all that it issues. Property lists are whole \
            files, unless --fragment asks for the part. curl compares the server's own key alone. They are for \
            one host; files that are named beside it are its backups.

            EXAMPLES
              holdfastctl pin www.example.com
              holdfastctl pin www.example.com --format okhttp
              holdfastctl pin www.example.com backup.pem --format okhttp
              holdfastctl pin www.example.com api.example.com
              holdfastctl pin chain.pem backup.pem --format swift --host example.com
              openssl genpkey -algorithm RSA -out backup.pem
              holdfastctl pin backup.pem
              PIN=$(holdfastctl pin www.example.com --format curl)
              curl --pinnedpubkey "$PIN" https://www.example.com
              holdfastctl pin intranet.example --client-cert me.pem --client-key key.pem
              holdfastctl pin mail.example.com --starttls imap
              holdfastctl pin --authority "Amazon" --format okhttp --host www.example.com

            Exit codes: 0 success, 1 the chain is not valid, 2 wrong usage, 3 could not connect or read.

            With --format json one object is printed on success, of several hosts one in a line each and one for the \
            files, with the fields host, validated, failure and pins (place, kind, subject, key, keyPin, \
            certificatePin, notAfter, inValidPath, isIssuer, remark), absent where they do not apply.
            """)

    @Argument(
        help: ArgumentHelp("Hosts, with a port if not 443, and files.", valueName: "host[:port] | file"),
        completion: .file())
    var sources: [String] = []

    @Option(
        help: ArgumentHelp(
            "Pin the roots of this organization among the trusted authorities, for hosts whose keys somebody else "
                + "makes anew. Everything that they issue for the host is trusted then.", valueName: "name"))
    var authority: String?

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
        guard !sources.isEmpty || authority != nil else {
            throw ValidationError("Missing expected argument: name a host or a file.")
        }
        if let authority, authority.utf8.count < 3 {
            throw ValidationError("--authority takes three characters of the name at least.")
        }
        if let configuredHost, !format.allows(configuredHost.scope) {
            throw ValidationError(
                "\(format.rawValue) cannot say \(configuredHost); give a host or **.\(configuredHost.base.name).")
        }
        for source in hosts {
            do {
                _ = try ServerAddress.hostWithOptionalPort(source)
            } catch {
                throw ValidationError("\(source.quotedAddress) is neither a file nor a host: \(error)")
            }
        }
        guard !hosts.isEmpty || (authority == nil ? connection.isEmpty : !connection.concernsConnections) && !insecure
        else {
            throw ValidationError(
                "Options of connections, such as --ca and --starttls, and --insecure go with a host, not with files.")
        }
        guard hosts.count <= 1 || !format.isConfiguration else {
            throw ValidationError("--format \(format.rawValue) is for one host: name them one at a time.")
        }
        if format.needsHost, configuredHost == nil, hosts.isEmpty {
            throw ValidationError("--format \(format.rawValue) names a host: say which with --host.")
        }
    }

    private var hosts: [String] { sources.filter { !PinSource.isFile($0) } }
    private var files: [String] { sources.filter(PinSource.isFile) }

    /// So many handshakes are made side by side.
    private static let hostsAtOnce = 8

    func run() async throws {
        var reports = try await serverReports()
        var fileReport = PinReport()
        for file in files {
            let found = try PublicKeyFile(file).read()
            for note in found.notes { Output.standard.complain("\(file): \(note)") }
            fileReport.pins += found.entries
        }
        if let authority { fileReport.pins += try await roots(of: authority) }
        if format.isConfiguration, reports.count == 1 {
            reports[0].pins += fileReport.pins
        } else if !fileReport.pins.isEmpty {
            reports.append(fileReport)
        }
        let selection = selection ?? (format.isConfiguration && authority == nil ? .leaf : .all)
        for index in reports.indices {
            reports[index].pins.removeAll { !selection.selects($0) }
            if format.comparesLeafOnly { reports[index].pins.removeAll(where: \.isIssuer) }
            guard !reports[index].pins.isEmpty else {
                throw CommandFailure(
                    .notTrusted,
                    format.comparesLeafOnly
                        ? "\(format.rawValue) compares the key of a server, and there are only those of authorities here"
                        : "there is nothing to pin with --certificates \(selection.rawValue)"
                            + (selection == .leaf
                                ? "; --certificates issuers pins an authority, and trusts all it issues" : ""))
            }
        }
        for report in reports { try print(report, ofMany: reports.count > 1) }
    }

    /// The authorities whose subject has the name.
    private func roots(of authority: String) async throws(CommandFailure) -> [PinEntry] {
        let name = ASCIIText.folded(authority)
        let roots = try await connection.anchors().certificates.filter {
            ASCIIText.folded($0.subject.description).contains(name)
        }
        guard !roots.isEmpty else {
            throw CommandFailure(.notTrusted, "no trusted authority has \(SafeText.escapedLine(authority)) in its name")
        }
        return roots.map { PinEntry($0, place: "anchor", isIssuer: true) }
    }

    /// All of the hosts, or an error that names each that has none.
    private func serverReports() async throws -> [PinReport] {
        let hosts = try hosts.map { try connection.dialled(try ServerAddress.hostWithOptionalPort($0)) }
        guard !hosts.isEmpty else { return [] }
        let probe = try await ServerProbe(options: connection)
        let isForced = insecure
        let answers = await SideBySide.map(hosts, atMost: Self.hostsAtOnce) {
            host -> Result<PinReport, CommandFailure> in
            do throws(CommandFailure) {
                return .success(try await Self.report(of: host, probe, isForced: isForced))
            } catch {
                return .failure(error)
            }
        }
        guard answers.count > 1 else { return try answers.map { try $0.get() } }
        var reports: [PinReport] = []
        var failures: [CommandFailure] = []
        for (host, answer) in zip(hosts, answers) {
            switch answer {
            case .success(let report): reports.append(report)
            case .failure(let error): failures.append(CommandFailure(error.code, "\(host): \(error.message)"))
            }
        }
        // Some of what was asked for would be taken for all of it; and a chain that is not valid weighs most.
        guard let first = failures.first(where: { $0.status == .negativeAnswer }) ?? failures.first else {
            return reports
        }
        throw CommandFailure(
            first.code,
            "no pins are printed, since not every host has them\n" + failures.map(\.message).joined(separator: "\n"))
    }

    private static func report(
        of host: DialledHost, _ probe: ServerProbe, isForced: Bool
    ) async throws(CommandFailure) -> PinReport {
        let decisions = try await probe.askForEachKey(StandardPolicy(host: HostPattern(host)), about: host)
            .map(\.decision)
        var report = PinReport(host: host, decisions: decisions)
        if let failure = decisions.lazy.compactMap(\.failure).first {
            // Not the whole of it, which has the pins.
            let chain = decisions.count > 1 ? "a chain of \(host), which has two," : "the chain of \(host)"
            let reason =
                "\(chain) is not valid: \(failure.code.rawValue), expected \(failure.expected), "
                + "found \(failure.found). \(failure.remedy)"
            guard isForced else {
                throw CommandFailure(
                    .notTrusted,
                    "\(reason)\nIts pins are not printed; look at it with check, or force them with --insecure.")
            }
            report.warning = "NOT VALIDATED (\(failure.code.rawValue)): make sure by another way whose keys these are."
            Output.standard.complain(reason)
        }
        return report
    }

    private func print(_ report: PinReport, ofMany isOneOfMany: Bool) throws {
        let output = Output.standard
        switch format {
        case .json:
            if isOneOfMany { try output.jsonLine(report) } else { try output.json(report) }
        case .holdfast:
            if isOneOfMany, let host = report.dialled { output.line("# \(host)", .heading) }
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
