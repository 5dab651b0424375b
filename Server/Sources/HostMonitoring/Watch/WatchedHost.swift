import Holdfast
import ServerFoundation
import ServerModel

/// A host to probe, with every key and certificate that it may present.
struct WatchedHost: Sendable, Hashable {
    /// The host, with its port.
    let host: DialedHost
    /// The address to connect to instead of those that the name resolves to; nil for these.
    let dial: DialedHost?
    /// Whether it is known to have keys of one kind only.
    let hasOneKeyKind: Bool
    /// The published and announced pins; nil if it has none.
    let known: PinSet?

    /// Describes a host.
    /// - Parameters:
    ///   - hasOneKeyKind: whether it is known to have keys of one kind only, so that it is not probed for another.
    ///   - published: its entry in the published content; nil if it has none.
    ///   - announcedCertificates: DER of the certificates that it will present.
    ///   - announcedKeys: DER of the SubjectPublicKeyInfo of backup keys.
    /// - Throws: ``ServerError`` `invalidValue` for a certificate or key that cannot be read.
    init(
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
