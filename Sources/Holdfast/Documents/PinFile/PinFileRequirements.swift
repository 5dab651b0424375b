extension PinFile {
    /// What a file is used for, which decides what must be in it.
    package enum Use: String, Sendable, Hashable, CaseIterable {
        /// An app ships it: it may last as long as the app.
        case shipped
        /// It is the payload of a signed repository: it must say when it was issued and until when it counts.
        case signed
    }

    /// Checks the requirements of a use beyond the format's rules. A file that an app ships has none.
    /// - Parameter use: what the file is for.
    /// - Throws: ``PinFileError`` that names the first field that is missing, or that may not be there.
    package func checkRequirements(for use: Use) throws(PinFileError) {
        guard use == .signed else { return }
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

    /// The hosts without a second key; losing the first one locks every client out.
    package var hostsWithoutBackup: [HostPattern] { hosts.filter { !$0.isRetired && !$0.hasBackup }.map(\.pattern) }
}
