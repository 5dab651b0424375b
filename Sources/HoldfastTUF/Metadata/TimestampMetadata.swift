/// Timestamp (section 4.6): which snapshot is the newest.
struct TimestampMetadata: Sendable {
    let common: CommonFields
    let snapshot: MetadataDescription

    init(_ file: SignedFile) throws(TUFError) {
        let fields = try Fields(file.signed, "signed")
        common = try CommonFields(fields, type: .timestamp)
        snapshot = try MetadataDescription(try fields.object("meta").object("snapshot.json"))
    }
}
