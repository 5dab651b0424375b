public import struct Foundation.Date

/// A certification path that passed every rule: the leaf, the issuers above it, the anchor last.
///
/// A value of this type is the proof: a ``ChainValidator`` makes one only after it has validated the chain. Pins are
/// matched against it, never against the certificates as presented.
public struct ValidatedPath: Sendable, Hashable {
    /// The certificates, leaf first, anchor last; never empty. A leaf that is itself an anchor is the only one.
    public let certificates: [X509Certificate]
    /// The first instant at which the path may no longer be valid. A certificate is valid through its last second.
    public let holdsUntil: Date
    /// The certificate policies that were required.
    let certificatePolicies: CertificatePolicies

    /// States that a path is valid, without any check. Use it in your own ``ChainValidator`` after it has validated the
    /// path, and in tests.
    /// - Parameters:
    ///   - leaf: the certificate whose key the handshake proves.
    ///   - issuers: each one signed its predecessor, the anchor last; empty if the leaf is itself an anchor.
    ///   - holdsUntil: the first instant at which the path may no longer be valid; nil if nothing that was checked ends
    ///     before the validity of its certificates.
    public init(uncheckedLeaf leaf: X509Certificate, issuers: [X509Certificate] = [], holdsUntil: Date? = nil) {
        self.init(certificates: [leaf] + issuers, holdsUntil: holdsUntil)
    }

    init(certificates: [X509Certificate], holdsUntil: Date? = nil, certificatePolicies: CertificatePolicies = .any) {
        self.certificates = certificates
        self.certificatePolicies = certificatePolicies
        self.holdsUntil = holdsUntil ?? certificates.lazy.map(\.validityEnd).min() ?? .distantFuture
    }

    /// The certificate whose key the handshake proved.
    public var leaf: X509Certificate? { certificates.first }
    /// The anchor at which the path ends.
    public var anchor: X509Certificate? { certificates.last }
}

extension X509Certificate {
    /// The first instant that its validity no longer covers: ``notAfter`` is the last second that it covers.
    public var validityEnd: Date { min(Date(wholeSeconds: layout.end), .distantFuture) }

    /// The earliest end among the certificates that are still valid at a time.
    static func earliestEnd(of certificates: [X509Certificate], after time: Date) -> Date {
        certificates.lazy.map(\.validityEnd).filter { time < $0 }.min() ?? .distantFuture
    }
}

extension ValidatedPath: CustomStringConvertible {
    /// One line per certificate, leaf first: the `sha256/…` of its key and its subject.
    public var description: String { certificates.map { "\($0.publicKeyPin): \($0.subject)" }.joined(separator: "\n") }
}
