package import struct Foundation.Data

/// A list that is read as strictly as a ``FingerprintList``, but without verifying signatures: for display, or for
/// lists that an application ships. Never trust a downloaded list that is read this way.
package struct UnverifiedFingerprintList {
    /// The entries in the order of the document; nil if the document has no `fingerprints`.
    package let entries: [FingerprintEntry]?
    /// Whether the document states anything about hosts without pins.
    package let hasDomains: Bool

    /// - Throws: ``DocumentError`` that names the entry and the field.
    package init(_ data: Data, limits: DocumentLimits = DocumentLimits()) throws(DocumentError) {
        var reader = try StrictJSONReader([UInt8](data), maximumBytes: limits.bytes)
        var entries: [FingerprintEntry]?
        var hasDomains = false
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "fingerprints": entries = try reader.entries(atMost: limits.entries)
            case "domainsConfig":
                if reader.takeNull() { continue }
                hasDomains = true
                try reader.skipValue()
            default: try reader.skipValue()
            }
        }
        try reader.finish()
        self.entries = entries
        self.hasDomains = hasDomains
    }
}

/// Entries that an application ships: one, or a list. They need no signature, and an existing one is not checked.
enum FallbackDocument {
    static func entries(in data: Data, limits: DocumentLimits) throws(DocumentError) -> [FingerprintEntry] {
        if let entries = try UnverifiedFingerprintList(data, limits: limits).entries { return entries }
        var reader = try StrictJSONReader([UInt8](data), maximumBytes: limits.bytes)
        return [try reader.entry().entry]
    }
}
