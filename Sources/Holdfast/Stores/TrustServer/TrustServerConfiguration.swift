public import struct Foundation.Date
public import struct Foundation.URL

/// The configuration of a ``TrustServerStore``: the URL of its document, the signer, and the customer.
///
/// ```swift
/// let configuration = TrustServerConfiguration(
///     url: url, signer: try TrustServerSigner(certificate: certificate), customer: "gcx")
/// ```
public struct TrustServerConfiguration: Sendable {
    /// The URL from which the document is downloaded.
    public var url: URL
    /// The signer of the document.
    public var signer: TrustServerSigner
    /// The customer that the document must be for.
    public var customer: String

    /// The values of `maximumAge` and `grace` unless an application sets others.
    package static let (usualMaximumAge, usualGrace) = (Duration.seconds(3_600), Duration.seconds(86_400))

    /// The time for which a document is fresh, from its timestamp on; an hour by default.
    public var maximumAge = TrustServerConfiguration.usualMaximumAge
    /// The time after that for which it is still accepted while the store retries the download; every such use is
    /// reported. A day by default.
    public var grace = TrustServerConfiguration.usualGrace
    /// The maximum time that an adapter waits for a document before it decides; 10 s by default.
    public var preparationTimeout: Duration = .seconds(10)
    /// The maximum time that an update may take, from the request to the verified document.
    public var updateTimeout: Duration = .seconds(120)
    /// The limits for reading a document.
    public var limits = DocumentLimits()
    /// Whether SHA-1 digests are accepted, as in documents made before 2018.
    public var allowsLegacyDigests = false
    /// The time at which the application was built; an earlier time of the clock is ignored. nil if it is not known.
    public var buildDate: Date?
    /// Downloads the document. It uses standard validation for its server, never the trust manager that uses the pins.
    public var remoteDataProvider: any RemoteDataProvider = URLSessionDataProvider()
    /// Keeps the document, exactly as it was signed.
    public var secureDataStore: any SecureDataStore = FileDataStore()

    /// Sets up a store.
    public init(url: URL, signer: TrustServerSigner, customer: String) {
        self.url = url
        self.signer = signer
        self.customer = customer
    }

    /// The error in the configuration; nil if it is valid.
    var error: StoreError? {
        guard (1...DocumentLimits.nameBytes).contains(customer.utf8.count) else {
            return StoreError(
                .invalidConfiguration, expected: "the name of a customer, 1 to \(DocumentLimits.nameBytes) octets",
                found: "\(customer.utf8.count) octets")
        }
        guard maximumAge > .zero, grace >= .zero, preparationTimeout > .zero, updateTimeout > .zero else {
            return StoreError(
                .invalidConfiguration,
                expected: "a maximumAge and timeouts above zero, and a grace of zero or more",
                found: "maximumAge \(maximumAge), grace \(grace), timeouts \(preparationTimeout) and \(updateTimeout)")
        }
        return nil
    }
}
