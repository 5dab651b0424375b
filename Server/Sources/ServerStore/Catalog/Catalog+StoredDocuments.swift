package import ServerFoundation

extension Catalog {
    /// A document as it was signed, or a record that it is no longer published.
    package struct StoredDocument: Sendable {
        package let app: AppName
        package let path: String
        package let version: Int64
        /// Empty if it is no longer published.
        package let bytes: [UInt8]
        package let signedAt: Int64
        package let end: Int64
        package let isWithdrawn: Bool
        /// The digest of the bytes; ``Digest/nothing`` if it is no longer published.
        package let digest: Digest

        /// - Parameter digest: the digest of the bytes, if it was compared already.
        package init(
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

    /// A version of a document that is or was published.
    /// - Throws: ``ServerError`` `brokenChain` if its bytes do not match the audit.
    package static func stored(
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
        // The times are not in the audit. They are for caches only, and no value of them may stop a listener.
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
