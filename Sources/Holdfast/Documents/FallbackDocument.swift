import struct Foundation.Data

/// Entries that an application ships with: one, or a list. What is in the application needs no signature; where one is
/// written it is not checked.
enum FallbackDocument {
    static func entries(in data: Data, limits: DocumentLimits) throws(DocumentError) -> [FingerprintEntry] {
        let octets = [UInt8](data)
        var probe = try StrictJSONReader(octets, maximumBytes: limits.bytes)
        var isList = false
        try probe.beginObject()
        while let key = try probe.nextKey() {
            if key == "fingerprints" { isList = true }
            try probe.skipValue()
        }
        try probe.finish()

        var reader = try StrictJSONReader(octets, maximumBytes: limits.bytes)
        guard isList else { return [try reader.entry().entry] }
        var entries: [FingerprintEntry] = []
        try reader.beginObject()
        while let key = try reader.nextKey() {
            guard key == "fingerprints" else {
                try reader.skipValue()
                continue
            }
            try reader.beginArray()
            while try reader.nextElement() {
                guard entries.count < limits.entries else {
                    throw reader.error(.tooManyEntries, "at most \(limits.entries) entries", "more")
                }
                entries.append(try reader.entry().entry)
            }
        }
        return entries
    }
}
