import Foundation

/// The format of a ``TransparencyLogStore``: a log list and its signature, two files.
struct TransparencyLogFormat: DocumentFormat {
    /// A list that was verified.
    struct Content: Sendable {
        /// Its date is limited by the trusted time; otherwise its publisher could make a list that stays fresh for
        /// years.
        let list: TransparencyLogList
        /// The time at which it was made, according to its publisher.
        let signedAt: Date
    }

    let configuration: TransparencyLogConfiguration

    /// Maximum number of bytes of a signature; one with RSA of 8192 bits has 1,024.
    private static let maximumSignature = 2_048

    /// Different for every address and key.
    var origin: [UInt8] {
        StoredRecord.origin(of: [
            Array("log-list".utf8), Array(configuration.listURL.absoluteString.utf8),
            Array(configuration.signatureURL.absoluteString.utf8), Array(configuration.key.der),
        ])
    }
    var storageKey: String { "log-list-\(Hexadecimal.encode(origin))" }
    /// The name without the parts of the URL that may be secret.
    var logName: String { "log list at \(configuration.listURL.quotedAddress)" }
    var storeName: String { "log-list" }
    var documentURL: URL? { configuration.listURL }
    var recordFormat: StoredRecord.Format { .logList }
    var buildDate: Date? { configuration.buildDate }
    var longestInterval: TimeInterval {
        max(configuration.updateInterval.inSeconds, UpdateSchedule.longestOfShortIntervals)
    }
    var updateTimeout: Duration { configuration.updateTimeout }

    func fetch(
        from provider: any RemoteDataProvider, replacing current: CurrentDocument<Content>
    ) async throws(StoreError) -> FetchedDocument<Content>? {
        let list = RemoteDataRequest(
            url: configuration.listURL, headers: ["Accept": "application/json"],
            maximumBytes: TransparencyLogList.maximumBytes)
        let proof = RemoteDataRequest(
            url: configuration.signatureURL, headers: ["Accept": "*/*"], maximumBytes: Self.maximumSignature)
        guard let (body, _) = try await provider.document(for: list),
            let (signature, _) = try await provider.document(for: proof)
        else { return nil }
        var record = StoredRecord(format: recordFormat, body: body)
        record.signature = CanonicalBase64.encode(signature)
        return try verified(record, replacing: current)
    }

    func content(of record: StoredRecord, issuedUpTo latest: Date, at time: Date) throws(DocumentError) -> Content {
        let signature = CanonicalBase64.decode(record.signature.utf8) ?? []
        let list = try TransparencyLogList(verifying: record.body, signature: Data(signature), key: configuration.key)
        return Content(
            list: TransparencyLogList(list.logs, issuedAt: min(list.issuedAt, latest)), signedAt: list.issuedAt)
    }

    func issueTime(of content: Content) -> Date? { content.signedAt }

    func checkReplaces(_ new: Content, _ old: Content?, newestIssue: Date?, at time: Date) throws(DocumentError) {
        let newest = max(configuration.shipped.issuedAt, newestIssue ?? .distantPast)
        guard new.signedAt < newest else { return }
        throw DocumentError(
            .issuedBeforeNewest, field: "log_list_timestamp",
            expected: "a list of \(newest.formatted(.iso8601)) or later",
            found: "one of \(new.signedAt.formatted(.iso8601))")
    }

    /// nil, because a list always exists; its user determines how old it may be.
    func obstacle(to content: Content?, at time: Date) -> StoreError? { nil }

    func nextUpdate(for content: Content, at time: Date, using generator: inout some RandomNumberGenerator) -> Date {
        UpdateSchedule(updateInterval: configuration.updateInterval).nextUpdate(
            at: time, soonestExpiry: nil, using: &generator)
    }

    func news(of content: Content) -> [StoreEvent] {
        [StoreEvent(.replaced, entries: content.list.logs.count, date: content.signedAt)]
    }
}
