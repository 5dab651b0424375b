import Foundation

/// Certificates by domain, in a property list that is replaced as a whole: whoever reads it finds the old list or the
/// new one, never a half.
struct PinFile {
    /// Octets of the file: as much as any file of certificates.
    static let maximumBytes = CertificateFile.maximumBytes

    let url: URL

    /// The certificates of each domain, in DER, by the canonical name of the domain.
    /// - Throws: what the file system or the decoder says; `CocoaError` `fileReadTooLarge` past the limit.
    func read() throws -> [String: [Data]] {
        let handle = try FileHandle(forReadingFrom: url)
        defer { try? handle.close() }
        let data = try handle.read(upToCount: Self.maximumBytes + 1) ?? Data()
        guard data.count <= Self.maximumBytes else { throw CocoaError(.fileReadTooLarge) }
        return try PropertyListDecoder().decode([String: [Data]].self, from: data)
    }

    /// Puts other certificates in the place of all that were kept.
    func replace(with certificates: [String: [Data]]) throws {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        let data = try encoder.encode(certificates)
        guard data.count <= Self.maximumBytes else { throw CocoaError(.fileWriteOutOfSpace) }
        let folder = url.deletingLastPathComponent()
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        // In the same folder, so that it is the same file system and renaming is one step.
        let temporary = folder.appending(path: ".\(url.lastPathComponent).\(UUID().uuidString)")
        do {
            try data.write(to: temporary, options: .withoutOverwriting)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: temporary.path)
            let handle = try FileHandle(forUpdating: temporary)
            defer { try? handle.close() }
            try handle.synchronize()
            guard unsafe rename(temporary.path, url.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        } catch {
            try? FileManager.default.removeItem(at: temporary)
            throw error
        }
        synchronize(folder)
    }

    /// The new name is on the disk only when its folder is; some file systems cannot say, and the list itself is safe.
    private func synchronize(_ folder: URL) {
        guard let handle = try? FileHandle(forReadingFrom: folder) else { return }
        try? handle.synchronize()
        try? handle.close()
    }
}
