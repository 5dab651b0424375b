public import struct Foundation.URL

extension TrustAnchors {
    /// Reads the anchors of a private authority from a file: every certificate of a PEM file, or the one in DER. It
    /// blocks on the file system.
    /// - Parameter file: the file, at most 8 MiB.
    /// - Throws: ``CertificateFileError`` if a certificate in it cannot be read, or if it has none.
    public init(contentsOf file: URL) throws(CertificateFileError) {
        let certificates = try CertificateFile.read(file)
        guard !certificates.isEmpty else {
            throw CertificateFileError(
                .notACertificate, file: file.path, expected: "certificates of an authority, in PEM or DER",
                found: "no certificate")
        }
        self.init(certificates)
    }
}
