import Crypto
import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import HoldfastPublishing

@Suite("Pins that were made from something else")
struct PinNearMissTests {
    private let chain: [X509Certificate]

    init() throws {
        let leaf = try TestAuthority.root().intermediate().leaf(names: ["api.example.com"])
        chain = try leaf.chain.map { try X509Certificate(der: $0) }
    }

    private func texts(_ octets: [UInt8], _ subject: Pin.Subject = .publicKey) throws -> [String] {
        let pin = try Pin(subject: subject, digest: Array(SHA256.hash(data: octets)))
        return PinNearMiss.all(of: [pin], in: chain).map(\.text)
    }

    @Test("The hash of the certificate, of the bare key and of other forms is named, with the pin that was meant")
    func named() throws {
        let (leaf, key) = (chain[0], Array(chain[0].subjectPublicKeyInfo))
        let pem = "-----BEGIN PUBLIC KEY-----\n"
        let base64 = Data(key).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        let forms: [([UInt8], String)] = [
            (leaf.der, "the whole certificate of the server's own certificate"),
            (Array(key.suffix(65)), "the bare key"), (Array(key.suffix(64)), "the bare point"),
            (Array("\(pem)\(base64)\n-----END PUBLIC KEY-----\n".utf8), "the public key in PEM"),
            (Array(SHA256.hash(data: key)), "hashed twice"), (chain[1].der, "of certificate 2 of the chain"),
        ]
        for (octets, words) in forms {
            let text = try #require(try texts(octets).first, "\(words)")
            #expect(text.contains(words) && text.contains("instead"))
        }
        for (octets, words) in [
            (Array("\(base64)\n".utf8), "the Base64 of the public key"),
            (Array(Hexadecimal.encode(key).utf8), "the public key in hexadecimal"),
            (Array("\(Hexadecimal.encode(key).uppercased())\n".utf8), "the public key in hexadecimal"),
            (Array("\(Hexadecimal.encode(leaf.publicKeyPin.digest))\n".utf8), "the pin in hexadecimal, hashed once"),
            (Array(Hexadecimal.encode(leaf.der).utf8), "the whole certificate in hexadecimal"),
            (Array("\(leaf.publicKeyPin.description.dropFirst("sha256/".count))\n".utf8), "hashed once more"),
        ] {
            #expect(try texts(octets).first?.contains(words) == true, "\(words)")
        }
        let whole =
            "-----BEGIN CERTIFICATE-----\n"
            + Data(leaf.der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
            + "\n-----END CERTIFICATE-----\n"
        #expect(try texts(Array(whole.utf8), .certificate)[0].contains("pin \(leaf.certificatePin) instead"))
        let rsa = try X509Certificate(
            der: TestAuthority.root().leaf(names: ["a.example.com"], key: .sharedRSA(bits: 2048, index: 0)).der)
        let bits = Array(rsa.subjectPublicKeyInfo.suffix(270))
        // INTEGER of 257 bytes, whose first is zero, and the exponent.
        let modulus = "Modulus=\(Hexadecimal.encode(bits.dropFirst(9).prefix(256)).uppercased())\n"
        let pin = try Pin(subject: .publicKey, digest: Array(SHA256.hash(data: Data(modulus.utf8))))
        #expect(PinNearMiss.all(of: [pin], in: [rsa]).first?.what.contains("modulus") == true)
        #expect(try texts(leaf.der)[0].contains("\(leaf.publicKeyPin)"))
        #expect(try texts(key, .certificate)[0].contains("write \(leaf.publicKeyPin)"))
    }

    @Test("The right pin and the pins of strangers are no near misses")
    func others() throws {
        #expect(try texts(Array(chain[0].subjectPublicKeyInfo)).isEmpty)
        #expect(try texts(chain[0].der, .certificate).isEmpty)
        #expect(try texts([1, 2, 3]).isEmpty)
    }
}
