import Crypto
import Foundation
import Holdfast

/// A pin that no key of a chain has, although it was made from that chain: the hash of something else than what is pinned,
/// which the commonest slips of tools and hands leave behind.
///
/// It explains a refusal to a person, and decides nothing. It hashes what is presented a fixed number of times.
struct PinNearMiss: Sendable, Hashable {
    /// The pin that was configured.
    let pin: Pin
    /// The pin that was meant.
    let meant: Pin
    /// The bytes that were hashed instead, in words.
    let what: String

    /// Certificates of a chain that are looked at. No legitimate chain has more.
    private static let maximumCertificates = 16

    /// The near misses among pins that were configured.
    /// - Parameters:
    ///   - pins: those that were configured.
    ///   - certificates: those of the chain, leaf first.
    static func all(of pins: [Pin], in certificates: [X509Certificate]) -> [PinNearMiss] {
        var made: [[UInt8]: (meant: Pin, what: String)] = [:]
        for (position, certificate) in certificates.prefix(maximumCertificates).enumerated() {
            let owner = position == 0 ? "the server's own certificate" : "certificate \(position + 1) of the chain"
            for (octets, what) in mistaken(certificate) {
                let digest = Array(SHA256.hash(data: octets))
                if made[digest] == nil { made[digest] = (certificate.publicKeyPin, "\(what) of \(owner)") }
            }
        }
        let known = Set(certificates.prefix(maximumCertificates).map(\.publicKeyPin.digest))
        return pins.compactMap { pin in
            switch pin.subject {
            case .publicKey:
                return made[pin.digest].map { PinNearMiss(pin: pin, meant: $0.meant, what: $0.what) }
            case .certificate:
                guard known.contains(pin.digest), let meant = try? Pin(subject: .publicKey, digest: pin.digest) else {
                    return nil
                }
                return PinNearMiss(pin: pin, meant: meant, what: "the public key, not the certificate")
            }
        }
    }

    /// Bytes that are hashed by mistake in place of a SubjectPublicKeyInfo in DER.
    private static func mistaken(_ certificate: X509Certificate) -> [(octets: [UInt8], what: String)] {
        let key = Array(certificate.subjectPublicKeyInfo)
        var found: [(octets: [UInt8], what: String)] = [
            (certificate.der, "the whole certificate"),
            (pem("CERTIFICATE", certificate.der, "\n"), "the whole certificate in PEM"),
            (pem("CERTIFICATE", certificate.der, ""), "the whole certificate in PEM"),
            (pem("PUBLIC KEY", key, "\n"), "the public key in PEM"),
            (pem("PUBLIC KEY", key, ""), "the public key in PEM"),
            (Array(Data(key).base64EncodedString().utf8), "the Base64 of the public key"),
            (Array(SHA256.hash(data: key)), "the SHA-256 of the public key, hashed twice,"),
            (Array(Insecure.SHA1.hash(data: key)), "the SHA-1 of the public key"),
        ]
        var reader = try? DERReader(sequence: key)
        guard (try? reader?.next(0x30)) != nil, let bare = try? reader?.nextBits(of: "a key") else { return found }
        found.append((Array(key[bare]), "the bare key without its algorithm"))
        // The BIT STRING with its octet of unused bits, and a point without the octet that says its form.
        found.append(([0] + key[bare], "the bare key without its algorithm"))
        if key[bare].first == 4 { found.append((Array(key[bare].dropFirst()), "the bare point of the key")) }
        return found
    }

    private static func pem(_ label: String, _ der: [UInt8], _ end: String) -> [UInt8] {
        let base64 = Array(Data(der).base64EncodedString().utf8)
        let lines = stride(from: 0, to: base64.count, by: 64).map {
            String(decoding: base64[$0..<min($0 + 64, base64.count)], as: UTF8.self)
        }
        return Array((["-----BEGIN \(label)-----"] + lines + ["-----END \(label)-----"]).joined(separator: "\n").utf8)
            + Array(end.utf8)
    }

    /// A sentence about it.
    var text: String {
        pin.subject == .publicKey
            ? "\(pin) is the SHA-256 of \(what), not of the SubjectPublicKeyInfo: pin \(meant) instead"
            : "\(pin) is the SHA-256 of \(what): write \(meant)"
    }
}
