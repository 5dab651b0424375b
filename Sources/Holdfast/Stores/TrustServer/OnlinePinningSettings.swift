public import struct Foundation.Date
public import struct Foundation.TimeInterval

/// How a trust server's document is fetched, kept and believed: what ``TrustServerStore`` and the online types of
/// ``ComposePolicy`` and ``ValidationSettings`` have beyond server, signer and customer.
///
/// A value; safe to use from any thread.
public struct OnlinePinningSettings: Sendable {
    /// How long a document is fresh, in seconds from its timestamp; an hour by default.
    public var maxAge: TimeInterval = 3_600
    /// How long past that it still counts while updates are tried, each use reported, in seconds; a day by default.
    public var grace: TimeInterval = 86_400
    /// The longest that an adapter waits for a document before it decides; 10 s by default.
    public var preparationTimeout: Duration = .seconds(10)
    /// How much a document may ask of its reader.
    public var limits = DocumentLimits()
    /// Whether digests with SHA-1 will do, as in documents made before 2018.
    public var allowsLegacyDigests = false
    /// When the application was built: no time before it is believed. nil where that is not known.
    public var buildDate: Date?
    /// Downloads the document. It validates its server by the standard, never through the trust manager that the pins
    /// are for.
    public var remoteDataProvider: any RemoteDataProvider = URLSessionDataProvider()
    /// Keeps the document, exactly as it was signed.
    public var secureDataStore: any SecureDataStore = FileDataStore()

    /// The settings that suit most applications.
    public init() {}

    /// What cannot be meant; nil where everything can.
    var error: CertStoreError? {
        guard maxAge.isFinite, grace.isFinite, maxAge > 0, grace >= 0, preparationTimeout > .zero else {
            return CertStoreError(
                .invalidConfiguration,
                expected: "a maxAge and a preparationTimeout above zero, and a grace of zero or more",
                found: "maxAge \(maxAge), grace \(grace), preparationTimeout \(preparationTimeout)")
        }
        return nil
    }
}
