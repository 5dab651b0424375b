public import Holdfast

public import struct Foundation.Date
public import struct Foundation.URL

/// The document settings of the online types of ``ComposePolicy`` and ``ValidationSettings``: the properties of
/// `TrustServerConfiguration` other than server, signer and customer, with the same defaults.
public struct OnlinePinningSettings: Sendable {
    /// The time for which a document is fresh, from its timestamp on.
    public var maximumAge = TrustServerConfiguration.usualMaximumAge
    /// The time after that for which a document is still accepted while the store retries the download. Every such use
    /// is reported.
    public var grace = TrustServerConfiguration.usualGrace
    /// The maximum time that an adapter waits for a document before it decides.
    public var preparationTimeout: Duration = .seconds(10)
    /// The maximum time of an update, from the request to the verified document.
    public var updateTimeout: Duration = .seconds(120)
    /// The limits for reading a document.
    public var limits = DocumentLimits()
    /// Whether SHA-1 digests are accepted, as in documents made before 2018.
    public var allowsLegacyDigests = false
    /// The build time of the application; an earlier time of the clock is ignored. nil if it is unknown.
    public var buildDate: Date?
    /// Downloads the document.
    public var remoteDataProvider: any RemoteDataProvider = URLSessionDataProvider()
    /// Stores the document, exactly as it was signed.
    public var secureDataStore: any SecureDataStore = FileDataStore()

    /// The settings that suit most applications.
    public init() {}
}

extension TrustServerConfiguration {
    /// Sets up the store of an online type.
    package init(url: URL, signer: TrustServerSigner, customer: String, settings: OnlinePinningSettings) {
        self.init(url: url, signer: signer, customer: customer)
        maximumAge = settings.maximumAge
        grace = settings.grace
        preparationTimeout = settings.preparationTimeout
        updateTimeout = settings.updateTimeout
        limits = settings.limits
        allowsLegacyDigests = settings.allowsLegacyDigests
        buildDate = settings.buildDate
        remoteDataProvider = settings.remoteDataProvider
        secureDataStore = settings.secureDataStore
    }
}
