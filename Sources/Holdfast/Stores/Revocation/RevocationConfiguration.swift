public import struct Foundation.URL

/// The configuration of a ``RevocationStore``: the places of its lists, how it keeps them, and the rules for an unknown
/// status.
///
/// ```swift
/// var configuration = RevocationConfiguration(authorities: [.init(certificate: issuing, urls: [url])])
/// configuration.unknownLeaf = .fails
/// ```
public struct RevocationConfiguration: Sendable {
    /// An authority whose lists are fetched from URLs in the configuration.
    public struct Authority: Sendable {
        /// The authority whose certificates the lists cover.
        public var certificate: X509Certificate
        /// The certificate to which the path of another signer of its lists must lead; by default the certificate
        /// itself.
        public var anchor: X509Certificate
        /// The URLs of its lists, `http` or `https`.
        public var urls: [URL]

        /// Names an authority and the URLs of its lists.
        /// - Parameters:
        ///   - certificate: the authority whose certificates the lists cover.
        ///   - anchor: the certificate to which the path of another signer has to lead, such as the root above
        ///     `certificate`; nil for `certificate` itself.
        ///   - urls: the URLs of its lists, `http` or `https`.
        public init(certificate: X509Certificate, anchor: X509Certificate? = nil, urls: [URL]) {
            self.certificate = certificate
            self.anchor = anchor ?? certificate
            self.urls = urls
        }
    }

    /// Authorities whose lists are fetched whether or not one of their certificates was seen.
    public var authorities: [Authority]
    /// Whether the distribution points of certificates in validated paths are fetched as well. On Linux this requires
    /// that you set a ``remoteDataProvider``.
    public var followsDistributionPoints = true
    /// Certificates of list signers, and of issuers above these; this does not make them trusted.
    public var certificates: [X509Certificate] = []
    /// The application's own lists, which are used in addition to those that are fetched.
    public var lists: [CertificateRevocationList] = []
    /// The rule for a leaf whose status is unknown. With `.fails`, no server is trusted before the first list arrives.
    public var unknownLeaf = Revocation.UnknownStatus.passesWithoutList
    /// The rule for an issuer whose status is unknown.
    public var unknownIssuer = Revocation.UnknownStatus.passesWithoutList
    /// The times at which lists are fetched again: every 6 h, more often in the last day before a list's nextUpdate.
    public var schedule = UpdateSchedule(
        updateInterval: .seconds(6 * 3_600), expirationThreshold: .seconds(24 * 3_600))
    /// The maximum size of a fetched list, in bytes; at most, and by default, 64 MiB.
    public var maximumBytes = CertificateRevocationList.maximumBytes
    /// The maximum number of lists that are kept. A place that was found in paths is removed for another one once no
    /// path has named it for a day.
    public var maximumLists = 64
    /// The maximum size of all lists together whose places only certificates name, in bytes; 256 MiB by default. Lists
    /// beyond that are not kept.
    public var maximumTotalBytes = 256 << 20
    /// The maximum time that an update of one list may take, from the first request to the verified list.
    public var updateTimeout = Duration.seconds(120)
    /// The maximum time that ``RevocationStore/prepare()`` waits.
    public var preparationTimeout = Duration.seconds(30)
    /// Downloads lists. On Linux the default refuses `http:`, over which most authorities publish their lists: set
    /// HoldfastAsyncHTTPClient's `AsyncHTTPClientDataProvider`.
    public var remoteDataProvider: any RemoteDataProvider = URLSessionDataProvider() {
        didSet { isProviderGiven = true }
    }
    private var isProviderGiven = false

    /// Whether places that certificates name are fetched: a peer chooses them, so the provider must bound its memory.
    var fetchesNamedPlaces: Bool {
        #if canImport(Security)
        followsDistributionPoints
        #else
        followsDistributionPoints && isProviderGiven
        #endif
    }
    /// Keeps lists, exactly as they were signed.
    public var secureDataStore: any SecureDataStore = FileDataStore(
        maximumBytes: CertificateRevocationList.maximumBytes + (1 << 20))

    /// Settings that suit most applications.
    /// - Parameter authorities: the authorities whose lists are fetched whether or not one of their certificates was
    ///   seen.
    public init(authorities: [Authority] = []) { self.authorities = authorities }

    /// The error in the configuration; nil if it is valid.
    var error: StoreError? {
        for url in authorities.flatMap(\.urls) where RevocationPlace.key(of: url) == nil {
            return StoreError(
                .invalidConfiguration, expected: "an http or https URL of a list, at most 2,048 octets of ASCII",
                found: url.quotedAddress)
        }
        let shared = Dictionary(grouping: authorities.flatMap(\.urls).compactMap(RevocationPlace.key(of:)), by: \.self)
        guard shared.values.allSatisfy({ $0.count <= RevocationAuthorities.maximumCount }) else {
            return StoreError(
                .invalidConfiguration,
                expected: "at most \(RevocationAuthorities.maximumCount) authorities with one URL", found: "more")
        }
        guard updateTimeout > .zero, preparationTimeout > .zero, maximumLists > 0, maximumTotalBytes > 0,
            (1...CertificateRevocationList.maximumBytes).contains(maximumBytes)
        else {
            return StoreError(
                .invalidConfiguration,
                expected:
                    "timeouts, maximumLists and maximumTotalBytes above zero, and maximumBytes of at most 64 MiB",
                found: """
                    timeouts \(updateTimeout) and \(preparationTimeout), \(maximumLists) lists, \(maximumBytes) bytes, \
                    \(maximumTotalBytes) together
                    """)
        }
        guard authorities.reduce(0, { $0 + $1.urls.count }) <= maximumLists else {
            return StoreError(
                .invalidConfiguration, expected: "at most \(maximumLists) URLs (maximumLists)", found: "more")
        }
        return nil
    }
}
