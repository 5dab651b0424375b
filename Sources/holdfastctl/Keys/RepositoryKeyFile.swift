import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning

/// A file with a role's key, and the name of its holder.
struct RepositoryKeyFile {
    let path: String
    /// The holder of the key; nil if the argument names no one.
    private(set) var name: String?

    init(path: String) { self.path = path }

    /// - Parameter argument: `FILE`, or `NAME=FILE`. A file whose own name has an equals sign is that file.
    init(named argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].contains("/"), !FileManager.default.fileExists(atPath: argument) else {
            self.init(path: argument)
            return
        }
        self.init(path: String(parts[1]))
        name = String(parts[0])
    }

    static let help = "With NAME=FILE, the root says who holds the key."

    /// Reads the private key, and asks for its password if it is encrypted.
    func signing(_ passwords: PasswordOptions) throws(CommandFailure) -> TUFSigningKey {
        let data = try KeyFile.content(of: path)
        try ForeignFile(data, path: path).refuse(wanting: .privateKey)
        let text = String(decoding: data, as: UTF8.self)
        KeyFile.warnIfLoose(path)
        do throws(SigningError) {
            return try TUFSigningKey(pem: text)
        } catch  where error.code == .passwordNeeded {
            let password = try passwords.password(for: path)
            do throws(SigningError) {
                return try TUFSigningKey(pem: text, password: password)
            } catch {
                throw CommandFailure(.unreadableFile, "\(path): \(error)")
            }
        } catch {
            throw CommandFailure(.unreadableFile, "\(path): \(error)")
        }
    }

    /// Reads the public key, with its name, from a file with a public or a private key. A private key is returned too, so
    /// that it can sign at once.
    func either(_ passwords: PasswordOptions) throws(CommandFailure) -> (TUFPublicKey, TUFSigningKey?) {
        let (key, signer) = try unnamed(passwords)
        guard let name else { return (key, signer) }
        do throws(SigningError) {
            return (try key.named(name), signer)
        } catch {
            throw CommandFailure(.wrongUsage, "\(error)")
        }
    }

    private func unnamed(_ passwords: PasswordOptions) throws(CommandFailure) -> (TUFPublicKey, TUFSigningKey?) {
        let data = try KeyFile.content(of: path)
        guard data.range(of: Data("PRIVATE KEY".utf8)) == nil else {
            let key = try signing(passwords)
            return (key.publicKey, key)
        }
        do throws(SigningError) {
            return (try TUFPublicKey(data), nil)
        } catch {
            throw CommandFailure(.unreadableFile, "\(path): \(error)")
        }
    }
}
