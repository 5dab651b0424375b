/// The metadata of the targets role or of a delegated one (section 4.5): targets, and delegations to other roles.
struct TargetsMetadata: Sendable {
    let common: CommonFields
    let targets: [[UInt8]: FileDescription]
    let delegations: Delegations

    init(_ file: SignedFile) throws(TUFError) {
        let fields = try Fields(file.signed, "signed")
        common = try CommonFields(fields, type: .targets)
        var targets: [[UInt8]: FileDescription] = [:]
        for member in try fields.object("targets").members {
            targets[Array(member.key)] = try FileDescription(try Fields(member.value, "signed.targets"), isTarget: true)
        }
        self.targets = targets
        delegations = fields.has("delegations") ? try Delegations(try fields.object("delegations")) : Delegations()
    }
}
