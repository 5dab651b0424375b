package import struct Foundation.Data
package import struct Foundation.Date

/// A pin server's response to a challenge: signed as a whole, for this challenge only.
package struct ChallengeResponse: Sendable, Hashable {
    /// The header of a request that has the challenge.
    package static let challengeHeader = "X-Cert-Pinning-Challenge"
    /// The header of a response that has the signature.
    package static let signatureHeader = "X-Cert-Pinning-Signature"

    /// The time at which the server made the response, by its own clock.
    package let issuedAt: Date
    /// The entries in the order of the document.
    package let entries: [FingerprintEntry]
    /// The document's statement about hosts without pins; in a response this is signed.
    package let domainsConfiguration: DomainsConfiguration?
    /// The server's assessment of the application's version; nil if the request did not include the version.
    package let versionCheck: VersionCheck?

    /// Verifies a response and reads it; nothing is read before the signature is verified.
    /// - Parameters:
    ///   - body: the body of the response, exactly as received.
    ///   - signature: the header `X-Cert-Pinning-Signature`, Base64 of a DER-encoded signature.
    ///   - challenge: the header `X-Cert-Pinning-Challenge`, exactly as sent.
    ///   - key: the signer's key.
    ///   - limits: the limits for reading.
    /// - Throws: ``DocumentError`` that names the entry and the field.
    package init(
        verifying body: Data, signature: String, challenge: String, by key: any SignatureVerifying,
        limits: DocumentLimits = DocumentLimits()
    ) throws(DocumentError) {
        let octets = [UInt8](body)
        var reader = try StrictJSONReader(octets, maximumBytes: limits.bytes)
        guard let signature = CanonicalBase64.decode(signature.utf8) else {
            throw DocumentError(
                .notCanonicalBase64, field: Self.signatureHeader, expected: "Base64 of a signature",
                found: signature.quoted)
        }
        guard signature.count <= DocumentLimits.signatureBytes,
            key.isValid(signature: signature, for: Self.signedBytes(challenge: challenge, body: octets))
        else {
            throw DocumentError(
                .invalidSignature, field: Self.signatureHeader,
                expected: "a signature by the configured key for this challenge and this body", found: "another")
        }
        try self.init(&reader, limits: limits)
    }

    /// The bytes that the signature covers: the text of the challenge, `&`, the body.
    package static func signedBytes(challenge: String, body: some Sequence<UInt8>) -> [UInt8] {
        Array("\(challenge)&".utf8) + body
    }

    private init(_ reader: inout StrictJSONReader, limits: DocumentLimits) throws(DocumentError) {
        var timestamp: Int64?
        var entries: [FingerprintEntry]?
        var domains: DomainsConfiguration?
        var version: VersionCheck?
        try reader.beginObject()
        while let field = try reader.nextKey() {
            switch field {
            case "timestamp": timestamp = try reader.timestamp()
            case "fingerprints": entries = try reader.entries(atMost: limits.entries)
            case "domainsConfig":
                if reader.takeNull() { continue }
                domains = try reader.domainsConfiguration(maximumEntries: limits.entries)
            case "verifyVersionResult":
                if reader.takeNull() { continue }
                version = try reader.versionCheck()
            default: try reader.skipValue()
            }
        }
        guard let timestamp else { throw reader.missing("timestamp") }
        guard let entries else { throw reader.missing("fingerprints") }
        try reader.finish()
        issuedAt = Date(wholeSeconds: timestamp)
        self.entries = entries
        domainsConfiguration = domains
        versionCheck = version
    }
}

extension StrictJSONReader {
    fileprivate mutating func versionCheck() throws(DocumentError) -> VersionCheck {
        var update: VersionCheck.Update?
        var message: String?
        try beginObject()
        while let key = try nextKey() {
            switch key {
            case "update":
                let text = try string()
                let known = VersionCheck.Update.allCases.first { $0.rawValue.hasSameOctets(as: text) }
                guard let known else { throw error(.invalidValue, "NOT_REQUIRED, SUGGESTED or FORCED", text.quoted) }
                update = known
            case "message":
                if takeNull() { continue }
                message = try string()
            default: try skipValue()
            }
        }
        guard let update else { throw missing("update") }
        return VersionCheck(update: update, message: message)
    }
}
