import ArgumentParser
import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning

/// The private keys that sign, for every verb that signs.
struct RepositoryKeyOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "A private key that signs, in PEM, encrypted or not. Repeatable.", valueName: "file"),
        completion: .file(extensions: ["pem", "key"]))
    var key: [String] = []

    @OptionGroup(title: "Keys that are not in files")
    var signer: SignerOptions

    @OptionGroup(title: "Password")
    var password: PasswordOptions

    var isEmpty: Bool { key.isEmpty && signer.isEmpty }

    /// Reads the keys that are in files.
    func read() throws(CommandFailure) -> [TUFSigningKey] {
        var keys: [TUFSigningKey] = []
        for path in key { keys.append(try RepositoryKeyFile(path: path).signing(password)) }
        return keys
    }
}

extension RepositoryKeyOptions {
    /// The keys of root and targets: those in files, and those of external programs.
    func signers(_ files: [TUFSigningKey], of state: TUFRepositoryState) throws(CommandFailure) -> [TUFSigningKey] {
        files + (try signer.keys(among: state.publicKeys(of: [.root, .targets])))
    }

    /// The online keys, likewise.
    func onlineSigners(
        _ files: [TUFSigningKey], of state: TUFRepositoryState
    ) throws(CommandFailure) -> [TUFSigningKey] {
        files + (try signer.keys(among: state.publicKeys(of: [.snapshot, .timestamp])))
    }
}
