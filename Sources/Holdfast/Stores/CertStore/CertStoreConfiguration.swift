public import Foundation

/// The configuration of a ``CertStore``: the source of its document, the signer, and the times of renewal.
///
/// ```swift
/// let configuration = CertStoreConfiguration(
///     serviceURL: url, publicKey: "BMne…kdh2ak=", useChallenge: true)
/// ```
public struct CertStoreConfiguration: Sendable {
    /// The URL from which the document is downloaded. Use a domain that the document does not pin.
    ///
    /// A document cannot pin its own download, so an attacker with a certificate from any trusted authority can
    /// intercept it. The attacker cannot forge a document. But later requests to the same host may use a connection
    /// that the attacker holds, or resume its TLS session, and then no pins are checked. A store logs a warning when it
    /// makes a policy that covers this host.
    public var serviceURL: URL
    /// The signer's public key: Base64 of the 65 bytes of its X9.63 form.
    public var publicKey: String
    /// Whether the server signs each response over the challenge that was sent; false for a static list.
    public var useChallenge: Bool
    /// The common names that may be validated; nil for any.
    public var expectedCommonNames: [String]?
    /// A name for the stored data, if an application names its stores itself; nil for a name made from the service's
    /// URL, the public key and the mode. Data that was stored under the same name for another URL, key or mode is
    /// ignored.
    public var identifier: String?
    /// JSON of an entry, or of a list, that counts until the first verified document with an entry in force; its
    /// signature is not checked.
    public var fallbackCertificateData: Data?
    /// More such entries. If both are given, both are used.
    public var fallbackCertificatesData: Data?
    /// The times at which documents are renewed.
    public var schedule: UpdateSchedule
    /// Whether the server is validated when the document is downloaded; only compatibility code turns this off.
    package var validatesServer = true

    /// The maximum time that an update may take, from the request to the verified document.
    public var updateTimeout: Duration = .seconds(120)
    /// The maximum time that an adapter waits for a first list before it decides.
    public var preparationTimeout: Duration = .seconds(10)
    /// The limits for reading a document.
    public var limits = DocumentLimits()
    /// The time at which the application was built; an earlier time of the clock is ignored. nil if it is not known.
    public var buildDate: Date?
    /// Whether a document that is signed as a whole may exempt a host from pins (`domainsConfig`).
    public var allowsDocumentsToDisablePinning = false
    /// Whether a static list may leave names without entries, or be empty. No signature covers entries that a list
    /// omits.
    public var acceptsLossOfPins = false
    /// Whether a mismatch, or a host without usable pins, starts an update, at most every 15 minutes.
    public var updatesOnMismatch = false
    /// Whether policies of the store may look for pins by the common name in the server's certificate.
    public var commonNameMatching = CommonNameMatching.never

    /// Configures a store; everything after `publicKey` has a default.
    public init(
        serviceURL: URL, publicKey: String, useChallenge: Bool = false, expectedCommonNames: [String]? = nil,
        identifier: String? = nil, fallbackCertificateData: Data? = nil, fallbackCertificatesData: Data? = nil,
        schedule: UpdateSchedule = UpdateSchedule()
    ) {
        self.serviceURL = serviceURL
        self.publicKey = publicKey
        self.useChallenge = useChallenge
        self.expectedCommonNames = expectedCommonNames
        self.identifier = identifier
        self.fallbackCertificateData = fallbackCertificateData
        self.fallbackCertificatesData = fallbackCertificatesData
        self.schedule = schedule
    }

    /// Whether a name may be validated. A peer may have chosen it, at any length.
    func expects(_ name: String) -> Bool {
        expectedCommonNames.map { expected in
            expected.contains { $0.hasSameOctets(as: name) }
                || expected.contains { FingerprintEntry.lookupName(of: $0).hasSameOctets(as: name) }
        } ?? true
    }
}

/// Whether pins may be found by the common name in the server's certificate, as the reference system finds them.
///
/// Prefer the dialed host: a peer that chooses the name also chooses the pins. With standard validation and an entry
/// for every host the difference is small. This is for lists whose names are not hosts.
public enum CommonNameMatching: String, Sendable, Hashable, CaseIterable {
    /// Pins are found by the dialed host only.
    case never
    /// Pins are found by the dialed host or, if it has no entries of any kind, by the common name in the server's
    /// certificate.
    case whenHostIsUnlisted
}
