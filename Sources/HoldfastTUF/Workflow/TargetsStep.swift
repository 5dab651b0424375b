/// Section 5.6: decides if the metadata of the targets role, or of a delegated one, is trusted.
struct TargetsStep {
    /// The delegation that led to the role in this search. Another role's delegation to it proves nothing here.
    let delegator: Delegator
    let snapshot: SnapshotMetadata
    let start: UpdateStart
    let settings: TUFSettings
    let meter: WorkMeter

    private var role: RoleName { delegator.role }

    /// The snapshot's entry for the role.
    func description() throws(TUFError) -> MetadataDescription {
        guard let description = snapshot.roles[role.snapshotKey] else {
            throw TUFError(
                .missingRole, of: role.text, section: "5.6.1", expected: "an entry in the snapshot", found: "none")
        }
        return description
    }

    /// Sections 5.6.2 to 5.6.5, for stored and for downloaded files alike.
    func verified(_ octets: [UInt8]) throws(TUFError) -> TargetsMetadata {
        try about(role, "5.6") { () throws(TUFError) in
            let due = try description()
            try due.file.verify(octets, subject: role.text, section: "5.6.2")
            let file = try SignedFile(octets, maximumBytes: settings.targetsBytes)
            try delegator.verify(file, section: "5.6.3", meter: meter)
            let targets = try TargetsMetadata(file)
            guard targets.common.version == due.version else {
                throw TUFError(
                    .wrongVersion, section: "5.6.4", expected: "version \(due.version)",
                    found: "\(targets.common.version)")
            }
            try start.require(targets.common, of: role, section: "5.6.5")
            return targets
        }
    }
}
