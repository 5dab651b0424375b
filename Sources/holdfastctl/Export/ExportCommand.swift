public import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
public import HoldfastPublishing
import HoldfastSigning

extension ExportFormat: ExpressibleByArgument {}

/// `holdfastctl export`
struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Print a pin file in another system's format, or the public key of a signer.",
        usage: """
            holdfastctl export <file> --format <format> [<options>]
            holdfastctl export --key <file> [<options>]
            """,
        discussion: """
            With a pin file: prints the whole file that the other system loads, for all its hosts, or with --fragment \
            the part that goes into an existing file. Anything that the system cannot express is an error, unless \
            --lossy is given; it is named either way. Anything that makes no difference to a client, such as the state \
            of a pin, is named as well.

            Pins with which clients would be locked out are not exported: every host of the file is asked at every address, \
            as check --pins does, and every client is judged on each --platform. --force names what does not matter: \
            refused, if clients would be locked out; unreachable, if a host could not be asked; offline, to ask none. Pins \
            that ran out lock everybody out, whatever hosts show, so that only --force refused exports them. The pin file \
            counts as what a version of the app carries. If another version that --shipped names is locked out whatever is \
            exported, the pins are printed, and the exit code is 1.

            With --key: prints the public key of a private key that signs pins, as Base64 of the X9.63 form, 65 \
            octets, which CertStoreConfiguration(publicKey:) and verify take. For an Ed25519 key of a repository it is \
            Base64 of the 32 octets.

            EXAMPLES
              holdfastctl export bank.pins.json --format android \\
                -o network_security_config.xml
              holdfastctl export bank.pins.json --format ats --fragment --force offline
              holdfastctl export --key signer.pem
              holdfastctl export --key signer.pem --password-file secret.txt -o signer.pub

            Exit codes: 0 success, 1 the system cannot express it, the file is not a pin file or clients with its pins would \
            be locked out; or it was exported, and clients of another version are locked out, 2 wrong usage, 3 a file could \
            not be read, or a host not be asked, 4 exported, but clients get in only by grace.

            With --json and --key one object is printed: publicKey. With a pin file, -o and --json it is file, hosts (how \
            many), losses and notes (field, what), hostsWithoutBackup, and if hosts were asked findings (kind, host, text, \
            until), premises. Without --json the premises go to standard error.
            """)

    @Argument(help: ArgumentHelp("A pin file.", valueName: "pin file"), completion: .file(extensions: ["json"]))
    var path: String?

    @Option(help: ArgumentHelp(ExportFormat.explanation, valueName: "format"))
    var format: ExportFormat?

    @Flag(help: "Print the part that goes into an existing file.")
    var fragment = false

    @Flag(help: "Leave out what the format cannot express.")
    var lossy = false

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The private key: PKCS #8 or SEC 1 in PEM, encrypted or not.", valueName: "file"),
        completion: .file(extensions: ["pem", "key"]))
    var key: String?

    @OptionGroup
    var overrides: HostOverrides

    @OptionGroup
    var builds: ShippedPinOptions

    @OptionGroup
    var platforms: PlatformOptions

    @OptionGroup(title: "Password")
    var password: PasswordOptions

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    @OptionGroup
    var output: DocumentOutput

    @OptionGroup
    var printing: PrintOptions

    func validate() throws {
        guard (path == nil) != (key == nil) else {
            throw ValidationError("Name a pin file, or a private key with --key.")
        }
        guard path != nil else {
            guard !(printing.json && output.isFile) else {
                throw ValidationError("--json prints the key: give it or -o, not both.")
            }
            guard format == nil, !fragment, !lossy, overrides.force.isEmpty, connection.isEmpty, builds.isEmpty,
                platforms.isEmpty
            else {
                throw ValidationError(
                    "--format, --fragment, --lossy, --force and options about clients and connections go with a pin file."
                )
            }
            return
        }
        guard !builds.noShippedPins else {
            throw ValidationError("--no-shipped-pins: a pin file is what a version of the app carries.")
        }
        guard format != nil else { throw ValidationError("Name the format with --format.") }
        guard password.isEmpty else { throw ValidationError("Passwords go with --key.") }
        guard !printing.json || output.isFile else { throw ValidationError("With a pin file, --json goes with -o.") }
    }

    func run() async throws {
        if let path, let format { return try await export(path, as: format) }
        // Every kind of key that keygen makes, including Ed25519 for repositories.
        let path = key ?? ""
        guard let text = try RepositoryKeyFile(path: path).signing(password).publicKeyText else {
            throw CommandFailure(
                .unreadableFile,
                "\(path): unsupportedKey: expected a key of P-256 or Ed25519, found one of another kind. Print its public "
                    + "key with `openssl pkey -in \(ForeignFile.quoted(path)) -pubout`.")
        }
        if printing.json { try Output.standard.json(["publicKey": text]) } else { try output.write(text) }
    }

    private func export(_ path: String, as format: ExportFormat) async throws {
        let data = try InputFile.content(of: path, maximumBytes: PinFileReading.maximumBytes)
        let document = try PinFileReading.document(data, named: path)
        let settled = try await judge(document.file, data, named: path)
        if !printing.json {
            for premise in settled?.premises ?? [] { Output.standard.remark("note: \(SafeText.escapedLine(premise))") }
        }
        let export = PinExport(document.file, as: format, unknownFields: document.unknownFields)
        try export.write(isFragment: fragment, isLossy: lossy, isNoting: true, to: output)
        if printing.json {
            var report = WrittenReport(
                file: output.path ?? "", hosts: document.file.hosts.count, losses: export.losses, notes: export.notes,
                without: document.file.hostsWithoutUsableBackup)
            (report.findings, report.premises) = (settled?.open, settled?.premises)
            try Output.standard.json(report)
        }
        try settled?.finish()
    }
}

extension ExportCommand {
    /// Evaluates whether clients with these pins can connect: first without probing hosts, then with the chains that
    /// they present.
    /// - Returns: the remarks for after the export; nil if no host was probed.
    private func judge(_ file: PinFile, _ data: Data, named name: String) async throws -> SettledChange? {
        let now = SystemWallClock().now
        let endings = PinFileEndings(file, at: now)
        let over = endings.lockedOut.map(\.description)
        if !over.isEmpty {
            try overrides.settle(
                over.map { host in
                    .init(
                        kind: .refused, host: host,
                        text: "clients with these pins refuse every server of \(host): the pins ran out")
                }, else: "nothing was exported")
        }
        if let end = endings.graceEnd {
            Output.standard.complain(
                "warning: the pins are over, and clients get in by grace until \(end.formatted(.iso8601))")
        }
        guard !overrides.isOffline else {
            Output.standard.remark("warning: offline: no host was asked whether clients get in")
            return nil
        }
        let pins = try PublishedPins(pinFile: data, named: name, carriedBy: [name], at: now)
        let carried = try builds.documents(at: now)
        let subject = ChangeOutlook.Subject(
            from: [], to: [pins.document], beside: carried.map(\.document),
            appVersions: builds.appVersions(carrying: ([pins] + carried).map(\.document)))
        let asked = try await AskedChange(
            subject, atHostsOf: [pins] + carried, on: platforms, by: connection, at: now)
        return try overrides.settle(asked, else: "nothing was exported")
    }
}

/// `holdfastctl export-private`
struct ExportPrivateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export-private",
        abstract: "Print the private key itself, for a server that signs.",
        usage: "holdfastctl export-private --key <file> [<options>]",
        discussion: """
            Prints what WultraSSLPinning's tool prints and its server takes: Base64 of the key's number as a signed \
            big-endian integer, 31 to 33 octets. Anyone who reads it can sign pins, so send it into a pipe, or with -o into \
            a file, which is made with mode 0600 and never overwritten. On a terminal it asks first.

            EXAMPLES
              holdfastctl export-private --key signer.pem --password-file secret.txt | \\
                server-setup
              holdfastctl export-private --key signer.pem -o signer.number

            Exit codes: 0 success, 2 wrong usage or not confirmed, 3 the key could not be read, or the file not be made.

            With --json one object is printed: privateKey, or with -o file.
            """)

    @OptionGroup
    var key: KeyOptions

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The file to create.", valueName: "file"), completion: .file())
    var output: String?

    @OptionGroup
    var printing: PrintOptions

    func run() async throws {
        if let output, output != InputFile.standard { try KeyFile(path: output).requireAbsence() }
        let number = try key.read().exportedPrivateKey
        if let output, output != InputFile.standard {
            try KeyFile(path: output).create(number + "\n")
            if printing.json { try Output.standard.json(["file": output]) }
            return
        }
        try TerminalPrompt.confirmPrinting("the private key")
        if printing.json { try Output.standard.json(["privateKey": number]) } else { Output.standard.line(number) }
    }
}
