import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning

/// A file with a role's key.
struct RepositoryKeyFile {
    let path: String

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

    /// Reads the public key from a file with a public or a private key. A private key is returned too, so that it can
    /// sign at once.
    func either(_ passwords: PasswordOptions) throws(CommandFailure) -> (TUFPublicKey, TUFSigningKey?) {
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
