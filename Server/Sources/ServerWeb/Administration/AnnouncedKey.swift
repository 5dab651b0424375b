import Holdfast
package import ServerFoundation
package import ServerModel

/// The key that a file announces for a host: a public key, or a certificate request, whose signature is checked.
package struct AnnouncedKey: Sendable {
    /// DER of the SubjectPublicKeyInfo.
    package let bytes: [UInt8]

    /// - Parameters:
    ///   - file: PEM or DER of a SubjectPublicKeyInfo or of a certificate request.
    ///   - name: the file's name in errors.
    ///   - host: the host that the key is for.
    /// - Throws: ``ServerError`` `invalidValue`.
    package init(_ file: [UInt8], named name: String, for host: CatalogHost) throws(ServerError) {
        guard file.first != 0x30 else {
            // No SubjectPublicKeyInfo parses as a request or vice versa. Announcing checks the kind of key.
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
