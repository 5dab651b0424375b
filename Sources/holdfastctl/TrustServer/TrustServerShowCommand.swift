import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
import HoldfastPublishing
import HoldfastSigning

/// `holdfastctl trust-server show`
struct TrustServerShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Print the signer's certificate again, with which apps are configured.",
        usage: "holdfastctl trust-server show --customer <name> [<options>]",
        discussion: """
            Prints what publish --first-run printed: the certificate of output/CUSTOMER.crt in Base64 \
            (trustServerCertificate). It is public, and the private key is not read.

            EXAMPLES
              holdfastctl trust-server show --customer acme
              holdfastctl trust-server show --customer acme -o acme.base64

            Exit codes: 0 success, 2 wrong usage, 3 the certificate could not be read.

            With -o the Base64 is written to a file. With --json one object is printed: customer, certificate, file, certificatePin, notAfter.
            """)

    @OptionGroup
    var signer: TrustServerSignerOptions

    @OptionGroup
    var printing: PrintOptions

    @OptionGroup
    var output: DocumentOutput

    private struct Report: Encodable {
        let customer: String
        let certificate: String
        let file: String
        let certificatePin: String?
        let notAfter: String
    }

    func run() async throws {
        let (der, file) = try signer.certificate()
        let certificate = CertificateReport(der: der, position: nil, now: SystemWallClock().now)
        guard let end = certificate.notAfter else {
            throw CommandFailure(.unreadableFile, "\(file): \(certificate.unreadable ?? "it cannot be read")")
        }
        let text = Data(der).base64EncodedString()
        let report = Report(
            customer: signer.customer, certificate: text, file: file,
            certificatePin: certificate.certificatePin,
            notAfter: end)
        guard output.isFile else { return try printing.print(report) { $0.line(text) } }
        try output.write(text)
        if printing.json { try printing.print(report) { _ in } }
    }
}

/// The certificate of a trust server's signer, for verbs that need no private key.
struct TrustServerSignerOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The customer that owns the hosts; the files are named after it.", valueName: "name"))
    var customer: String

    @Option(help: ArgumentHelp("The folder of CUSTOMER.json.signed.", valueName: "folder"), completion: .directory)
    var folder = "output"

    @Option(
        name: .customLong("certificate"),
        help: ArgumentHelp(
            "The signer's certificate; by default CUSTOMER.crt in the output folder.", valueName: "file"),
        completion: .file(extensions: ["crt", "pem", "cer"]))
    var certificatePath: String?

    func validate() throws {
        do throws(SigningError) {
            try TrustServerKey.requireCustomer(customer)
        } catch {
            throw ValidationError("--customer: \(error)")
        }
    }

    /// The certificate in DER, and its file.
    func certificate() throws(CommandFailure) -> (der: [UInt8], file: String) {
        let files = TrustServerFiles(customer: customer, data: "", output: folder)
        let file = certificatePath ?? files.publishedCertificate.path
        guard certificatePath != nil || FileManager.default.fileExists(atPath: file) else {
            throw CommandFailure(
                .unreadableFile,
                "\(file) is not there: --folder names another folder, and --certificate another file; holdfastctl "
                    + "trust-server publish --first-run makes it, once")
        }
        guard let der = try InputFile.chain(of: file).octets.first else {
            throw CommandFailure(.unreadableFile, "\(file) has no certificate")
        }
        return (Array(der), file)
    }
}
