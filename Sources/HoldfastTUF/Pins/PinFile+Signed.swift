package import Holdfast

extension PinFile {
    /// Checks what the payload of a signed repository needs beyond the format's rules: it says when it was issued and
    /// until when it counts. A file that an app ships may last as long as the app.
    /// - Throws: ``PinFileError`` that names the first field that is missing, or that may not be there.
    package func checkSignedRequirements() throws(PinFileError) {
        let required = [("issuedAt", issuedAt != nil), ("notAfter", notAfter != nil), ("refresh", refresh != nil)]
        for (field, isThere) in required where !isThere {
            throw PinFileError(.missingField, at: field, expected: "the field in a signed file", found: "none")
        }
        guard debugAnchors.isEmpty else {
            throw PinFileError(
                .debugAnchorsInSignedFile, at: "debugAnchors", expected: "none in a signed file",
                found: "\(debugAnchors.count)")
        }
        for (index, host) in hosts.enumerated() where !host.isRetired && !host.hasBackup {
            throw PinFileError(
                .missingBackup, at: "hosts[\(index)].pins",
                expected: "two distinct keys, one of them with state backup",
                found: "no backup for \(host.pattern)")
        }
    }
}
