/// A certification path that passed every rule: the leaf, the issuers above it, the anchor last.
///
/// Only a validator makes one, so holding one is the proof; pins are matched against it and never against what was
/// merely presented. A value; safe to use from any thread.
public struct ValidatedPath: Sendable, Hashable {
    /// The certificates, leaf first, anchor last; never empty. A leaf that is itself an anchor stands alone.
    public let certificates: [X509Certificate]

    /// For validators of this module only.
    init(certificates: [X509Certificate]) {
        self.certificates = certificates
    }

    /// The certificate whose key the handshake proved.
    public var leaf: X509Certificate? { certificates.first }
    /// The anchor that the path ends in.
    public var anchor: X509Certificate? { certificates.last }
}

extension ValidatedPath: CustomStringConvertible {
    /// One line a certificate, leaf first: the `sha256/…` of its key and its subject.
    public var description: String {
        certificates.map { "\($0.publicKeyPin): \($0.subject)" }.joined(separator: "\n")
    }
}
