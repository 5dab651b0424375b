import Foundation
import Holdfast

/// Certificates by domain, in a property list that is replaced as a whole: a reader finds either the old list or the
/// new one, never part of one.
struct PinnedCertificateFile {
    /// Maximum number of bytes of the file, like that of any file of certificates.
    static let maximumBytes = CertificateFile.maximumBytes

    let url: URL

    /// The certificates of each domain, in DER, by the canonical name of the domain.
    /// - Throws: the error of the file system; `CocoaError` `propertyListReadCorrupt`, and `fileReadTooLarge` beyond a
    ///   limit.
    func read() throws -> [String: [Data]] {
        try Self.certificates(in: AtomicFile.read(url, maximumBytes: Self.maximumBytes, isOwn: true))
    }

    /// The certificates of each domain in the bytes of such a file.
    static func certificates(in data: Data) throws -> [String: [Data]] {
        try PinList.read(data)
    }

    /// Replaces all stored certificates.
    func replace(with certificates: [String: [Data]]) throws {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        let data = try encoder.encode(certificates)
        guard data.count <= Self.maximumBytes else { throw CocoaError(.fileWriteOutOfSpace) }
        // The encoder writes a certificate of many domains once; the reader's budget counts it for each of them.
        _ = try Self.certificates(in: data)
        let folder = url.deletingLastPathComponent()
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try AtomicFile.replace(
            url, with: data, temporaryName: ".\(url.lastPathComponent).\(UUID().uuidString)")
    }
}
