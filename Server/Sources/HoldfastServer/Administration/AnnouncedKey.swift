import Holdfast

/// A key of a file that is announced for a host: a public key, or a certificate request, which is checked.
package struct AnnouncedKey: Sendable {
    /// DER of the SubjectPublicKeyInfo.
    package let bytes: [UInt8]

    /// - Parameters:
    ///   - file: PEM or DER of a SubjectPublicKeyInfo or of a certificate request.
    ///   - name: the file's name for errors.
    ///   - host: the host that it is announced for.
    /// - Throws: ``ServerError`` `invalidValue`.
    package init(_ file: [UInt8], named name: String, for host: CatalogHost) throws(ServerError) {
        guard file.first != 0x30 else {
            // No SubjectPublicKeyInfo is a request, nor the other way round. Its kind is checked when it is announced.
            let isKey = (try? SubjectPublicKeyInfo(der: file)) != nil
            bytes = isKey ? file : try AnnouncementCheck.key(ofRequest: file, for: host)
            return
        }
        for label in ["CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST"] {
            guard let request = try? PEMFile.blocks(label, of: file, named: name).first else { continue }
            bytes = try AnnouncementCheck.key(ofRequest: request, for: host)
            return
        }
        bytes = try PEMFile.blocks("PUBLIC KEY", of: file, named: name)[0]
    }
}
