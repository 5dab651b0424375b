package import Foundation

/// The format of a ``TrustServerStore``: one CMS message, signed as a whole.
package struct TrustServerFormat: DocumentFormat {
    let configuration: TrustServerConfiguration

    package init(configuration: TrustServerConfiguration) { self.configuration = configuration }

    /// The maximum age of a new document, in seconds; a signer makes one every five minutes.
    package static let greatestAgeOfDownload: TimeInterval = 10 * 60

    /// A digest that differs for every customer, server and signer, so they never share documents.
    package var origin: [UInt8] {
        StoredRecord.origin(of: [
            Array("trust-server".utf8), Array(configuration.url.absoluteString.utf8), configuration.signer.identity,
            Array(configuration.customer.utf8),
        ])
    }
    package var storageKey: String { "trust-server-\(Hexadecimal.encode(origin))" }

    /// The name without the parts of the URL that may be secret.
    package var logName: String { "\(configuration.customer) at \(configuration.url.quotedAddress)" }
    package var storeName: String { configuration.customer }
    package var documentURL: URL? { configuration.url }
    package var recordFormat: StoredRecord.Format { .trustServer }
    package var buildDate: Date? { configuration.buildDate }
    /// The age until which a document is fresh, in seconds.
    package var maximumAge: TimeInterval { configuration.maximumAge.inSeconds }
    /// The maximum age at which a document is accepted, in seconds.
    private var limit: TimeInterval { configuration.maximumAge.inSeconds + configuration.grace.inSeconds }

    package var updateTimeout: Duration { configuration.updateTimeout }
    package var preparationTimeout: Duration { configuration.preparationTimeout }
    package var longestInterval: TimeInterval { max(maximumAge, UpdateSchedule.longestOfShortIntervals) }
    package var longestBackOff: TimeInterval { 60 }
    package var mismatchInterval: TimeInterval { 60 }

    package func fetch(
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

    package func checkIsRecent(_ content: TrustServerTable, at time: Date) throws(DocumentError) {
        let age = time.timeIntervalSince(content.timestamp)
        guard age <= Self.greatestAgeOfDownload else {
            throw DocumentError(
                .outdated, field: "timestamp", expected: "a document made at most 10 minutes ago",
                found: "one of \(content.timestamp.formatted(.iso8601)), \(Self.text(age: age)) old")
        }
    }

    package func content(
        of record: StoredRecord, issuedUpTo latest: Date, at time: Date
    ) throws(DocumentError) -> TrustServerTable {
        try table(
            of: TrustServerDocument(
                verifying: record.body, by: configuration.signer, customer: configuration.customer, at: time,
                limits: configuration.limits, allowsLegacyDigests: configuration.allowsLegacyDigests),
            issuedUpTo: latest)
    }

    package func table(
        of document: TrustServerDocument, issuedUpTo latest: Date
    ) throws(DocumentError) -> TrustServerTable {
        try TrustServerTable(document, issuedUpTo: latest, lifetime: limit)
    }

    package func issueTime(of content: TrustServerTable) -> Date? { content.signedTimestamp }

    package func checkReplaces(
        _ new: TrustServerTable, _ old: TrustServerTable?, newestIssue: Date?, at time: Date
    ) throws(DocumentError) {
        guard let newestIssue, new.signedTimestamp < newestIssue else { return }
        throw DocumentError(
            .issuedBeforeNewest, field: "timestamp",
            expected: "a document of \(newestIssue.formatted(.iso8601)) or later",
            found: "one of \(new.signedTimestamp.formatted(.iso8601))")
    }

    package func obstacle(to content: TrustServerTable?, at time: Date) -> StoreError? {
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

    package func nextUpdate(
        for content: TrustServerTable, at time: Date, using generator: inout some RandomNumberGenerator
    ) -> Date {
        UpdateSchedule(updateInterval: configuration.maximumAge, expirationThreshold: .zero).nextUpdate(
            at: time, soonestExpiry: content.timestamp.addingTimeInterval(maximumAge), using: &generator)
    }

    package func state(of content: TrustServerTable?, at time: Date) -> StoreState {
        guard let content else { return .absent }
        if obstacle(to: content, at: time) != nil { return .expired }
        return isInGrace(content, at: time) ? .grace : .fresh
    }

    package func news(of content: TrustServerTable) -> [StoreEvent] {
        [StoreEvent(.replaced, entries: content.hostCount, date: content.signedTimestamp)]
            + [content.signerExpired].compactMap(\.self).map { StoreEvent(.signerExpired, date: $0) }
    }

    /// Whether a document is no longer fresh.
    func isInGrace(_ content: TrustServerTable, at time: Date) -> Bool {
        !(time < content.timestamp.addingTimeInterval(maximumAge + 1))
    }

    /// A length of time as text.
    static func text(age: TimeInterval) -> String {
        let minutes = max(0, min(age, 1e9)) / 60
        switch minutes {
        case ..<120: return "\(Int(minutes)) min"
        case ..<(72 * 60): return "\(Int(minutes / 60)) h"
        default: return "\(Int(minutes / 1_440)) days"
        }
    }
}
