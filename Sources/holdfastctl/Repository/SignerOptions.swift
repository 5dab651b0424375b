import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
import HoldfastPublishing
import HoldfastSigning

/// Keys that are not in files, for every verb that signs.
struct SignerOptions: ParsableArguments {
    @Option(
        name: .customLong("signer-command"),
        help: ArgumentHelp(
            "A program that signs, with its arguments: it reads the bytes on standard input and prints the signature. No "
                + "shell reads this; quotes keep blanks together. Repeatable.", valueName: "command"))
    var signerCommand: [String] = []

    @Option(
        name: .customLong("signer-key"),
        help: ArgumentHelp(
            "The public key of that program: a file, its name, or the beginning of its id. You may omit it if there is only one "
                + "key that could sign; otherwise give it once for each command, in their order.", valueName: "key"),
        completion: .file())
    var signerKey: [String] = []

    @Option(
        name: .customLong("signer-timeout"),
        help: ArgumentHelp("How long the program may take for one signature.", valueName: "span"),
        transform: TimeSpan.read)
    var signerTimeout = TimeSpan(seconds: 120)

    var isEmpty: Bool { signerCommand.isEmpty }

    func validate() throws {
        guard signerCommand.allSatisfy({ SignerProgram.words($0) != nil }) else {
            throw ValidationError("--signer-command names a program and its arguments, and closes each quote.")
        }
        guard signerKey.isEmpty || signerKey.count == signerCommand.count else {
            throw ValidationError("Give --signer-key once for each --signer-command.")
        }
        try signerTimeout.validate("--signer-timeout", TimeSpan(seconds: 1)...TimeSpan.days(1))
    }

    /// The keys of the external signing programs.
    /// - Parameter known: the keys that could sign.
    func keys(among known: [TUFPublicKey]) throws(CommandFailure) -> [TUFSigningKey] {
        var keys: [TUFSigningKey] = []
        for (index, text) in signerCommand.enumerated() {
            let program: SignerProgram
            do throws(PublishingError) {
                program = try SignerProgram(
                    SignerProgram.words(text) ?? [], limit: .seconds(signerTimeout.seconds))
            } catch {
                throw CommandFailure(.wrongUsage, "\(error)")
            }
            let key = try signerKey.isEmpty ? Self.only(of: known) : Self.key(signerKey[index], among: known)
            keys.append(TUFSigningKey(publicKey: key) { try program.signature(for: $0) })
        }
        return keys
    }

    private static func only(of known: [TUFPublicKey]) throws(CommandFailure) -> TUFPublicKey {
        guard let key = known.first, known.count == 1 else {
            let ids = known.map { String($0.id.prefix(12)) }.joined(separator: ", ")
            throw CommandFailure(
                .wrongUsage,
                "say with --signer-key which key the program signs with"
                    + (known.isEmpty ? ": there is none here" : ", one of \(SafeText.escapedLine(ids))"))
        }
        return key
    }

    private static func key(_ text: String, among known: [TUFPublicKey]) throws(CommandFailure) -> TUFPublicKey {
        let found: [TUFPublicKey]
        if text == InputFile.standard || FileManager.default.fileExists(atPath: text) {
            let content = try KeyFile.content(of: text)
            guard content.range(of: Data("PRIVATE KEY".utf8)) == nil else {
                throw CommandFailure(
                    .unreadableFile,
                    "--signer-key \(text): expected a public key, found a private one. Give the public one: "
                        + "`openssl pkey -in \(SafeText.shellWord(text)) -pubout -out public.pem` writes it.")
            }
            let given: TUFPublicKey
            do throws(SigningError) {
                given = try TUFPublicKey(content)
            } catch {
                throw CommandFailure(.unreadableFile, "\(text): \(error)")
            }
            found = known.filter { $0.isSameKey(as: given) }
        } else {
            let named = known.filter { $0.name?.hasSameOctets(as: text) ?? false }
            found =
                named.isEmpty && text.utf8.count >= 8 ? known.filter { $0.id.utf8.starts(with: text.utf8) } : named
        }
        guard let key = found.first, found.count == 1 else {
            throw CommandFailure(
                .wrongUsage,
                "--signer-key \(text.quoted) names \(found.isEmpty ? "no key" : "several keys") that could sign: give a "
                    + "file with a public key of the role, or eight digits or more of the id that the status shows")
        }
        return key
    }
}
