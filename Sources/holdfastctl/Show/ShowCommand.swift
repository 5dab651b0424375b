import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
import HoldfastPublishing
import HoldfastTUF

/// `holdfastctl show`
struct ShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Say what a document, key, request, chain or revocation list is and what it contains.",
        usage: "holdfastctl show <file | url> [<options>]",
        discussion: """
            Recognizes pin files, signed lists, responses to a challenge, trust servers' documents, metadata of The \
            Update Framework and bundles of it, and, in PEM or DER, certificates, requests, public and private keys \
            and revocation lists. For a private key it shows the kind and the pin, but no part of the secret.

            A signature is verified if its key is available: --public-key gives that of a list or a response, --signer that \
            of a trust server's document or of revocation lists; for certificates it is in the file itself or given by \
            --signer; --root gives that of metadata and bundles. A signature that was not verified proves nothing, and \
            is marked as such. To find out whether a client would accept the document, use check or verify.

            EXAMPLES
              holdfastctl show bank.pins.json
              holdfastctl show https://www.example.com/pins.json --public-key signer.pub
              holdfastctl show acme.json.signed --signer acme.crt
              holdfastctl show bundle.json --root 1.root.json
              holdfastctl show fullchain.pem
              openssl req -in new.csr | holdfastctl show -
              holdfastctl show --report report.json

            Exit codes: 0 shown, 1 a signature does not verify or is of an algorithm that is not supported, or the \
            document is of no known kind, 2 wrong usage, 3 it could not be read.

            With --json one object is printed: file, items (kind, signature (state: verified, invalid, \
            unsupported, unverified, unsigned; text), facts (name, value), certificate (as check has them), entries (as verify has them)), \
            absent where they do not apply.
            """)

    @Argument(
        help: ArgumentHelp(
            "A file, an https URL (with HTTPS_PROXY and NO_PROXY of the environment), or - for standard input.",
            valueName: "file | url"),
        completion: .file())
    var source: String

    @Option(
        name: .customLong("public-key"),
        help: ArgumentHelp("Of a list or an answer: " + PublicKeyArgument.help, valueName: "public"),
        completion: .file(), transform: { text in CheckedArgument { try PublicKeyArgument.key(text) } })
    var key: CheckedArgument<DocumentPublicKey>?

    @Option(
        help: ArgumentHelp("The certificates of the document's signer, PEM or DER.", valueName: "file"),
        completion: .file(extensions: ["pem", "crt", "cer", "der"]))
    var signer: String?

    @Option(
        help: ArgumentHelp("Of metadata and of a bundle: the root metadata that clients trust.", valueName: "file"),
        completion: .file(extensions: ["json"]))
    var root: String?

    @Option(help: ArgumentHelp("Of an answer: the challenge as it was sent.", valueName: "base64"))
    var challenge: String?

    @Option(help: ArgumentHelp("Of an answer: its header X-Cert-Pinning-Signature.", valueName: "base64"))
    var signature: String?

    @Option(
        help: ArgumentHelp(
            "For the server of a URL, trust the certificates in this file instead of the system's.", valueName: "file"),
        completion: .file(extensions: ["pem", "crt", "cer", "der"]))
    var ca: String?

    @Option(
        help: ArgumentHelp("Give up on a download after this time.", valueName: "span"), transform: TimeSpan.read)
    var timeout = TimeSpan(seconds: 10)

    @Flag(
        name: .customLong("report"),
        help: "The file is a client's report: show its chain beside the pins that the client knew.")
    var isReport = false

    @OptionGroup
    var printing: PrintOptions

    private struct Report: Encodable {
        let file: String
        let items: [ShownItem]
    }

    func validate() throws {
        try key?.validate("--public-key")
        try InputDocument.validate(source, "FILE")
        guard (challenge == nil) == (signature == nil), challenge == nil || key != nil else {
            throw ValidationError("--challenge, --signature and --public-key go together.")
        }
        try timeout.validate("--timeout", TimeSpan.timeouts)
    }

    func run() async throws {
        let input = try InputDocument(source)
        let data = try await input.content(
            maximumBytes: ShownDocument.maximumBytes, timeout: Int(timeout.seconds),
            through: ConnectionOptions.proxiesOfEnvironment
        ) { () async throws(CommandFailure) in try await ConnectionOptions.anchors(ca: ca) }
        guard !isReport else { return try tell(report(data, named: input.name), of: input.name) }
        try refuseUselessEvidence(of: data, named: input.name)
        var evidence = ShownDocument.Evidence()
        evidence.key = try key?.get()
        if let signer { evidence.signerCertificates = try InputFile.chain(of: signer).certificates }
        if let root { evidence.root = try InputFile.content(of: root, maximumBytes: TUFSettings.pythonTUF.rootBytes) }
        (evidence.challenge, evidence.signature) = (challenge, signature)
        try tell(
            ShownDocument(data, name: input.name, evidence: evidence, now: SystemWallClock().now).items(),
            of: input.name)
    }

    private func report(_ data: Data, named name: String) throws -> [ShownItem] {
        guard key == nil, signer == nil, root == nil else {
            throw CommandFailure(.wrongUsage, "nobody signs a client's report, and no key or certificate applies to it")
        }
        return try ShownClientReport(data, name: name, now: SystemWallClock().now).items()
    }

    private func tell(_ items: [ShownItem], of name: String) throws {
        let output = Output.standard
        if printing.json {
            try output.json(Report(file: name, items: items))
        } else {
            let told = printing.quiet ? items.filter { $0.signature?.isRefused == true } : items
            for (index, item) in told.enumerated() {
                if index > 0 { output.line() }
                item.print(to: output)
            }
        }
        if items.contains(where: { $0.signature?.isRefused == true }) { throw NegativeAnswer() }
    }

    /// Refuses options that do not apply to the document.
    private func refuseUselessEvidence(of data: Data, named name: String) throws(CommandFailure) {
        let kind = DocumentKind(data)
        let uses: [(option: String, isGiven: Bool, kinds: [DocumentKind])] = [
            ("--public-key", key != nil, [.signedList, .listEntry, .challengeAnswer]),
            ("--challenge", challenge != nil, [.challengeAnswer]),
            ("--signer", signer != nil, [.trustServerDocument, .pem, .der]),
            ("--root", root != nil, [.metadata, .bundle]),
        ]
        for use in uses where use.isGiven && !use.kinds.contains(kind) {
            throw CommandFailure(
                .wrongUsage, "\(name) looks like \(kind.description), and \(use.option) does not apply to it")
        }
    }
}
