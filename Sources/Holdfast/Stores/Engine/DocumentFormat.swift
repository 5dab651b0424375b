package import struct Foundation.Date
package import struct Foundation.TimeInterval
package import struct Foundation.URL

/// A format of signed documents: how one is requested and verified, which one may replace another, and how long it is
/// valid. ``DocumentStore`` contains everything that formats share.
///
/// A document may be several files with their own state: `fetch` makes as many requests as necessary, has the current
/// content, and keeps in the record the parts that must be verified again after a restart.
package protocol DocumentFormat: Sendable {
    /// The content of a verified document.
    associatedtype Content: Sendable

    /// The key under which the data is stored.
    var storageKey: String { get }
    /// A digest of the source and the verification keys of the documents. Formats with different digests ignore each
    /// other's stored documents.
    var origin: [UInt8] { get }
    /// The name of the format's stores in metrics, which need few distinct names.
    var storeName: String { get }
    /// The name of the documents in the log.
    var logName: String { get }
    /// The source of the documents.
    var documentURL: URL? { get }
    /// The authority whose certificates the documents cover; by default nil.
    var authority: X509Certificate? { get }
    /// The kind of the stored record.
    var recordFormat: StoredRecord.Format { get }
    /// The reason why nothing can be downloaded or verified, in which case nothing is loaded; by default nil.
    var configurationError: StoreError? { get }
    /// A message that is logged once, with the first document; by default nil.
    var caveat: String? { get }
    /// The time at which the application was built, if that is known.
    var buildDate: Date? { get }
    /// The maximum time between two updates, in seconds.
    var longestInterval: TimeInterval { get }
    /// The maximum time that an update may take, including verification.
    var updateTimeout: Duration { get }
    /// The maximum wait for a first document; by default the maximum time of an update.
    var preparationTimeout: Duration { get }
    /// The maximum wait after failures, in seconds; by default an hour.
    var longestBackOff: TimeInterval { get }
    /// The minimum time between two updates that mismatches cause, in seconds; by default 15 minutes.
    var mismatchInterval: TimeInterval { get }

    /// Downloads and verifies a document; nil if the server has no document other than the current one.
    func fetch(
        from provider: any RemoteDataProvider, replacing current: CurrentDocument<Content>
    ) async throws(StoreError) -> FetchedDocument<Content>?
    /// The initial content, at the start and after a reset; by default the stored one.
    /// - Parameter stored: the stored and verified content; nil if nothing is stored.
    func beginning(with stored: Content?) -> Content?
    /// Verifies the stored record.
    /// - Parameters:
    ///   - record: the stored record.
    ///   - latest: the maximum issue time; a document's issue time is limited to it, no matter what its signer states.
    ///   - time: the trusted time.
    func content(of record: StoredRecord, issuedUpTo latest: Date, at time: Date) throws(DocumentError) -> Content
    /// The time at which a document was made, according to its signer; nil if that is not signed.
    func issueTime(of content: Content) -> Date?
    /// Whether a document may replace the current one. Its issue time becomes the newest.
    func checkReplaces(_ new: Content, _ old: Content?, newestIssue: Date?, at time: Date) throws(DocumentError)
    /// The reason why a document cannot be used at a time; nil if it can.
    func obstacle(to content: Content?, at time: Date) -> StoreError?
    /// Whether a document is valid, or why not; by default it is valid unless there is an obstacle.
    func state(of content: Content?, at time: Date) -> StoreState
    /// The time at which the document has to be renewed.
    func nextUpdate(for content: Content, at time: Date, using generator: inout some RandomNumberGenerator) -> Date
    /// The events to report about a new document.
    func news(of content: Content) -> [StoreEvent]
    /// The document's assessment of the application's version; by default nil.
    func versionCheck(in content: Content) -> VersionCheck?
}

extension DocumentFormat {
    package var authority: X509Certificate? { nil }
    package var configurationError: StoreError? { nil }
    package var caveat: String? { nil }
    package var preparationTimeout: Duration { updateTimeout }
    package var longestBackOff: TimeInterval { BackOff.longest }
    package var mismatchInterval: TimeInterval { UpdateSchedule.shortestInterval }

    package func beginning(with stored: Content?) -> Content? { stored }

    package func state(of content: Content?, at time: Date) -> StoreState {
        content == nil ? .absent : obstacle(to: content, at: time) == nil ? .fresh : .expired
    }

    package func versionCheck(in content: Content) -> VersionCheck? { nil }

    /// Verifies a downloaded document, in the same way as it is verified again when it is loaded.
    package func verified(
        _ record: StoredRecord, replacing current: CurrentDocument<Content>
    ) throws(StoreError) -> FetchedDocument<Content> {
        do throws(DocumentError) {
            let content = try content(of: record, issuedUpTo: current.latestIssue(), at: current.time())
            return FetchedDocument(record: record, content: content)
        } catch {
            throw StoreError(error)
        }
    }
}

/// The state that a format receives when it requests a document.
package struct CurrentDocument<Content: Sendable>: Sendable {
    /// The document that is in use now.
    package let content: Content?
    /// The server's entity tag for it.
    package let entityTag: String
    /// Returns the current trusted time, because the response may take a while.
    package let time: @Sendable () -> Date
    /// Returns the maximum issue time of a document that may be accepted at the moment.
    package let latestIssue: @Sendable () -> Date
}

/// A verified document with its stored record.
package struct FetchedDocument<Content: Sendable>: Sendable {
    var record: StoredRecord
    let content: Content
    /// The reason why there is no new document. Parts that were verified before, such as newer keys and versions, are
    /// kept.
    var shortfall: StoreError?

    package init(record: StoredRecord, content: Content, shortfall: StoreError? = nil) {
        self.record = record
        self.content = content
        self.shortfall = shortfall
    }
}

/// The state of a store at one moment; replaced as a whole.
package final class DocumentSnapshot<Content: Sendable>: Sendable {
    /// The verified document; nil if the store has none.
    package let content: Content?
    package let trustedTime: TrustedTime

    package init(content: Content?, trustedTime: TrustedTime) {
        self.content = content
        self.trustedTime = trustedTime
    }
}
