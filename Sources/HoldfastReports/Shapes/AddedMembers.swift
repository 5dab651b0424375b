/// The members that Holdfast adds to every shape, under the same names.
struct AddedMembers: Encodable {
    private enum CodingKeys: String, CodingKey {
        case application = "app-bundle-id"
        case platform = "app-platform"
        case version = "app-version"
        case documentVersion = "document-version"
        case failure
        case outcome
        case pins
    }

    let facts: FailureFacts

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(facts.application.identifier, forKey: .application)
        try container.encode(facts.application.platform, forKey: .platform)
        try container.encode(facts.application.version, forKey: .version)
        try container.encode(facts.documentVersion, forKey: .documentVersion)
        try container.encode(facts.code, forKey: .failure)
        try container.encode(facts.outcome, forKey: .outcome)
        try container.encode(facts.pins, forKey: .pins)
    }
}
