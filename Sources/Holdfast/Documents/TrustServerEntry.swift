/// What a trust-server document says about one host: the certificates and the keys that may stand in its chain.
///
/// By itself it proves nothing: that its signer vouched for it says the ``TrustServerDocument`` that it came in. A
/// value; safe to use from any thread.
public struct TrustServerEntry: Sendable, Hashable {
    /// The host as it was signed, without its port.
    public let hostname: String
    /// The port that the entry is for; nil where it names none.
    public let port: Int?
    /// Pins of certificates (`fp`), in the order of the document.
    public let certificatePins: [Pin]
    /// Pins of keys (`pk`), in the order of the document.
    public let publicKeyPins: [Pin]
}
