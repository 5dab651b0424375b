public import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
public import HoldfastPublishing
import HoldfastSigning

extension PinImport.Source: ExpressibleByArgument {}
extension PinImport.Role: ExpressibleByArgument {}

/// `holdfastctl import`
struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Make a pin file from another system's configuration.",
        usage: "holdfastctl import <file> [--from <system>] [<options>]",
        discussion: """
            Reads TrustKit's TSKConfiguration and Apple's NSPinnedDomains from a property list, alone or in an \
            Info.plist, Android's network security configuration, and the calls of OkHttp's CertificatePinner in Kotlin \
            or Java. The content shows which of them a file is. What the pin file says in another way is named on \
            standard error.

            A name that its system never matches, such as *.example.com in TrustKit and Android, pins nothing there. It is \
            an error, and with --lossy it is left out.

            Anything that a pin file cannot express is an error, unless --lossy is given; it is named either way.

            TrustKit, Android and OkHttp do not say whether a pin is the server's own or an issuer's, and accept either. \
            The import keeps that, with each pin in both roles, unless --role says which it is.

            None of them says which pins are those of backup keys: --backup names them, and the import marks them. Without \
            it every pin is imported as active.

            A name that is excepted from the pins of its domain gets mode report, in which standard validation decides.

            EXAMPLES
              holdfastctl import Info.plist -o bank.pins.json \\
                --backup sha256/x4QzPSC810K5/cMjb05Qm4k3Bw5zBn4lTdO/nEW/Td4=
              holdfastctl import network_security_config.xml --from android --role leaf

            Exit codes: 0 success, 1 the configuration cannot be imported, 2 wrong usage, 3 the file could not be read.

            With -o and --json one object is printed: file, hosts (how many), losses and notes (field, what), \
            hostsWithoutBackup.
            """)

    @Argument(help: ArgumentHelp("The file to import.", valueName: "file"), completion: .file())
    var path: String

    @Option(
        name: .customLong("from"),
        help: "The system whose configuration it is, if the file has several: trustkit, ats, android or okhttp.")
    var source: PinImport.Source?

    @Option(help: "Whose keys the pins are if the system does not say: leaf, issuer or both.")
    var role = PinImport.Role.both

    @Option(
        help: ArgumentHelp("A pin of the configuration whose key is in reserve. Repeatable.", valueName: "pin"),
        transform: { try NamedPin($0) })
    var backup: [NamedPin] = []

    @Flag(help: "Leave out what a pin file cannot express.")
    var lossy = false

    @OptionGroup
    var output: DocumentOutput

    @OptionGroup
    var printing: PrintOptions

    func validate() throws {
        guard !printing.json || output.isFile else {
            throw ValidationError("--json goes with -o: the pin file is JSON itself.")
        }
    }

    private static let maximumBytes = 1 << 20

    func run() async throws {
        let data = try InputFile.content(of: path, maximumBytes: Self.maximumBytes)
        try ForeignFile(data, path: path).refuse(wanting: .certificate)
        let (imported, file) = try read(data)
        try LossReport(losses: imported.losses, notes: imported.notes).say(isAllowed: lossy)
        LossReport.warn(of: file)
        LossReport.warn(ofReportsOf: file)
        try output.write(String(decoding: file.json, as: UTF8.self))
        guard printing.json else { return }
        try Output.standard.json(
            WrittenReport(
                file: output.path ?? "", hosts: file.hosts.count, losses: imported.losses, notes: imported.notes,
                without: file.hostsWithoutUsableBackup))
    }

    private func read(_ data: Data) throws(CommandFailure) -> (PinImport, PinFile) {
        do throws(PublishingError) {
            if let source, let detected = try? PinImport.Source(detectedIn: data), detected != source {
                throw PublishingError(
                    .invalidDocument, expected: "a configuration of \(source.rawValue), as --from says",
                    found: "one of \(detected.rawValue)", remedy: "Leave --from out.")
            }
            let known: PinImport.Source
            if let source { known = source } else { known = try PinImport.Source(detectedIn: data) }
            let imported = try PinImport(data, from: known, role: role, backups: Set(backup.map(\.pin)))
            return (imported, try imported.file())
        } catch {
            let failure = CommandFailure(error)
            throw CommandFailure(failure.code, "\(path): \(failure.message)")
        }
    }
}
