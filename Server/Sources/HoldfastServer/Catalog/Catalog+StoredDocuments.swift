extension Catalog {
    /// A document as it was signed, or that it is no longer published.
    struct StoredDocument: Sendable {
        let app: AppName
        let path: String
        let version: Int64
        /// None if it is no longer published.
        let bytes: [UInt8]
        let signedAt: Int64
        let end: Int64
        let isWithdrawn: Bool
        /// That of the bytes; ``Digest/nothing`` if it is no longer published.
        let digest: Digest

        /// - Parameter digest: that of the bytes, where somebody has compared it already.
        init(
            app: AppName, path: String, version: Int64, bytes: [UInt8], signedAt: Int64, end: Int64, isWithdrawn: Bool,
            digest: Digest? = nil
        ) {
            self.app = app
            self.path = path
            self.version = version
            self.bytes = bytes
            self.signedAt = signedAt
            self.end = end
            self.isWithdrawn = isWithdrawn
            self.digest = isWithdrawn ? .nothing : digest ?? Digest(of: bytes)
        }
    }

    /// A version of a document that is, or was, published.
    /// - Throws: ``ServerError`` `brokenChain` if its bytes are not those that the audit names.
    static func stored(
        _ path: String, _ known: Ledger.Version, of app: AppName, _ session: any StorageSession
    ) throws(ServerError) -> StoredDocument {
        let row = try session.run(
            "SELECT octets, signed_at, ends_at FROM document WHERE app = $1 AND format = $2 AND version = $3",
            [.text("\(app)"), .text(path), .integer(known.version)]
        ).first
        guard let row, Digest(of: try row.bytes(0)) == known.digest else {
            throw ServerError(
                .brokenChain, of: path, expected: "version \(known.version) as it was signed", found: "another, or none"
            )
        }
        // The audit does not have the times: they are for caches alone, and whatever they say must not stop a listener.
        let times: ClosedRange<Int64> = 0...CanonicalJSON.maximumInteger
        return StoredDocument(
            app: app, path: path, version: known.version, bytes: try row.bytes(0),
            signedAt: times.clamping(try row.integer(1)), end: times.clamping(try row.integer(2)), isWithdrawn: false,
            digest: known.digest)
    }
}

extension ClosedRange {
    fileprivate func clamping(_ value: Bound) -> Bound { Swift.min(Swift.max(value, lowerBound), upperBound) }
}
