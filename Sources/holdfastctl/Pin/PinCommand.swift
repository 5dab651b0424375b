import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
import HoldfastProbe
import HoldfastPublishing
import HoldfastSigning

/// `holdfastctl pin`
struct PinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pin",
        abstract: "Print the pins of a server's chain, of certificates, keys and certificate requests.",
        usage: "holdfastctl pin [<options>] <host[:port] | file> ...",
        discussion: """
            Files may contain certificates, private keys (PKCS #8, SEC 1, PKCS #1), public keys and certificate \
            requests, in DER or in PEM, which allows several in one file. Keys and requests make backup pins: pins of \
            a key that is in no certificate yet. No part of a private key is printed.

            \(PinInput.explanation) Several may be named, hosts and files together.

            A host or file without a backup pin is named on standard error, in every format: if its only key is lost, \
            every client is locked out.

            Every address of a host is asked, and each for an ECDSA key and for an RSA key. All that is found is \
            pinned, because some clients see one certificate and some another. A host's pins are printed only if its chain is valid; otherwise the command \
            says why not and exits with 1. With --insecure they are printed nevertheless, marked as not validated.

            With --issuers the pins of issuers, such as those of --authority, must let in whatever the authority may issue \
            from these certificates: from each of its intermediates, through what other authorities signed for it, and \
            to each root that is trusted here. The command says for how many chains they are complete; if one would be \
            refused, it names the pins that are missing, prints none, and exits with 1. Also give the new pins as files \
            then.

            With --format the command prints a whole file for the other system, with all the hosts that are named; \
            with --fragment it prints the part that goes into an existing file. From hosts and files alike, the file \
            has only the pins of the servers' own keys, unless --certificates asks for more: anyone who pins an issuer \
            trusts everything that it issues. If files are named beside hosts, their keys are backups: those of \
            certificates and requests for the hosts that they name, all others for every host. In a pin file, the pins \
            of HOST:PORT are for that port alone, and clients refuse the others; those of HOST are for every port. \
            Anything that the format cannot express is an error, unless --lossy is given; it is named either way.

            With --new-backup the command also makes a backup key, in a file that must not exist yet, with the request for \
            its certificate beside it (.csr), and pins it. The format is then json, unless --format says otherwise.

            EXAMPLES
              holdfastctl pin www.example.com --new-backup backup.key -o app.pins.json
              holdfastctl pin www.example.com
              holdfastctl pin www.example.com backup.pem --format okhttp
              holdfastctl pin www.example.com api.example.com --format android
              holdfastctl pin chain.pem backup.csr --format json --host example.com \\
                -o bank.pins.json
              openssl genpkey -algorithm RSA -out backup.pem
              holdfastctl pin backup.pem
              PIN=$(holdfastctl pin www.example.com --format curl --fragment)
              curl --pinnedpubkey "$PIN" https://www.example.com
              holdfastctl pin intranet.example --client-cert me.pem --client-key key.pem
              holdfastctl pin --authority "Amazon" --format ats --host www.example.com
              holdfastctl pin --authority "ISRG" --issuers isrg-certificates.pem

            Exit codes: 0 success, 1 the chain is not valid, the format cannot express it or pins of issuers are missing, 2 wrong usage, 3 could \
            not connect or read.

            With --json one object is printed on success; for several hosts, one object per line for each, and one for \
            the files. The fields are host, validated, failure and pins (place, kind, subject, key, keyPin, \
            certificatePin, notAfter, inValidPath, isIssuer, remark), absent where they do not apply.
            """)

    @Argument(
        help: ArgumentHelp("Hosts, with a port if not 443, and files.", valueName: "host[:port] | file"),
        completion: .file())
    var sources: [String] = []

    @Option(
        help: ArgumentHelp(
            "Pin the roots of this organization among the trusted authorities, for hosts whose keys somebody else "
                + "replaces. Then everything that they issue for the host is trusted.", valueName: "name"))
    var authority: String?

    @OptionGroup
    var issuers: IssuerOptions

    @Option(
        name: .customLong("format"),
        help: ArgumentHelp(
            "Print the pins for another system: " + ExportFormat.explanation + " Without it pins with comments.",
            valueName: "format"))
    var namedFormat: ExportFormat?

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

    @Option(
        name: .customLong("new-backup"),
        help: ArgumentHelp(
            "Make a backup key in this file, not encrypted, and its certificate request beside it, and pin it as well.",
            valueName: "file"),
        completion: .file(extensions: ["key"]))
    var newBackup: String?

    @Flag(help: "Print the part that goes into an existing file, not a whole file.")
    var fragment = false

    @Flag(help: "Leave out what the format cannot express.")
    var lossy = false

    @OptionGroup
    var output: DocumentOutput

    @OptionGroup
    var printing: PrintOptions

    @Flag(
        help: ArgumentHelp(
            "Print the pins of a host even if its chain is not valid, and with --format those of a file even if it is not "
                + "the host's own."))
    var insecure = false

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    private var configuredHost: HostPattern? { hostArgument?.value }
    private var format: ExportFormat? { namedFormat ?? (newBackup == nil ? nil : .json) }

    func validate() throws {
        try hostArgument?.validate("--host")
        guard !sources.isEmpty || authority != nil else {
            throw ValidationError("Missing expected argument: name a host or a file.")
        }
        if let authority, authority.utf8.count < 3 {
            throw ValidationError("--authority takes three characters of the name at least.")
        }
        guard newBackup == nil || !hosts.isEmpty else { throw ValidationError("--new-backup goes with a host.") }
        guard newBackup != InputFile.standard else {
            throw ValidationError("--new-backup takes a file: standard output gets the pins.")
        }
        guard format != nil else {
            guard !fragment, !lossy, configuredHost == nil, !output.isFile else {
                throw ValidationError("--fragment, --lossy, --host and -o go with --format.")
            }
            return try validateSources()
        }
        guard !printing.json else { throw ValidationError("Give --json or --format, not both.") }
        try validateFormat()
        try validateSources()
    }

    private func validateFormat() throws {
        guard let format else { return }
        if let configuredHost, !format.says(configuredHost.scope) {
            throw ValidationError("\(format.rawValue) cannot say \(configuredHost).")
        }
        guard configuredHost != nil || !hosts.isEmpty else {
            throw ValidationError("--format \(format.rawValue) names a host: say which with --host.")
        }
        guard configuredHost == nil || hosts.count <= 1 else {
            throw ValidationError("--host is about one host: name the others one at a time.")
        }
    }

    private func validateSources() throws {
        for source in hosts {
            do {
                _ = try ServerAddress.hostWithOptionalPort(source)
            } catch {
                throw ValidationError("\(source.quotedAddress) is neither a file nor a host: \(error)")
            }
        }
        guard
            !hosts.isEmpty
                || (authority == nil && issuers.issuers.isEmpty ? connection.isEmpty : !connection.concernsConnections)
                    && (!insecure || format != nil)
        else {
            throw ValidationError(
                "Connection options, such as --ca and --proxy, and --insecure go with a host, not with files.")
        }
    }

    private var hosts: [String] { sources.filter { !PinInput.isFile($0) } }
    private var files: [String] { sources.filter(PinInput.isFile) }

    /// Number of simultaneous handshakes.
    private static let hostsAtOnce = 8

    func run() async throws {
        let backup = newBackup.map(NewBackupKey.init)
        try backup?.requireAbsence()
        let reports = try await serverReports()
        guard let backup else { return try await pin(reports, and: files) }
        try backup.create(for: configuredHost.map { [$0] } ?? reports.compactMap { $0.dialed.map(HostPattern.init) })
        do {
            try await pin(reports, and: files + [backup.request])
        } catch {
            // Otherwise the next attempt would find files that no pin belongs to.
            backup.remove()
            throw error
        }
    }

    private func pin(_ servers: [PinReport], and files: [String]) async throws {
        var reports = servers
        var fromFiles: [PinEntry] = []
        for file in files {
            let found = try InputFile.publicKeys(of: file)
            for note in found.notes { Output.standard.remark("\(file): \(note)") }
            fromFiles += found.entries
        }
        let roots = if let authority { try await roots(of: authority) } else { [PinEntry]() }
        let selection = selection ?? (format == nil ? .all : .leaf)
        for index in reports.indices { reports[index].pins = try selection.selected(from: reports[index].pins) }
        let inFiles = fromFiles
        if !fromFiles.isEmpty { fromFiles = try selection.selected(from: fromFiles) }
        if let authority = try issuers.authority() {
            let pins = (reports.flatMap(\.pins) + fromFiles + roots).filter(\.isIssuer)
            try await IssuerPinProof(of: authority, for: configuredHost).prove(pins, by: connection)
        }
        if !insecure { try check(fromFiles, among: inFiles, besides: reports.compactMap(\.dialed)) }
        if let format {
            let hosts = reports.compactMap { report in
                report.dialed.map {
                    PinCollection.Host(
                        $0, pins: report.pins, isForItsPort: report.namesPort, warning: report.warning)
                }
            }
            let collection = try PinCollection(hosts, and: fromFiles + roots, for: configuredHost, as: format)
            return try PinExport(collection.file, as: format, annotations: collection.annotations)
                .write(isFragment: fragment, isLossy: lossy, isNoting: false, to: output)
        }
        warn(ofMissingBackups: reports, beside: fromFiles + roots)
        if !(fromFiles + roots).isEmpty {
            var report = PinReport()
            report.pins = fromFiles + roots
            reports.append(report)
        }
        for report in reports { try print(report, ofMany: reports.count > 1) }
    }

    /// Checks that the certificates and keys of files may be pinned as a host's own. Without --format they are printed
    /// with a warning, because a person reads the output.
    private func check(
        _ entries: [PinEntry], among others: [PinEntry], besides hosts: [DialedHost]
    ) throws(CommandFailure) {
        let now = SystemWallClock().now
        for entry in entries {
            let names =
                configuredHost.map { [$0.description] }
                ?? hosts.filter { host in PinEntry.entries([entry], for: host, among: hosts).isEmpty == false }.map(
                    \.name)
            do throws(PublishingError) {
                for name in format == nil || names.isEmpty ? [nil] : names.map(Optional.some) {
                    try entry.checkHost(name, among: others, at: now)
                }
            } catch {
                guard format == nil else { throw CommandFailure(error) }
                Output.standard.remark("warning: \(SafeText.escapedLine(CommandFailure(error).message))")
            }
        }
    }

    /// Warns as a pin file would. A host needs a key that it does not present; certificates in files need a key that is
    /// in no certificate yet. Keys without certificates are backups themselves.
    private func warn(ofMissingBackups reports: [PinReport], beside others: [PinEntry]) {
        for report in reports {
            let served = Set(report.pins.map(\.keyPin))
            guard let host = report.host, let dialed = report.dialed else { continue }
            let own = PinEntry.entries(others, for: dialed, among: reports.compactMap(\.dialed))
            guard own.allSatisfy({ served.contains($0.keyPin) }) else { continue }
            LossReport.warn(ofNoBackupFor: host)
        }
        guard reports.isEmpty, !others.contains(where: \.isBackup) else { return }
        LossReport.warn(ofNoBackupFor: (files + [authority].compactMap(\.self)).joined(separator: ", "))
    }

    /// The trusted authorities whose subject contains the name.
    private func roots(of authority: String) async throws(CommandFailure) -> [PinEntry] {
        let roots = PinEntry.roots(named: authority, among: try await connection.anchors())
        guard !roots.isEmpty else {
            throw CommandFailure(.notTrusted, "no trusted authority has \(SafeText.escapedLine(authority)) in its name")
        }
        return roots
    }

    /// The reports of all hosts. If some fail, the error names each of them.
    private func serverReports() async throws -> [PinReport] {
        let named = try hosts.map { try ServerAddress.hostWithOptionalPort($0) }
        let hosts = try named.map { try connection.dialed($0) }
        guard !hosts.isEmpty else { return [] }
        let probe = try await connection.probe()
        let isForced = insecure
        let answers = await SideBySide.map(Array(zip(named, hosts)), atMost: Self.hostsAtOnce) {
            name, host -> Result<PinReport, CommandFailure> in
            do throws(CommandFailure) {
                var report = try await Self.report(of: host, probe, isForced: isForced)
                report.namesPort = name.port != nil
                return .success(report)
            } catch {
                return .failure(PinInput.noFile(error, host.name))
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
        // Printing only some pins would look complete, so nothing is printed. Of the errors, an invalid chain weighs
        // most.
        guard let first = failures.first(where: { $0.status == .negativeAnswer }) ?? failures.first else {
            return reports
        }
        throw CommandFailure(
            first.code,
            "no pins are printed, since not every host has them\n" + failures.map(\.message).joined(separator: "\n"))
    }

    private static func report(
        of host: DialedHost, _ probe: HostProbe, isForced: Bool
    ) async throws(CommandFailure) -> PinReport {
        let findings = await probe.ask(host)
        if let failure = findings.commandFailure { throw failure }
        if let remark = findings.remark { Output.standard.remark("\(host): \(remark)") }
        let decisions = findings.shown.map(\.decision)
        var report = PinReport(host: host, decisions: decisions)
        if let failure = decisions.lazy.compactMap(\.failure).first {
            // Not the whole failure, because that contains the pins.
            let chain =
                decisions.count > 1 ? "a chain of \(host), which has \(decisions.count)," : "the chain of \(host)"
            let reason =
                "\(chain) is not valid: \(failure.code.rawValue), expected \(failure.expected), "
                + "found \(failure.found). \(failure.remedy)"
            guard isForced else {
                throw CommandFailure(
                    .notTrusted,
                    "\(reason)\nIts pins are not printed; look at it with check, or force them with --insecure.")
            }
            report.warning = "NOT VALIDATED (\(failure.code.rawValue)): make sure in another way whose keys these are."
            Output.standard.complain(reason)
        }
        return report
    }

    private func print(_ report: PinReport, ofMany isOneOfMany: Bool) throws {
        let output = Output.standard
        guard !printing.json else { return try output.json(report) }
        if isOneOfMany, let host = report.dialed { output.line("# \(host)", .heading) }
        if let warning = report.warning { output.line("# \(warning)", .bad) }
        for entry in report.pins {
            output.line("# \(entry.title)", .faint)
            output.line(entry.keyPin)
            if let pin = entry.certificatePin { output.line(pin) }
        }
    }
}
