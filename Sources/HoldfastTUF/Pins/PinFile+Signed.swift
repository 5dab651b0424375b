package import Holdfast

extension PinFile {
    /// Checks the requirements for a payload of a signed repository that go beyond the format's rules: it must state
    /// its issue time and the end of its validity. A file that an app ships may last as long as the app.
    /// - Throws: ``PinFileError`` that names the first field that is missing or not allowed.
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
