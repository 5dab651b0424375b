import Foundation
import HoldfastTesting

/// The files with the certificate and the key of a listener.
struct ListenerFiles: Sendable {
    let chain: URL
    let key: URL

    init(_ folder: URL) {
        (chain, key) = (folder.appending(path: "chain.pem"), folder.appending(path: "key.pem"))
    }

    /// Replaces both.
    /// - Returns: DER of the certificate.
    @discardableResult
    func install(_ authority: TestAuthority) throws -> [UInt8] {
        let leaf = try authority.leaf(names: [.dns("localhost")])
        try Data(leaf.chainPEM.utf8).write(to: chain)
        try Data(leaf.key.privateKeyPEM.utf8).write(to: key)
        return leaf.der
    }
}
