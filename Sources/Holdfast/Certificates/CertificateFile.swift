import SwiftASN1

public import struct Foundation.Data
public import struct Foundation.URL

/// Reads certificates from files: DER, or PEM (RFC 7468) with any number of certificates and other blocks and text
/// between them.
public enum CertificateFile {
    /// The largest file that is read: the system stores of today hold 200 to 700 kB.
    public static let maximumBytes = 8 << 20

    /// Reads every certificate of a file.
    /// - Parameter url: a file, DER or PEM.
    /// - Returns: the certificates in the order of the file; empty for a PEM file that holds other blocks only.
    /// - Throws: ``CertificateFileError`` naming the file.
    public static func read(_ url: URL) throws(CertificateFileError) -> [X509Certificate] {
        let data: Data
        do {
            let size = try url.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
            guard size <= maximumBytes else {
                throw CertificateFileError(
                    .tooLarge, file: url.path, expected: "at most \(maximumBytes) bytes", found: "\(size)")
            }
            data = try Data(contentsOf: url)
        } catch let error as CertificateFileError {
            throw error
        } catch {
            throw CertificateFileError(
                .unreadable, file: url.path, expected: "a file that can be read", found: "\(error.localizedDescription)"
            )
        }
        return try certificates(in: data, named: url.path)
    }

    /// Reads every certificate of a file's content.
    /// - Parameters:
    ///   - data: DER or PEM.
    ///   - name: what errors call the content.
    /// - Returns: the certificates in order; empty for PEM that holds other blocks only.
    /// - Throws: ``CertificateFileError`` naming the content.
    public static func certificates(
        in data: Data, named name: String
    ) throws(CertificateFileError) -> [X509Certificate] {
        guard data.count <= maximumBytes else {
            throw CertificateFileError(
                .tooLarge, file: name, expected: "at most \(maximumBytes) bytes", found: "\(data.count)")
        }
        var found: [X509Certificate] = []
        for der in try blocks(of: data, named: name) {
            do throws(CertificateError) {
                found.append(try X509Certificate(der: der))
            } catch {
                throw CertificateFileError(
                    .notACertificate, file: name, expected: "certificate \(found.count + 1) to be \(error.expected)",
                    found: error.found)
            }
        }
        return found
    }

    /// DER of each certificate, not read any further.
    static func blocks(of data: Data, named name: String) throws(CertificateFileError) -> [[UInt8]] {
        guard data.range(of: Data("-----BEGIN ".utf8)) != nil, data.first != DERTag.sequence else {
            return [Array(data)]
        }
        guard let text = String(data: data, encoding: .utf8) else {
            throw CertificateFileError(.invalidPEM, file: name, expected: "PEM in UTF-8", found: "other octets")
        }
        do {
            return try PEMDocument.parseMultiple(pemString: text)
                .filter { $0.discriminator == "CERTIFICATE" || $0.discriminator == "X509 CERTIFICATE" }
                .map(\.derBytes)
        } catch {
            throw CertificateFileError(.invalidPEM, file: name, expected: "PEM blocks (RFC 7468)", found: "\(error)")
        }
    }
}

/// Why a file of certificates cannot be used.
public struct CertificateFileError: HoldfastError {
    /// The closed set of reasons.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// The file cannot be opened or read.
        case unreadable
        /// The file is larger than any file of certificates.
        case tooLarge
        /// PEM whose blocks cannot be decoded.
        case invalidPEM
        /// A certificate in the file cannot be read.
        case notACertificate
    }

    /// The reason.
    public let code: Code
    /// The file, as it was given.
    public let file: String
    /// What would have been accepted.
    public let expected: String
    /// What was there instead.
    public let found: String

    /// States what is wrong with a file.
    public init(_ code: Code, file: String, expected: String, found: String) {
        self.code = code
        self.file = file
        self.expected = expected
        self.found = found
    }

    /// What to do about it.
    public var remedy: String {
        switch code {
        case .unreadable: "Check the path and the permissions of \(file)."
        case .tooLarge: "Name a file of certificates; \(file) is none."
        case .invalidPEM, .notACertificate:
            "Replace or remove \(file); openssl x509 -in FILE -text shows what it holds."
        }
    }
}
