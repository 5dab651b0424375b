import Crypto
package import Foundation
package import Holdfast

extension DocumentPublicKey {
    /// Reads the public key of a signer from a file: PEM, or Base64 of the X9.63 form.
    /// - Parameter path: the file's name for messages.
    package init(file: Data, path: String) throws(PublishingError) {
        try ForeignFile(file, path: path).check(wanting: .publicKey)
        guard file.range(of: Data("PRIVATE KEY".utf8)) == nil else {
            throw PublishingError(
                .invalidInput, of: path, expected: "a public key", found: "a private key",
                remedy: "Give the public one, which `holdfastctl export --key signer.pem` prints.")
        }
        do {
            guard let block = PEMBlocks.read(file).first(where: { $0.kind == .publicKey }) else {
                let text = String(decoding: file, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
                self = try DocumentPublicKey(base64: text)
                return
            }
            let key = try P256.Signing.PublicKey(derRepresentation: try block.content.get())
            self = try DocumentPublicKey(x963: Array(key.x963Representation))
        } catch let error as any HoldfastError {
            throw PublishingError(
                .invalidInput, of: path, expected: error.expected, found: error.found, remedy: error.remedy)
        } catch {
            throw PublishingError(
                .invalidInput, of: path, expected: "a public key on P-256",
                found: (error as? PEMBlocks.Problem)?.text ?? "a public key that is not on P-256",
                remedy: "Give the key that signs the list.")
        }
    }
}
