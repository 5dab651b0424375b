import Foundation

/// The format of a ``TrustServerStore``: one CMS message, signed as a whole.
struct TrustServerFormat: DocumentFormat {
    let configuration: TrustServerConfiguration

    /// The greatest age of a new document, in seconds; a signer makes one every five minutes.
    static let greatestAgeOfDownload: TimeInterval = 10 * 60

    /// Different for every customer, server and signer, so they never share documents.
    var origin: [UInt8] {
        StoredRecord.origin(of: [
            Array("trust-server".utf8), Array(configuration.url.absoluteString.utf8), configuration.signer.identity,
            Array(configuration.customer.utf8),
        ])
    }
    var storageKey: String { "trust-server-\(Hexadecimal.encode(origin))" }

    /// Without what may be secret in a URL.
    var logName: String { "\(configuration.customer) at \(configuration.url.quotedAddress)" }
    var storeName: String { configuration.customer }
    var documentURL: URL? { configuration.url }
    var recordFormat: StoredRecord.Format { .trustServer }
    var buildDate: Date? { configuration.buildDate }
    /// Seconds, beside the ages of documents.
    var maxAge: TimeInterval { configuration.maxAge.inSeconds }
    /// The greatest age at which a document counts.
    private var limit: TimeInterval { configuration.maxAge.inSeconds + configuration.grace.inSeconds }

    var updateTimeout: Duration { configuration.updateTimeout }
    var preparationTimeout: Duration { configuration.preparationTimeout }
    var longestInterval: TimeInterval { max(maxAge, UpdateSchedule.longestOfShortIntervals) }
    var longestBackOff: TimeInterval { 60 }
    var mismatchInterval: TimeInterval { 60 }

    func fetch(
        from provider: any RemoteDataProvider, replacing current: CurrentDocument<TrustServerTable>
    ) async throws(StoreError) -> FetchedDocument<TrustServerTable>? {
        let request = RemoteDataRequest(
            url: configuration.url, headers: ["Accept": "*/*"], maximumBytes: configuration.limits.bytes)
        guard let (body, _) = try await provider.document(for: request) else { return nil }
        let record = StoredRecord(format: recordFormat, body: body)
        let time = current.time()
        do throws(DocumentError) {
            let content = try content(of: record, issuedUpTo: current.latestIssue(), at: time)
            try checkIsRecent(content, at: time)
            return FetchedDocument(record: record, content: content)
        } catch {
            throw StoreError(error)
        }
    }

    func checkIsRecent(_ content: TrustServerTable, at time: Date) throws(DocumentError) {
        let age = time.timeIntervalSince(content.timestamp)
        guard age <= Self.greatestAgeOfDownload else {
            throw DocumentError(
                .outdated, field: "timestamp", expected: "a document made at most 10 minutes ago",
                found: "one of \(content.timestamp.formatted(.iso8601)), \(Self.text(age: age)) old")
        }
    }

    func content(
        of record: StoredRecord, issuedUpTo latest: Date, at time: Date
    ) throws(DocumentError) -> TrustServerTable {
        try table(
            of: TrustServerDocument(
                verifying: record.body, by: configuration.signer, customer: configuration.customer, at: time,
                limits: configuration.limits, allowsLegacyDigests: configuration.allowsLegacyDigests),
            issuedUpTo: latest)
    }

    func table(
        of document: TrustServerDocument, issuedUpTo latest: Date
    ) throws(DocumentError) -> TrustServerTable {
        try TrustServerTable(document, issuedUpTo: latest, lifetime: limit)
    }

    func issueTime(of content: TrustServerTable) -> Date? { content.signedTimestamp }

    func checkReplaces(
        _ new: TrustServerTable, _ old: TrustServerTable?, newestIssue: Date?, at time: Date
    ) throws(DocumentError) {
        guard let newestIssue, new.signedTimestamp < newestIssue else { return }
        throw DocumentError(
            .issuedBeforeNewest, field: "timestamp",
            expected: "a document of \(newestIssue.formatted(.iso8601)) or later",
            found: "one of \(new.signedTimestamp.formatted(.iso8601))")
    }

    func obstacle(to content: TrustServerTable?, at time: Date) -> StoreError? {
        guard let content else {
            return StoreError(
                .storeIsEmpty, expected: "a document of the trust server", found: "none",
                remedy: "Let the application reach the trust server.")
        }
        // Written so that NaN is past every end.
        guard !(time < content.end) else { return nil }
        let age = time.timeIntervalSince(content.timestamp)
        return StoreError(
            .storeIsEmpty, expected: "a document at most \(Self.text(age: limit)) old",
            found: "one that is \(Self.text(age: age)) old",
            remedy: "Let the application reach the trust server, and check that it still signs.")
    }

    func nextUpdate(
        for content: TrustServerTable, at time: Date, using generator: inout some RandomNumberGenerator
    ) -> Date {
        UpdateSchedule(periodicInterval: configuration.maxAge, expirationThreshold: .zero).nextUpdate(
            at: time, soonestExpiry: content.timestamp.addingTimeInterval(maxAge), using: &generator)
    }

    func state(of content: TrustServerTable?, at time: Date) -> StoreState {
        guard let content else { return .absent }
        if obstacle(to: content, at: time) != nil { return .expired }
        return isInGrace(content, at: time) ? .grace : .fresh
    }

    func news(of content: TrustServerTable) -> [StoreEvent.Happening] {
        [.replaced(entries: content.hostCount, issuedAt: content.signedTimestamp)]
            + [content.signerExpired.map(StoreEvent.Happening.signerExpired)].compactMap(\.self)
    }

    /// Whether a document is past its time.
    func isInGrace(_ content: TrustServerTable, at time: Date) -> Bool {
        !(time < content.timestamp.addingTimeInterval(maxAge + 1))
    }

    /// A length of time as people say it.
    static func text(age: TimeInterval) -> String {
        let minutes = max(0, min(age, 1e9)) / 60
        switch minutes {
        case ..<120: return "\(Int(minutes)) min"
        case ..<(72 * 60): return "\(Int(minutes / 60)) h"
        default: return "\(Int(minutes / 1_440)) days"
        }
    }
}
