package import Foundation
package import Holdfast

/// Revocation lists from files: DER, or PEM with any number of them.
package struct RevocationLists: Sendable {
    /// Maximum size of such a file in bytes.
    package static let maximumBytes = CertificateRevocationList.maximumBytes

    /// The lists, in the order of the files.
    package private(set) var lists: [CertificateRevocationList] = []

    /// No lists.
    package init() {}

    /// Adds the lists of a file.
    /// - Parameter path: the file's name for messages.
    /// - Throws: ``PublishingError`` `unreadable` if the file has no list, or one that cannot be read.
    package mutating func add(_ data: Data, named path: String) throws(PublishingError) {
        let isPEM = data.range(of: Data("-----BEGIN ".utf8)) != nil
        let blocks =
            isPEM ? PEMBlocks.read(data).filter { $0.label == "X509 CRL" }.map(\.content) : [.success([UInt8](data))]
        guard !blocks.isEmpty else { throw Self.unreadable(path, "other PEM blocks only") }
        for block in blocks {
            switch block {
            case .failure(let problem): throw Self.unreadable(path, problem.text)
            case .success(let der):
                do throws(CertificateError) {
                    lists.append(try CertificateRevocationList(der: der))
                } catch {
                    throw Self.unreadable(path, "\(error)")
                }
            }
        }
    }

    private static func unreadable(_ path: String, _ found: String) -> PublishingError {
        PublishingError(
            .unreadable, of: path, expected: "a revocation list", found: found, remedy: "Get it again from its issuer.")
    }
}
