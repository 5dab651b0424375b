public import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
public import HoldfastSigning

/// `holdfastctl keygen`
struct KeygenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keygen",
        abstract: "Make the private key that signs pins, or the backup key of a server.",
        usage: """
            holdfastctl keygen --output <file> [<options>]
            holdfastctl keygen --tls <name> --output <file> [<options>]
            """,
        discussion: """
            Makes a P-256 key and writes it as PKCS #8 in PEM, encrypted with a password (PBES2, AES-128-CBC, PBKDF2 \
            with HMAC-SHA-256), which openssl and WultraSSLPinning's tool read as well. The command asks for the \
            password unless an option names it. The file is created with mode 0600, and an existing file is never \
            overwritten. With -o - the private key goes to standard output, and the public key to standard error.

            The public key, Base64 of its X9.63 form, goes into the app: CertStoreConfiguration(publicKey:).

            With --kind ed25519 it makes an Ed25519 key, for the roles of a repository (holdfastctl repository); the \
            public key is Base64 of its 32 octets. Lists are signed only with P-256.

            With --tls it makes a backup key for a server, for the day when the key in use is lost. Beside the key it \
            writes the request (PKCS #10) with which an authority makes a certificate for it, and it prints the key's \
            pin, which clients need long before that day. Keep the key and the request where the server cannot lose \
            them.

            EXAMPLES
              holdfastctl keygen -o signer.pem
              holdfastctl keygen -o signer.pem --password-file secret.txt
              holdfastctl keygen -o signer.pem --password-fd 3 3< <(pass show signer)
              holdfastctl keygen -o test.pem --no-password
              holdfastctl keygen --kind ed25519 -o offline.pem > offline.pub
              holdfastctl keygen --tls www.example.com -o backup.key
              holdfastctl keygen --tls '*.example.com' --tls example.com -o backup.key \\
                --request backup.csr

            Exit codes: 0 success, 2 wrong usage, 3 the file could not be written.

            With --json one object is printed: file, encrypted, and publicKey with keyID, under which a repository lists \
            the key, or with --tls request and pin.
            """)

    @Option(
        help: ArgumentHelp(
            "Make a backup key of the server with this name, and a request for a certificate. Repeatable.",
            valueName: "name"),
        transform: { text in CheckedArgument { try HostPattern(text) } })
    var tls: [CheckedArgument<HostPattern>] = []

    @Option(
        help: ArgumentHelp(
            "The file of the request; by default beside the key, with the ending .csr.", valueName: "file"),
        completion: .file(extensions: ["csr"]))
    var request: String?

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The file to create.", valueName: "file"),
        completion: .file(extensions: ["pem"]))
    var output: String

    @Option(
        help: ArgumentHelp("The kind of key: p-256, or ed25519, which is only for a repository.", valueName: "kind"))
    var kind = TUFSigningKey.Kind.p256

    @Flag(name: .customLong("no-password"), help: "Write the key without encryption.")
    var withoutPassword = false

    @OptionGroup(title: "Password")
    var password: PasswordOptions

    @OptionGroup
    var printing: PrintOptions

    private struct Report: Encodable {
        let file: String
        var publicKey: String?
        var keyID: String?
        var request: String?
        var pin: String?
        let encrypted: Bool
    }

    func validate() throws {
        guard !(printing.json && output == InputFile.standard) else {
            throw ValidationError("--json goes with a file, not with -o -.")
        }
        guard !withoutPassword || password.isEmpty else {
            throw ValidationError("--no-password goes without the other options of passwords.")
        }
        guard kind == .p256 || tls.isEmpty else {
            throw ValidationError("Keys of servers are of p-256.")
        }
        guard !tls.isEmpty else {
            guard request == nil else { throw ValidationError("--request goes with --tls.") }
            return
        }
        for name in tls { try name.validate("--tls") }
        do throws(SigningError) {
            _ = try CertificateRequestDraft(names: tls.compactMap(\.value))
        } catch {
            throw ValidationError("--tls: \(error)")
        }
        guard request != nil || output != InputFile.standard else {
            throw ValidationError("With -o - say where the request goes: --request FILE.")
        }
        guard request != InputFile.standard, requestFile != output else {
            throw ValidationError("--request is a file of its own.")
        }
    }

    /// The file of the request; by default next to the key.
    private var requestFile: String {
        request ?? URL(fileURLWithPath: output).deletingPathExtension().appendingPathExtension("csr").relativePath
    }

    func run() async throws {
        let file = KeyFile(path: output)
        // Check this before asking for a password.
        try file.requireAbsence()
        if !tls.isEmpty { try KeyFile(path: requestFile).requireAbsence() }
        guard kind == .p256 else { return try makeRepositoryKey(file) }
        let key = SigningKey()
        let pem: String
        if withoutPassword {
            pem = key.pem
        } else {
            pem = try key.pem(password: try password.password(for: output, repeating: true))
        }
        let publicKey = try key.publicKey.base64
        try file.create(pem)
        guard !tls.isEmpty else {
            let id = try TUFPublicKey(Data(publicKey.utf8)).id
            return try tell(
                Report(file: output, publicKey: publicKey, keyID: id, encrypted: !withoutPassword), publicKey)
        }
        let pin = try key.pinText
        let draft = try CertificateRequestDraft(names: tls.compactMap(\.value))
        do {
            try KeyFile(path: requestFile).create(try draft.pem(signedBy: key))
        } catch {
            // A key without its request would stop the next attempt.
            if output != InputFile.standard { try? FileManager.default.removeItem(atPath: output) }
            throw error
        }
        try tell(Report(file: output, request: requestFile, pin: pin, encrypted: !withoutPassword), pin)
    }

    /// Makes a key of a kind that can sign only repositories.
    private func makeRepositoryKey(_ file: KeyFile) throws {
        let key = TUFSigningKey(kind)
        let pem = withoutPassword ? key.pem : try key.pem(password: try password.password(for: output, repeating: true))
        guard let pem, let publicKey = key.publicKeyText else {
            throw CommandFailure(.notSigned, "no key could be made")
        }
        try file.create(pem)
        try tell(
            Report(file: output, publicKey: publicKey, keyID: key.publicKey.id, encrypted: !withoutPassword),
            publicKey)
    }

    private func tell(_ report: Report, _ text: String) throws {
        try printing.print(report) { standard in
            // If the private key goes to standard output, nothing else may.
            if output == InputFile.standard { standard.complainAsIs(text) } else { standard.line(text) }
        }
    }
}

extension TUFSigningKey.Kind: ExpressibleByArgument {}
