import Foundation

/// A report that waits to be sent.
struct PendingReport: Codable, Hashable, Sendable {
    /// The content of the report.
    enum Content: Codable, Hashable, Sendable {
        case failure(FailureFacts)
        case summary(SummaryFacts)
    }

    /// A destination that the application named.
    let destination: String
    let content: Content
    /// The times of creation and of the earliest delivery, in seconds since 1970.
    let madeAt: Int64
    let notBefore: Int64
    /// The size of its facts as stored, in bytes.
    let octets: Int

    /// The chains are omitted from a report if they would use the space of all others.
    private static let mostOctetsOfOne = ReportLimits.mostPendingOctets / 2

    init(_ content: Content, to destination: String, madeAt: Int64, notBefore: Int64) {
        var content = content
        var octets = Self.octets(of: content)
        if octets > Self.mostOctetsOfOne, case .failure(var facts) = content {
            facts.served = []
            facts.validated = []
            content = .failure(facts)
            octets = Self.octets(of: content)
        }
        self.content = content
        self.octets = octets
        self.destination = destination
        self.madeAt = madeAt
        self.notBefore = notBefore
    }

    private static func octets(of content: Content) -> Int {
        switch content {
        case .failure(let facts): ReportJSON.data(facts).count
        case .summary(let facts): ReportJSON.data(facts).count
        }
    }

    /// The media type and the body to send.
    func body(as shape: ReportShape, at now: Date) -> (contentType: String, octets: Data) {
        switch content {
        case .failure(let facts): (shape.contentType, facts.body(as: shape, at: now))
        case .summary(let facts): ("application/json", ReportJSON.data(SummaryBody(facts: facts)))
        }
    }
}
