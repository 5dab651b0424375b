import ArgumentParser
import Holdfast
import HoldfastSigning

/// `holdfastctl export`
struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Print the public key of a private key that signs pins.",
        discussion: """
            Prints Base64 of the X9.63 form, 65 octets: what CertStoreConfiguration(publicKey:) and verify take.

            EXAMPLES
              holdfastctl export --key signer.pem
              holdfastctl export --key signer.pem --password-file secret.txt > signer.pub

            Exit codes: 0 success, 2 wrong usage, 3 the key could not be read.

            With --json one object is printed: publicKey.
            """)

    @OptionGroup
    var key: KeyOptions

    @Flag(help: "Print JSON instead of text.")
    var json = false

    func run() async throws {
        let text = try key.read().publicKey.base64
        if json { try Output.standard.json(["publicKey": text]) } else { Output.standard.line(text) }
    }
}

/// `holdfastctl export-private`
struct ExportPrivateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export-private",
        abstract: "Print the private key itself, for a server that signs.",
        discussion: """
            Prints what WultraSSLPinning's tool prints and its server takes: Base64 of the key's number as a signed \
            big-endian integer, 31 to 33 octets. Whoever reads it can sign pins: let it go into a pipe or a file of \
            yours alone, not onto a screen.

            EXAMPLES
              holdfastctl export-private --key signer.pem --password-file secret.txt | server-setup
              (umask 077; holdfastctl export-private --key signer.pem > signer.number)

            Exit codes: 0 success, 2 wrong usage, 3 the key could not be read.
            """)

    @OptionGroup
    var key: KeyOptions

    func run() async throws { Output.standard.line(try key.read().exportedPrivateKey) }
}
