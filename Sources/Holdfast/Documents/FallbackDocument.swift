import struct Foundation.Data

/// Entries that an application ships with: one, or a list. What is in the application needs no signature; where one is
/// written it is not checked.
enum FallbackDocument {
    static func entries(in data: Data, limits: DocumentLimits) throws(DocumentError) -> [FingerprintEntry] {
        if let entries = try UnverifiedFingerprintList(data, limits: limits).entries { return entries }
        var reader = try StrictJSONReader([UInt8](data), maximumBytes: limits.bytes)
        return [try reader.entry().entry]
    }
}
