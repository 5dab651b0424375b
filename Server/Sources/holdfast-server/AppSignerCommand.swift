import ArgumentParser
import Foundation
import Holdfast
import PinPublication
import ServerApprovals
import ServerFoundation
import ServerModel
import ServerStore

/// Sets a program that signs with a key that the server does not have.
struct AppSignerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signer", abstract: "Have a program sign for an app, with a key that the server does not have.",
        discussion: """
            The program gets what to sign and the approvals on standard input, verifies them, and prints the signature. \
            Server/Examples/verifying-signer.py is one. For a repository, name its keys before app repository init, or \
            once a root that names them is published.
            """)

    @OptionGroup var server: ServerOptions
    @OptionGroup var actor: ActorOption
    @Argument(help: "The app.")
    var app: String
    @Option(help: "fingerprints (lists and challenges), trust-server, snapshot or timestamp.")
    var purpose: String = "fingerprints"
    @Option(help: "The public key, as holdfastctl keygen or openssl prints it.", completion: .file())
    var publicKey: String?
    @Option(help: "For a trust server: the certificate of the key.", completion: .file())
    var certificate: String?
    @Option(help: "How many seconds the program may take for a signature.")
    var limit: Int64 = 10
    @Flag(help: "Replace a key that has signed: apps that know the old one refuse what this one signs.")
    var replace = false
    @Option(help: "The program: its whole path and its arguments; quotes keep blanks together.")
    var program: String

    func run() async throws {
        let name = try AppName(app)
        guard let purpose = SealedKey.Purpose(rawValue: purpose) else {
            throw ValidationError(
                "Say what the key is for: --purpose fingerprints, trust-server, snapshot or timestamp.")
        }
        guard (purpose == .trustServer) ? certificate != nil : publicKey != nil else {
            throw ValidationError("Give the --public-key, or for a trust server the --certificate.")
        }
        let program = try ProgramCommand(CommandValue.words(program), limit: limit)
        let der = try certificate.flatMap { try InputFile.certificates($0).first }
        let key =
            if let der {
                try Array(X509Certificate(der: der).subjectPublicKeyInfo)
            } else {
                try InputFile.publicKey(publicKey ?? "").subjectPublicKeyInfo
            }
        try await server.withServer { open in
            var generator = SystemRandomNumberGenerator()
            let place = try SealedKey.Place(
                server: open.configuration.server, app: name, id: "\(RandomID(using: &generator))", purpose: purpose)
            let done = try await open.publisher.addSigner(
                Catalog.Key(
                    program: program, at: place, publicKey: key, certificate: purpose == .trustServer ? der : nil),
                replacing: replace, by: actor.actor)
            for words in done.lost + [program.doubt].compactMap(\.self) { Terminal.complain(words) }
            for problem in done.problems { Terminal.complain("not there yet, and renew tries again: \(problem)") }
            // Clients are configured with this value.
            if purpose == .fingerprints { Terminal.line(Data(key.suffix(65)).base64EncodedString()) }
        }
    }
}
