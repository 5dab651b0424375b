/// The report of TrustKit 3, with Holdfast's additions.
struct TrustKitBody: Encodable {
    private enum CodingKeys: String, CodingKey {
        case dateTime = "date-time"
        case hostname
        case port
        case notedHost = "noted-hostname"
        case includesSubdomains = "include-subdomains"
        case isEnforced = "enforce-pinning"
        case validated = "validated-certificate-chain"
        case knownPins = "known-pins"
        case fraction = "sampling-fraction"
        case result = "validation-result"
        case end = "known-pins-expiration-date"
        case vendorIdentifier = "app-vendor-id"
        case platformVersion = "app-platform-version"
        case libraryVersion = "trustkit-version"
        case platform = "app-platform"
    }

    /// TrustKit's identifier distinguishes devices. Collectors require the member.
    static let noVendorIdentifier = "00000000-0000-0000-0000-000000000000"
    /// The version of TrustKit with these members; TrustKit reports it in every later version too.
    static let libraryVersion = "3.0.0"

    let facts: FailureFacts

    func encode(to encoder: any Encoder) throws {
        // Encode these first, because TrustKit has another text for the platform.
        try AddedMembers(facts: facts).encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(ReportJSON.time(facts.time), forKey: .dateTime)
        try container.encode(facts.host, forKey: .hostname)
        try container.encode(facts.port, forKey: .port)
        try container.encode(facts.notedHost, forKey: .notedHost)
        try container.encode(facts.includesSubdomains, forKey: .includesSubdomains)
        try container.encode(facts.isEnforced, forKey: .isEnforced)
        try container.encode(facts.validated.map { ChainText.pem($0, separator: "\r\n") }, forKey: .validated)
        try container.encode(facts.knownPinTexts, forKey: .knownPins)
        try container.encode(facts.fraction, forKey: .fraction)
        try container.encode(result, forKey: .result)
        if let end = facts.end {
            try container.encode(ReportJSON.date(end), forKey: .end)
        } else {
            try container.encodeNil(forKey: .end)
        }
        try container.encode(Self.noVendorIdentifier, forKey: .vendorIdentifier)
        try container.encode("", forKey: .platformVersion)
        try container.encode(Self.libraryVersion, forKey: .libraryVersion)
        try container.encode(facts.application.platform.uppercased(), forKey: .platform)
    }

    /// 1: no pin matched; 2: the chain was refused for another reason.
    private var result: Int { facts.isAboutPins ? 1 : 2 }
}
