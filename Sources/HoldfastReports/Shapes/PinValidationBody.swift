import Holdfast

/// RFC 7469 section 3, with Holdfast's additions.
struct PinValidationBody: Encodable {
    private enum CodingKeys: String, CodingKey {
        case dateTime = "date-time"
        case hostname
        case port
        case end = "effective-expiration-date"
        case includesSubdomains = "include-subdomains"
        case notedHost = "noted-hostname"
        case served = "served-certificate-chain"
        case validated = "validated-certificate-chain"
        case knownPins = "known-pins"
        case fraction = "sampling-fraction"
    }

    /// The time for pins that never expire: RFC 7469 requires one.
    static let never = "9999-12-31T23:59:59Z"

    let facts: FailureFacts

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(ReportJSON.time(facts.time), forKey: .dateTime)
        try container.encode(facts.host, forKey: .hostname)
        try container.encode(facts.port, forKey: .port)
        try container.encode(facts.end.map(ReportJSON.time) ?? Self.never, forKey: .end)
        try container.encode(facts.includesSubdomains, forKey: .includesSubdomains)
        try container.encode(facts.notedHost, forKey: .notedHost)
        try container.encode(facts.served.map { ChainText.pem($0, separator: "\n") }, forKey: .served)
        try container.encode(facts.validated.map { ChainText.pem($0, separator: "\n") }, forKey: .validated)
        try container.encode(facts.knownPinTexts, forKey: .knownPins)
        try container.encode(facts.fraction, forKey: .fraction)
        try AddedMembers(facts: facts).encode(to: encoder)
    }
}

extension FailureFacts {
    /// The pins of keys as RFC 7469 writes them; pins of certificates have no such form.
    var knownPinTexts: [String] {
        knownPins.compactMap { $0.after(octets: "sha256/").map { "pin-sha256=\"\($0)\"" } }
    }
}
