import Crypto
import Foundation
import Holdfast

/// A pin that no key of a chain has although it was made from that chain: the hash of other bytes than those that are
/// pinned, as the most common mistakes of tools and people produce.
///
/// It explains a refusal to people and decides nothing. It computes a fixed number of hashes of the presented
/// certificates.
struct PinNearMiss: Sendable, Hashable {
    /// The pin that was configured.
    let pin: Pin
    /// The pin that was meant.
    let meant: Pin
    /// A description of the bytes that were hashed instead.
    let what: String

    /// Maximum number of examined certificates of a chain. No legitimate chain has more.
    private static let maximumCertificates = 16

    /// Finds near misses among configured pins.
    /// - Parameters:
    ///   - pins: the configured pins.
    ///   - certificates: the certificates of the chain, leaf first.
    static func all(of pins: [Pin], in certificates: [X509Certificate]) -> [PinNearMiss] {
        var made: [[UInt8]: (meant: Pin, what: String)] = [:]
        var certificatesOf: [[UInt8]: (meant: Pin, what: String)] = [:]
        for (position, certificate) in certificates.prefix(maximumCertificates).enumerated() {
            let owner = position == 0 ? "the server's own certificate" : "certificate \(position + 1) of the chain"
            for (octets, what) in mistakenCertificates(certificate) {
                certificatesOf[Array(SHA256.hash(data: octets))] = (certificate.certificatePin, "\(what) of \(owner)")
            }
            for (octets, what) in mistaken(certificate) + mistakenCertificates(certificate) {
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
                if let other = certificatesOf[pin.digest] {
                    return PinNearMiss(pin: pin, meant: other.meant, what: other.what)
                }
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
            (pem("PUBLIC KEY", key, "\n"), "the public key in PEM"),
            (pem("PUBLIC KEY", key, ""), "the public key in PEM"),
            (Array(Data(key).base64EncodedString().utf8), "the Base64 of the public key"),
            (Array("\(Data(key).base64EncodedString())\n".utf8), "the Base64 of the public key"),
            (body(key), "the Base64 of the public key"),
            (Array(certificate.publicKeyPin.base64.utf8), "the pin in Base64, hashed once more,"),
            (Array("\(certificate.publicKeyPin.base64)\n".utf8), "the pin in Base64, hashed once more,"),
            (Array(SHA256.hash(data: key)), "the SHA-256 of the public key, hashed twice,"),
            (Array(Insecure.SHA1.hash(data: key)), "the SHA-1 of the public key"),
        ]
        found += hexadecimal(key).map { ($0, "the public key in hexadecimal") }
        found += hexadecimal(certificate.publicKeyPin.digest).map { ($0, "the pin in hexadecimal, hashed once more,") }
        var reader = try? DERReader(sequence: key)
        guard (try? reader?.next(0x30)) != nil, let bare = try? reader?.nextBits(of: "a key") else { return found }
        found.append((Array(key[bare]), "the bare key without its algorithm"))
        // The BIT STRING with its byte for unused bits, and a point without the byte for its form.
        found.append(([0] + key[bare], "the bare key without its algorithm"))
        if key[bare].first == 4 { found.append((Array(key[bare].dropFirst()), "the bare point of the key")) }
        found += modulus(Array(key[bare])).map { ($0, "the modulus of the key as openssl prints it") }
        return found
    }

    /// Bytes that are hashed by mistake in place of a certificate in DER.
    private static func mistakenCertificates(_ certificate: X509Certificate) -> [(octets: [UInt8], what: String)] {
        [
            (pem("CERTIFICATE", certificate.der, "\n"), "the whole certificate in PEM"),
            (pem("CERTIFICATE", certificate.der, ""), "the whole certificate in PEM"),
            (body(certificate.der), "the Base64 of the whole certificate"),
            (Array(Data(certificate.der).base64EncodedString().utf8), "the Base64 of the whole certificate"),
        ] + hexadecimal(certificate.der).map { ($0, "the whole certificate in hexadecimal") }
    }

    /// The digits of bytes as tools print them: small or capital, with a line feed or without one.
    private static func hexadecimal(_ octets: [UInt8]) -> [[UInt8]] {
        let text = Hexadecimal.encode(octets)
        return [text, text.uppercased()].flatMap { [Array($0.utf8), Array("\($0)\n".utf8)] }
    }

    /// The output of `openssl x509 -modulus` and `openssl rsa -modulus` for an RSAPublicKey (RFC 8017 A.1.1).
    private static func modulus(_ key: [UInt8]) -> [[UInt8]] {
        guard var reader = try? DERReader(sequence: key), let number = try? reader.next(0x02).content else {
            return []
        }
        let text = "Modulus=\(Hexadecimal.encode(key[number].drop { $0 == 0 }).uppercased())"
        return [Array("\(text)\n".utf8), Array(text.utf8)]
    }

    /// The lines of a PEM block without its first and last.
    private static func body(_ der: [UInt8]) -> [UInt8] {
        let options: Data.Base64EncodingOptions = [.lineLength64Characters, .endLineWithLineFeed]
        return Array("\(Data(der).base64EncodedString(options: options))\n".utf8)
    }

    private static func pem(_ label: String, _ der: [UInt8], _ end: String) -> [UInt8] {
        let base64 = Array(Data(der).base64EncodedString().utf8)
        let lines = stride(from: 0, to: base64.count, by: 64).map {
            String(decoding: base64[$0..<min($0 + 64, base64.count)], as: UTF8.self)
        }
        return Array((["-----BEGIN \(label)-----"] + lines + ["-----END \(label)-----"]).joined(separator: "\n").utf8)
            + Array(end.utf8)
    }

    /// A sentence that explains the mistake.
    var text: String {
        guard pin.subject == .publicKey || meant.subject == .publicKey else {
            return "\(pin) is the SHA-256 of \(what), not of its DER: pin \(meant) instead"
        }
        return pin.subject == .publicKey
            ? "\(pin) is the SHA-256 of \(what), not of the SubjectPublicKeyInfo: pin \(meant) instead"
            : "\(pin) is the SHA-256 of \(what): write \(meant)"
    }
}
