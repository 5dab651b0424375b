/// The way in which a policy validates a server. The raw values are part of the API (GCXTrustPolicy's).
public enum ValidationType: Int, Sendable, Hashable, CaseIterable {
    /// Accepts every server; the decision reports it. For development.
    case disabled = 0
    /// The chain validates for the host at that time against the anchors.
    case standard = 1
    /// The application's closure decides.
    case custom = 2
    /// Standard validation, and a pinned certificate is in a valid path.
    case pinCertificate = 3
    /// Standard validation, and a pinned public key is in a valid path.
    case pinPublicKey = 4
    /// Like `pinCertificate`, but with the pins of a verified trust-server document.
    case pinCertificateOnline = 5
    /// Like `pinPublicKey`, but with the pins of a verified trust-server document.
    case pinPublicKeyOnline = 6
}
