/// Section 5.5: decides which snapshot is trusted.
struct SnapshotStep {
    let root: RootMetadata
    let timestamp: TimestampMetadata
    let start: UpdateStart
    let settings: TUFSettings
    let meter: WorkMeter

    /// The stored snapshot, which records the versions that were seen. It may have expired, and may be older than the
    /// one that the timestamp names.
    func kept(_ octets: [UInt8]) -> SnapshotMetadata? { try? signed(octets) }

    /// Whether the stored snapshot is still the one that the timestamp names, so that it need not be downloaded.
    func isCurrent(_ snapshot: SnapshotMetadata, _ octets: [UInt8]) -> Bool {
        timestamp.snapshot.file.matches(octets) && snapshot.common.version == timestamp.snapshot.version
            && (try? start.require(snapshot.common, of: .snapshot, section: "5.5.6")) != nil
    }

    /// Sections 5.5.2 to 5.5.6.
    func next(_ octets: [UInt8], after trusted: SnapshotMetadata?) throws(TUFError) -> SnapshotMetadata {
        try about(.snapshot, "5.5") { () throws(TUFError) in
            try timestamp.snapshot.file.verify(octets, subject: RoleName.snapshot.text, section: "5.5.2")
            let next = try signed(octets)
            guard next.common.version == timestamp.snapshot.version else {
                throw TUFError(
                    .wrongVersion, section: "5.5.4", expected: "version \(timestamp.snapshot.version)",
                    found: "\(next.common.version)")
            }
            try requireNoRollback(next, after: trusted)
            try start.require(next.common, of: .snapshot, section: "5.5.6")
            return next
        }
    }

    /// Section 5.5.5: no role goes back to an older version, and no role disappears.
    private func requireNoRollback(_ next: SnapshotMetadata, after trusted: SnapshotMetadata?) throws(TUFError) {
        for (name, seen) in trusted?.roles ?? [:] {
            guard let listed = next.roles[name] else {
                throw TUFError(
                    .missingRole, section: "5.5.5", expected: "an entry \(name.quotedName), as before", found: "none")
            }
            guard listed.version >= seen.version else {
                throw TUFError(
                    .rolledBack, section: "5.5.5", expected: "\(name.quotedName) of version \(seen.version) or later",
                    found: "\(listed.version)")
            }
        }
    }

    private func signed(_ octets: [UInt8]) throws(TUFError) -> SnapshotMetadata {
        let file = try SignedFile(octets, maximumBytes: settings.snapshotBytes)
        try root.snapshot.verify(file, section: "5.5.3", meter: meter)
        return try SnapshotMetadata(file)
    }
}
