/// Snapshot (section 4.4): the version of each targets role.
struct SnapshotMetadata: Sendable {
    let common: CommonFields
    /// The snapshot's entries for the roles, by `ROLE.json`.
    let roles: [[UInt8]: MetadataDescription]

    init(_ file: SignedFile) throws(TUFError) {
        let fields = try Fields(file.signed, "signed")
        common = try CommonFields(fields, type: .snapshot)
        var roles: [[UInt8]: MetadataDescription] = [:]
        for member in try fields.object("meta").members {
            roles[Array(member.key)] = try MetadataDescription(try Fields(member.value, "signed.meta"))
        }
        self.roles = roles
    }
}
