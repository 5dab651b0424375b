/// What TrustKit 3 sends, and what Holdfast adds.
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

    /// TrustKit's tells one device from another. Collectors want the member.
    static let noVendorIdentifier = "00000000-0000-0000-0000-000000000000"
    /// The version of TrustKit that sends these members, which it writes in every later one too.
    static let libraryVersion = "3.0.0"

    let facts: FailureFacts

    func encode(to encoder: any Encoder) throws {
        // First, because TrustKit writes the platform in another way.
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
