package import struct Foundation.Data

/// What a list says, read as strictly as a ``FingerprintList`` is, with no signature looked at: to be shown, or shipped
/// with an application, never to be believed because it was downloaded.
package struct UnverifiedFingerprintList {
    /// The entries in the order of the document; nil where it has no `fingerprints`.
    package let entries: [FingerprintEntry]?
    /// Whether it says anything about hosts without pins.
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

/// Entries that an application ships with: one, or a list. What is in the application needs no signature; where one is
/// written it is not checked.
enum FallbackDocument {
    static func entries(in data: Data, limits: DocumentLimits) throws(DocumentError) -> [FingerprintEntry] {
        if let entries = try UnverifiedFingerprintList(data, limits: limits).entries { return entries }
        var reader = try StrictJSONReader([UInt8](data), maximumBytes: limits.bytes)
        return [try reader.entry().entry]
    }
}
