public import Holdfast

/// A host to look at, and every key and certificate that it may show.
public struct WatchedHost: Sendable, Hashable {
    /// The host, with its port.
    public let host: DialedHost
    /// Where to connect instead of the addresses that the name resolves to; nil for these.
    public let dial: DialedHost?
    /// Whether it is known to have keys of one kind only.
    public let hasOneKeyKind: Bool
    /// What is published for it and what its owner announced; nil as long as there is nothing.
    public let known: PinSet?

    /// Describes a host.
    /// - Parameters:
    ///   - hasOneKeyKind: whether it is known to have keys of one kind only, so that it is not asked for another.
    ///   - published: what the published content says of it; nil if it says nothing.
    ///   - announcedCertificates: DER of certificates that it is about to show.
    ///   - announcedKeys: DER of the SubjectPublicKeyInfo of keys that stand ready.
    /// - Throws: ``ServerError`` `invalidValue` for a certificate or key that cannot be read.
    public init(
        _ host: DialedHost, dial: DialedHost? = nil, hasOneKeyKind: Bool = false, published: ContentHost?,
        announcedCertificates: [[UInt8]] = [], announcedKeys: [[UInt8]] = []
    ) throws(ServerError) {
        self.host = host
        self.dial = dial
        self.hasOneKeyKind = hasOneKeyKind
        var rules: [PinRule] = []
        do {
            for key in published?.keys ?? [] {
                let pin = try Pin(subject: .publicKey, digest: key.pin.bytes)
                rules.append(PinRule(pin, at: key.role == .leaf ? .leaf : .issuer))
            }
            for certificate in published?.certificates ?? [] {
                let pin = try Pin(subject: .certificate, digest: certificate.fingerprint.bytes)
                rules.append(PinRule(pin, at: .depth(Int(certificate.depth))))
            }
            for certificate in announcedCertificates {
                rules.append(PinRule(try .publicKey(of: certificate), at: .leaf))
            }
            for key in announcedKeys { rules.append(PinRule(try .publicKey(spkiDER: key), at: .leaf)) }
            known = rules.isEmpty ? nil : try PinSet(rules: rules)
        } catch {
            throw ServerError(
                .invalidValue, of: host.description, expected: "certificates and keys that can be read",
                found: "\(error)")
        }
    }
}
