public import struct Foundation.Date

/// How a trust server's document is fetched, kept and believed: what ``TrustServerStore`` and the online types of
/// ``ComposePolicy`` and ``ValidationSettings`` have beyond server, signer and customer.
public struct OnlinePinningSettings: Sendable {
    /// How long a document is fresh, from its timestamp on; an hour by default.
    public var maxAge: Duration = .seconds(3_600)
    /// How long past that it still counts while updates are tried, each use reported; a day by default.
    public var grace: Duration = .seconds(86_400)
    /// The longest that an adapter waits for a document before it decides; 10 s by default.
    public var preparationTimeout: Duration = .seconds(10)
    /// The longest time that an update may take, from the request to the verified document.
    public var updateTimeout: Duration = .seconds(120)
    /// How much of a document is read.
    public var limits = DocumentLimits()
    /// Whether digests with SHA-1 will do, as in documents made before 2018.
    public var allowsLegacyDigests = false
    /// When the application was built; a clock that shows an earlier time is not believed. nil if it is not known.
    public var buildDate: Date?
    /// Downloads the document. It validates its server by the standard, never through the trust manager that the pins
    /// are for.
    public var remoteDataProvider: any RemoteDataProvider = URLSessionDataProvider()
    /// Keeps the document, exactly as it was signed.
    public var secureDataStore: any SecureDataStore = FileDataStore()

    /// The settings that suit most applications.
    public init() {}

    /// What cannot be meant; nil where everything can.
    var error: StoreError? {
        guard maxAge > .zero, grace >= .zero, preparationTimeout > .zero, updateTimeout > .zero else {
            return StoreError(
                .invalidConfiguration,
                expected: "a maxAge and timeouts above zero, and a grace of zero or more",
                found: "maxAge \(maxAge), grace \(grace), timeouts \(preparationTimeout) and \(updateTimeout)")
        }
        return nil
    }
}
