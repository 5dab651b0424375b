package import Foundation
import Holdfast

/// Certificates and keys in a file of an operator: one in DER, or PEM blocks with any text around them, as openssl
/// writes them.
package enum PEMFile {
    /// Maximum numbers of bytes and blocks, enough for any list of authorities.
    private static let (maximumSize, maximumCount) = (16 << 20, 1_000)

    /// The certificates of a file.
    /// - Parameters:
    ///   - bytes: its content.
    ///   - name: the name of the file in errors.
    ///   - code: the code of errors.
    /// - Returns: DER of at least one certificate.
    /// - Throws: ``ServerError`` for a file without certificates, and for a block that is invalid or has no end.
    package static func certificates(
        _ bytes: [UInt8], named name: String, failing code: ServerError.Code = .invalidValue
    ) throws(ServerError) -> [[UInt8]] {
        let found = bytes.first == 0x30 ? [bytes] : try blocks("CERTIFICATE", of: bytes, named: name, failing: code)
        for (index, der) in found.enumerated() where (try? X509Certificate(der: der)) == nil {
            throw wrong(code, name, "certificates", "that number \(index + 1) is none")
        }
        return found
    }

    /// The blocks of a label (RFC 7468 2).
    /// - Parameters:
    ///   - label: such as `CERTIFICATE`.
    ///   - bytes: the content of a file.
    ///   - name: the name of the file in errors.
    ///   - code: the code of errors.
    /// - Returns: at least one block.
    /// - Throws: ``ServerError``.
    package static func blocks(
        _ label: String, of bytes: [UInt8], named name: String, failing code: ServerError.Code = .invalidValue
    ) throws(ServerError) -> [[UInt8]] {
        let (begin, end) = ("-----BEGIN \(label)-----", "-----END \(label)-----")
        var blocks: [[UInt8]] = []
        var text: [UInt8]?
        for line in bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            if line.elementsEqual(begin.utf8) {
                guard text == nil else { throw wrong(code, name, end, "another \(begin)") }
                text = []
            } else if line.elementsEqual(end.utf8) {
                guard let base64 = text, let der = Data(base64Encoded: Data(base64)), !der.isEmpty else {
                    throw wrong(code, name, "Base64 between \(begin) and \(end)", "something else")
                }
                guard blocks.count < maximumCount else {
                    throw wrong(code, name, "at most \(maximumCount) blocks", "more")
                }
                blocks.append(Array(der))
                text = nil
            } else {
                text?.append(contentsOf: line)
            }
        }
        // Reject a truncated file: a certificate would be missing without an error.
        guard text == nil else { throw wrong(code, name, end, "the end of the file") }
        guard !blocks.isEmpty else {
            let what = label.lowercased()
            throw wrong(
                code, name, "a \(what) in PEM", "no \(what)",
                label == "PUBLIC KEY" ? "Give a public key or a certificate request, a whole file in PEM or DER." : nil)
        }
        return blocks
    }

    private static func wrong(
        _ code: ServerError.Code, _ name: String, _ expected: String, _ found: String, _ remedy: String? = nil
    ) -> ServerError {
        ServerError(
            code, of: name, expected: expected, found: found,
            remedy: remedy ?? "Give a whole file in PEM, or a certificate in DER.")
    }

    /// The certificates of a file.
    /// - Throws: ``ServerError`` `file`.
    package static func certificates(at file: URL) throws(ServerError) -> [[UInt8]] {
        try certificates(bytes(at: file), named: file.path, failing: .file)
    }

    /// The blocks of a label in a file.
    /// - Throws: ``ServerError`` `file`.
    package static func blocks(_ label: String, at file: URL) throws(ServerError) -> [[UInt8]] {
        try blocks(label, of: bytes(at: file), named: file.path, failing: .file)
    }

    /// The content of a file, also through a symbolic link.
    /// - Throws: ``ServerError`` `file`, also if the file does not exist.
    package static func bytes(at file: URL) throws(ServerError) -> [UInt8] {
        guard let bytes = try WholeFile.read(file, limit: maximumSize, followingLinks: true) else {
            throw ServerError(.file, of: file.path, expected: "a file", found: "none")
        }
        return bytes
    }
}
