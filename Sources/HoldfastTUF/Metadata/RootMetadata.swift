/// Root (section 4.3): the keys of the top-level roles.
package struct RootMetadata: Sendable {
    let common: CommonFields
    let consistentSnapshot: Bool
    package let root: Delegator
    package let timestamp: Delegator
    package let snapshot: Delegator
    package let targets: Delegator

    /// Reads root metadata. It does not verify any signature.
    package init(_ file: SignedFile) throws(TUFError) {
        let fields = try Fields(file.signed, "signed")
        common = try CommonFields(fields, type: .root)
        // Optional: old repositories do not have the field.
        consistentSnapshot = fields.has("consistent_snapshot") ? try fields.boolean("consistent_snapshot") : false
        let keys = try Delegator.keys(fields)
        let roles = try fields.object("roles")
        root = try Delegator(.root, try roles.object("root"), keys: keys)
        timestamp = try Delegator(.timestamp, try roles.object("timestamp"), keys: keys)
        snapshot = try Delegator(.snapshot, try roles.object("snapshot"), keys: keys)
        targets = try Delegator(.targets, try roles.object("targets"), keys: keys)
    }

    /// Whether the keys of timestamp or snapshot were rotated (section 5.3.11).
    package func rotatesOnlineRoles(of earlier: RootMetadata) -> Bool {
        earlier.timestamp.isRotated(in: timestamp) || earlier.snapshot.isRotated(in: snapshot)
    }
}
