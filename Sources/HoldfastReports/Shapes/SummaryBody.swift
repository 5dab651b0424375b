/// A summary of one day, after RFC 8460 section 4: without the name of an organization, a contact and an identifier of
/// the report, none of which a client should have.
struct SummaryBody: Encodable {
    private struct DateRange: Encodable {
        enum CodingKeys: String, CodingKey {
            case start = "start-datetime"
            case end = "end-datetime"
        }

        let start: String
        let end: String
    }

    private enum CodingKeys: String, CodingKey {
        case application = "app-bundle-id"
        case platform = "app-platform"
        case version = "app-version"
        case range = "date-range"
        case policies
    }

    let facts: SummaryFacts

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(facts.application.identifier, forKey: .application)
        try container.encode(facts.application.platform, forKey: .platform)
        try container.encode(facts.application.version, forKey: .version)
        let start = facts.day * 86_400
        try container.encode(
            DateRange(start: ReportJSON.time(start), end: ReportJSON.time(start + 86_399)), forKey: .range)
        try container.encode(facts.places.map(SummaryPolicy.init), forKey: .policies)
    }
}

private struct SummaryPolicy: Encodable {
    struct Policy: Encodable {
        enum CodingKeys: String, CodingKey {
            case type = "policy-type"
            case domain = "policy-domain"
            case documentVersion = "document-version"
        }

        let type = "holdfast-pins"
        let domain: String
        let documentVersion: String
    }

    struct Summary: Encodable {
        enum CodingKeys: String, CodingKey {
            case successes = "total-successful-session-count"
            case failures = "total-failure-session-count"
        }

        let successes: Int
        let failures: Int
    }

    struct Detail: Encodable {
        enum CodingKeys: String, CodingKey {
            case type = "result-type"
            case outcome
            case count = "failed-session-count"
        }

        let type: String
        let outcome: ReportOutcome
        let count: Int
    }

    struct Sampling: Encodable {
        enum CodingKeys: String, CodingKey {
            case failures = "failure-fraction"
            case successes = "success-fraction"
        }

        let failures: Double
        let successes: Double
    }

    enum CodingKeys: String, CodingKey {
        case policy
        case summary
        case details = "failure-details"
        case sampling
    }

    let policy: Policy
    let summary: Summary
    let details: [Detail]
    let sampling: Sampling

    init(_ place: SummaryFacts.Place) {
        policy = Policy(domain: place.host, documentVersion: place.documentVersion)
        summary = Summary(successes: place.successes, failures: place.failures)
        details = place.details.map { Detail(type: $0.code, outcome: $0.outcome, count: $0.count) }
        sampling = Sampling(failures: place.failureFraction, successes: place.successFraction)
    }
}
