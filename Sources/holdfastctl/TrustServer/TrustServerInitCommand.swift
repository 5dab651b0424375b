public import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
public import HoldfastSigning

/// `holdfastctl trust-server init`
struct TrustServerInitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make the key and the certificate that sign the documents of a customer.",
        usage: "holdfastctl trust-server init --customer <name> [<options>]",
        discussion: """
            Writes data/CUSTOMER.key (private, mode 0600), output/CUSTOMER.crt (the certificate in DER) and \
            output/CUSTOMER.pem, and prints the certificate in Base64; configure the app with it \
            (trustServerCertificate); show prints it again. If a file exists already, it is left unchanged and the command \
            fails.

            EXAMPLES
              holdfastctl trust-server init --customer acme

            Exit codes: 0 success, 2 wrong usage, 3 a file could not be written or exists already.

            With --json one object is printed: customer, certificate, key, domains.
            """)

    @Option(
        help: ArgumentHelp("The customer whose hosts will be signed; the files are named after it.", valueName: "name"))
    var customer: String

    @Option(
        name: .customLong("kind"),
        help: ArgumentHelp("The kind of key: rsa-4096, as in the published signer, or p-256.", valueName: "kind"))
    var key = TrustServerKey.Kind.rsa4096

    @Option(help: ArgumentHelp("The folder for private files.", valueName: "folder"), completion: .directory)
    var data = "data"

    @Option(help: ArgumentHelp("The folder for public files.", valueName: "folder"), completion: .directory)
    var folder = "output"

    @Option(help: ArgumentHelp("How long the certificate is valid.", valueName: "years"))
    var years = 20

    @OptionGroup
    var printing: PrintOptions

    private struct Report: Encodable {
        let customer: String
        let certificate: String
        let key: String
        let domains: String
    }

    func validate() throws {
        do throws(SigningError) {
            try TrustServerKey.requireCustomer(customer)
        } catch {
            throw ValidationError("--customer: \(error)")
        }
        guard (1...100).contains(years) else { throw ValidationError("--years must be 1 to 100, not \(years).") }
    }

    func run() throws {
        let files = TrustServerFiles(customer: customer, data: data, output: folder)
        try files.requireAbsenceOfKey()
        let key: TrustServerKey
        do throws(SigningError) {
            key = try TrustServerKey(
                customer: customer, kind: self.key, at: SystemWallClock().now,
                lifetime: .seconds(years * 31_557_600))
        } catch {
            throw CommandFailure(.notSigned, "\(error)")
        }
        try files.write(key)
        let report = Report(
            customer: customer, certificate: key.certificate.base64EncodedString(), key: files.key.path,
            domains: files.domains.path)
        try printing.print(report) { standard in
            standard.complainAsIs(
                "The private key is \(report.key). Anyone who has it can sign pins for \(customer): keep it, and a copy "
                    + "of it, where nobody else can get it.\n"
                    + "Put the hosts into \(report.domains), one HOST:PORT per line. Configure the app with this "
                    + "certificate (trustServerCertificate):")
            standard.line(report.certificate)
        }
    }
}

extension TrustServerKey.Kind: ExpressibleByArgument {}
