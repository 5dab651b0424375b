import ArgumentParser
import Holdfast
import HoldfastSigning

/// `holdfastctl keygen`
struct KeygenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keygen",
        abstract: "Make the private key that signs pins, and print its public key.",
        usage: "holdfastctl keygen --output <file> [<options>]",
        discussion: """
            Makes a P-256 key and writes it as PKCS #8 in PEM, encrypted with a password (PBES2, AES-128-CBC, PBKDF2 \
            with HMAC-SHA-256), which openssl and WultraSSLPinning's tool read as well. The password is asked for \
            unless an option names it. The file is made with mode 0600; one that is there already is never overwritten. \
            With -o - the private key goes to standard output, and the public key to standard error.

            The public key, Base64 of its X9.63 form, goes into the app: CertStoreConfiguration(publicKey:).

            EXAMPLES
              holdfastctl keygen -o signer.pem
              holdfastctl keygen -o signer.pem --password-file secret.txt
              holdfastctl keygen -o signer.pem --password-fd 3 3< <(pass show signer)
              holdfastctl keygen -o test.pem --no-password

            Exit codes: 0 success, 2 wrong usage, 3 the file could not be made.

            With --json one object is printed: file, publicKey, encrypted.
            """)

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The file to make.", valueName: "file"),
        completion: .file(extensions: ["pem"]))
    var output: String

    @Flag(name: .customLong("no-password"), help: "Write the key without encryption.")
    var withoutPassword = false

    @OptionGroup(title: "Password")
    var password: PasswordOptions

    @Flag(help: "Print JSON instead of text.")
    var json = false

    private struct Report: Encodable {
        let file: String
        let publicKey: String
        let encrypted: Bool
    }

    func validate() throws {
        guard !(json && output == InputFile.standard) else {
            throw ValidationError("--json goes with a file, not with -o -.")
        }
        guard !withoutPassword || password.isEmpty else {
            throw ValidationError("--no-password goes without the other options of passwords.")
        }
    }

    func run() async throws {
        let file = KeyFile(path: output)
        // Before anybody thinks of a password.
        try file.requireAbsence()
        let key = SigningKey()
        let pem: String
        if withoutPassword {
            pem = key.pem
        } else {
            pem = try key.pem(password: try password.password(for: output, repeating: true))
        }
        let publicKey = try key.publicKey.base64
        try file.create(pem)
        if json {
            try Output.standard.json(Report(file: output, publicKey: publicKey, encrypted: !withoutPassword))
        } else {
            // With `-` the private key goes to standard output, and nothing else may.
            if output == InputFile.standard {
                Output.standard.complainAsIs(publicKey)
            } else {
                Output.standard.line(publicKey)
            }
        }
    }
}
