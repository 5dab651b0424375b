import Foundation
import Holdfast

/// Finds the one private key of a PEM file.
struct PrivateKeyPEM {
    private static let maximumBytes = 65_536
    /// A header inside the block (RFC 1421 4.6.1.1); RFC 7468 allows none.
    private static let olderEncryption = Data("Proc-Type: 4,ENCRYPTED".utf8)

    let kind: PEMBlocks.Kind
    let der: [UInt8]

    /// - Throws: ``SigningError`` `notAKeyFile`, or `unsupportedEncryption` for OpenSSL's own format from before PKCS
    ///   #8.
    init(_ pem: String) throws(SigningError) {
        guard pem.utf8.count <= Self.maximumBytes else {
            throw Self.noKeyFile(expected: "at most \(Self.maximumBytes) bytes", found: "more")
        }
        let data = Data(pem.utf8)
        guard data.range(of: Self.olderEncryption) == nil else {
            throw SigningError(
                .unsupportedEncryption, expected: "PKCS #8 (BEGIN ENCRYPTED PRIVATE KEY)",
                found: "the older encryption of OpenSSL (Proc-Type: 4,ENCRYPTED)")
        }
        // `openssl ecparam -genkey` writes a block with the curve before the key. The key names the curve as well (RFC
        // 5915 3).
        let blocks = PEMBlocks.read(data).filter { $0.label != "EC PARAMETERS" }
        guard let block = blocks.first else {
            throw Self.noKeyFile(expected: "one private key in PEM", found: "no PEM block")
        }
        guard blocks.count == 1 else {
            throw Self.noKeyFile(
                expected: "one private key in PEM",
                found: "\(blocks.count) blocks, the second of \(blocks[1].name) from line \(blocks[1].line) on")
        }
        kind = block.kind
        switch block.content {
        case .success(let content): der = content
        case .failure(let problem):
            throw Self.noKeyFile(expected: "\(problem.expected) in line \(problem.line)", found: problem.found)
        }
    }

    /// The error for a block that is not a private key.
    static let otherLabel = noKeyFile(expected: "a private key in PEM", found: "a PEM file with another label")

    private static func noKeyFile(expected: String, found: String) -> SigningError {
        SigningError(.notAKeyFile, expected: expected, found: found)
    }
}
