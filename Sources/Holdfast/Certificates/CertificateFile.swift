package import Foundation

/// Reads certificates from files: DER, or PEM (RFC 7468) with any number of certificates and other blocks and text
/// between them.
package enum CertificateFile {
    /// The maximum size of a file. Today's system stores have 200 to 700 kB.
    package static let maximumBytes = 8 << 20

    /// Reads every certificate of a file.
    /// - Parameter url: a file, DER or PEM.
    /// - Returns: the certificates in the order of the file; empty for a PEM file that contains only other blocks.
    /// - Throws: ``CertificateFileError`` naming the file.
    package static func read(_ url: URL) throws(CertificateFileError) -> [X509Certificate] {
        try certificates(in: try content(of: url), named: url.path)
    }

    /// The bytes of a file.
    static func content(of url: URL) throws(CertificateFileError) -> Data {
        do {
            return try AtomicFile.read(url, maximumBytes: maximumBytes)
        } catch CocoaError.fileReadTooLarge {
            throw tooLarge(url.path)
        } catch {
            throw CertificateFileError(
                .unreadable, file: url.path, expected: "a file that can be read",
                found: AtomicFile.reason(error, at: url.path))
        }
    }

    private static func tooLarge(_ name: String) -> CertificateFileError {
        CertificateFileError(.tooLarge, file: name, expected: "at most \(maximumBytes) bytes", found: "more")
    }

    /// Reads every certificate of a file's content.
    /// - Parameters:
    ///   - data: DER or PEM.
    ///   - name: the name of the content in errors.
    /// - Returns: the certificates in order; empty for PEM that contains only other blocks.
    /// - Throws: ``CertificateFileError`` naming the content.
    package static func certificates(
        in data: Data, named name: String
    ) throws(CertificateFileError) -> [X509Certificate] {
        guard data.count <= maximumBytes else { throw tooLarge(name) }
        var found: [X509Certificate] = []
        for (position, der) in blocks(of: data).enumerated() {
            found.append(try certificate(der, at: position, of: name))
        }
        return found
    }

    /// Reads one of the ``blocks(of:)`` of a file as a certificate.
    static func certificate(
        _ block: Result<[UInt8], PEMBlocks.Problem>, at position: Int, of name: String
    ) throws(CertificateFileError) -> X509Certificate {
        let der: [UInt8]
        switch block {
        case .success(let content): der = content
        case .failure(let problem):
            throw CertificateFileError(
                .invalidPEM, file: name,
                expected:
                    "certificate \(position + 1) in PEM (RFC 7468) with \(problem.expected) in line \(problem.line)",
                found: problem.found)
        }
        do throws(CertificateError) {
            return try X509Certificate(der: der)
        } catch {
            throw CertificateFileError(
                .notACertificate, file: name,
                expected: "certificate \(position + 1) of the file to be readable, with \(error.expected)",
                found: error.found)
        }
    }

    /// The DER of each certificate, not parsed, or the problem of a PEM block that cannot be decoded.
    static func blocks(of data: Data) -> [Result<[UInt8], PEMBlocks.Problem>] {
        guard data.range(of: Data("-----BEGIN ".utf8)) != nil, !isDER(data) else { return [.success(Array(data))] }
        return PEMBlocks.read(data).filter { $0.kind == .certificate }.map(\.content)
    }

    /// Whether it is exactly one element of DER. The first byte alone is not enough: text can begin with `0` too.
    private static func isDER(_ data: Data) -> Bool {
        var reader = DERReader(Array(data))
        return (try? reader.next(DERTag.sequence)) != nil && reader.isAtEnd
    }
}

/// The reason why a file of certificates cannot be used.
public struct CertificateFileError: HoldfastError {
    /// The reasons, a set that may grow.
    public typealias Code = OpenCode<CertificateFileError>

    /// The reason.
    public let code: Code
    /// The file, as it was given.
    public let file: String
    /// The expected and the found value, and the remedy.
    public let facts: ErrorFacts

    /// States the error of a file.
    package init(_ code: Code, file: String, expected: String, found: String) {
        self.code = code
        self.file = file
        facts = ErrorFacts(expected: expected, found: found, remedy: Self.remedy(for: code, at: file))
    }

    private static func remedy(for code: Code, at file: String) -> String {
        switch code {
        case .unreadable: "Check the path and the permissions of \(file)."
        case .tooLarge: "Name a file that contains certificates; \(file) is too large to be one."
        default: "Replace or remove \(file); openssl x509 -in FILE -text shows what it holds."
        }
    }
}

extension CertificateFileError.Code {
    /// The file cannot be opened or read.
    public static var unreadable: Self { Self() }
    /// The file is larger than any file of certificates.
    public static var tooLarge: Self { Self() }
    /// PEM whose blocks cannot be decoded.
    public static var invalidPEM: Self { Self() }
    /// A certificate in the file cannot be read.
    public static var notACertificate: Self { Self() }
}
