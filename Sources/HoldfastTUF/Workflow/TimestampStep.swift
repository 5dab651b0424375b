/// Section 5.4: decides which timestamp is trusted.
struct TimestampStep {
    let root: RootMetadata
    let start: UpdateStart
    let settings: TUFSettings
    let meter: WorkMeter

    /// The stored timestamp, which records the versions that were seen. It may have expired.
    func kept(_ octets: [UInt8]) -> TimestampMetadata? { try? signed(octets) }

    /// Sections 5.4.2 to 5.4.4. A timestamp with the same version is not new. Whichever timestamp remains must not have
    /// expired.
    /// - Returns: the new timestamp; nil if the trusted one stays.
    func next(_ octets: [UInt8], after trusted: TimestampMetadata?) throws(TUFError) -> TimestampMetadata? {
        let next = try about(.timestamp, "5.4.2") { () throws(TUFError) in try signed(octets) }
        if let trusted {
            guard next.common.version >= trusted.common.version else {
                throw rolledBack("5.4.3.1", "version", trusted.common.version, next.common.version)
            }
            if next.common.version == trusted.common.version {
                try start.require(trusted.common, of: .timestamp, section: "5.4.4")
                return nil
            }
            guard next.snapshot.version >= trusted.snapshot.version else {
                throw rolledBack("5.4.3.2", "snapshot version", trusted.snapshot.version, next.snapshot.version)
            }
        }
        try start.require(next.common, of: .timestamp, section: "5.4.4")
        return next
    }

    private func signed(_ octets: [UInt8]) throws(TUFError) -> TimestampMetadata {
        let file = try SignedFile(octets, maximumBytes: settings.timestampBytes)
        try root.timestamp.verify(file, section: "5.4.2", meter: meter)
        return try TimestampMetadata(file)
    }

    private func rolledBack(_ section: String, _ what: String, _ least: Int64, _ found: Int64) -> TUFError {
        TUFError(
            .rolledBack, of: RoleName.timestamp.text, section: section, expected: "\(what) \(least) or later",
            found: "\(found)")
    }
}
