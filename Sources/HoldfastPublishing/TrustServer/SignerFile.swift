package import Foundation
package import Holdfast

/// The file with the certificate of a trust server's signer, as an app is built with it.
package enum SignerFile {
    /// Checks that a file has a signer's certificate, so that another file is not taken for a damaged document.
    /// - Throws: `DocumentError`.
    package static func check(_ data: Data) throws(DocumentError) { _ = try TrustServerSigner(certificate: data) }
}
