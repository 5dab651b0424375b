public import Holdfast

public import struct Foundation.Date
public import struct Foundation.URL

/// How the online types of ``ComposePolicy`` and ``ValidationSettings`` download, store and verify their document. These
/// are the properties of `TrustServerConfiguration` other than server, signer and customer, with the same defaults.
public struct OnlinePinningSettings: Sendable {
    /// How long a document is fresh, from its timestamp on.
    public var maximumAge = TrustServerConfiguration.usualMaximumAge
    /// How long after that a document is still accepted while the store retries the download. Every such use is
    /// reported.
    public var grace = TrustServerConfiguration.usualGrace
    /// The longest time that an adapter waits for a document before it decides.
    public var preparationTimeout: Duration = .seconds(10)
    /// The longest time that an update may take, from the request to the verified document.
    public var updateTimeout: Duration = .seconds(120)
    /// How much of a document may be read.
    public var limits = DocumentLimits()
    /// Whether SHA-1 digests are accepted, as in documents made before 2018.
    public var allowsLegacyDigests = false
    /// When the application was built; an earlier time of the clock is ignored. nil if it is not known.
    public var buildDate: Date?
    /// Downloads the document.
    public var remoteDataProvider: any RemoteDataProvider = URLSessionDataProvider()
    /// Keeps the document, exactly as it was signed.
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
