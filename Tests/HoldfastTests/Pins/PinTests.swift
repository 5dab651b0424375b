import Crypto
import Foundation
import Testing

@testable import Holdfast

@Suite("Pins")
struct PinTests {
    private static let base64 = "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="
    private static let hex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

    private func code(_ text: String) -> PinError.Code? { error(text)?.code }

    private func error(_ text: String) -> PinError? {
        do throws(PinError) {
            _ = try Pin(text)
            return nil
        } catch { return error }
    }

    @Test("A certificate pin is the SHA-256 of every octet")
    func certificatePin() throws {
        // FIPS 180-2 appendix B.1
        let pin = Pin.certificate(Array("abc".utf8))
        #expect(pin.description == "cert-sha256/\(Self.hex)")
        #expect(pin.subject == .certificate)
        #expect(pin == (try Pin("cert-sha256/\(Self.hex)")))
    }

    @Test("The Base64 and the hexadecimal form hold the same digest for different subjects")
    func forms() throws {
        let key = try Pin("sha256/\(Self.base64)")
        let certificate = try Pin("cert-sha256/\(Self.hex)")
        #expect(key.digest == certificate.digest)
        #expect(key.digest == Array(SHA256.hash(data: Data("abc".utf8))))
        #expect(key != certificate)
        #expect(key.subject == .publicKey)
        #expect("\(key)" == "sha256/\(Self.base64)")
    }

    @Test("A key pin hashes the SubjectPublicKeyInfo as it stands in the certificate")
    func keyPin() throws {
        let key = P256.Signing.PrivateKey().publicKey.derRepresentation
        let expected = "sha256/" + Data(SHA256.hash(data: key)).base64EncodedString()
        let certificate = HandMadeDER.certificate(key: Array(key))
        #expect(try Pin.publicKey(of: certificate).description == expected)
        #expect(try Pin.publicKey(spkiDER: Array(key)).description == expected)
        #expect(try SubjectPublicKeyInfo(certificateDER: certificate).sha256Pin.description == expected)
    }

    @Test("curl's two slashes are read, also before a digest that begins with a slash")
    func curlSlashes() throws {
        #expect(try Pin("sha256//\(Self.base64)") == (try Pin("sha256/\(Self.base64)")))
        let slash = try Pin(subject: .publicKey, digest: [0xFF] + [UInt8](repeating: 0xFF, count: 31))
        let text = slash.description
        #expect(text.hasPrefix("sha256///"))
        #expect(try Pin(text) == slash)
        #expect(try Pin("sha256//" + text.dropFirst("sha256/".count)) == slash)
        #expect(code("sha256///\(Self.base64)") == .notBase64)
    }

    @Test("Hexadecimal is read in either case, with colons between all octets or none")
    func colons() throws {
        let pin = try Pin("cert-sha256/\(Self.hex)")
        let pairs = stride(from: 0, to: 64, by: 2).map { Self.hex.dropFirst($0).prefix(2) }
        let colons = pairs.joined(separator: ":")
        #expect(try Pin("cert-sha256/\(Self.hex.uppercased())") == pin)
        #expect(try Pin("cert-sha256/\(colons.uppercased())") == pin)
        for wrong in [
            colons + ":", ":" + colons, Self.hex.dropLast(2) + ":ad",
            colons.replacingOccurrences(of: "ba:78", with: "ba78"),
            Self.hex.replacingOccurrences(of: "ba78", with: "ba 78"), "b:" + Self.hex.dropFirst(),
            Self.hex.dropLast() + "g",
        ] {
            #expect(code("cert-sha256/\(wrong)") == .notHexadecimal, "\(wrong)")
        }
    }

    @Test("A digest of another length is refused, whatever holds it")
    func lengths() {
        for count in [0, 1, 20, 31, 33, 64] {
            #expect(throws: PinError.self) { try Pin(subject: .publicKey, digest: [UInt8](repeating: 7, count: count)) }
            let data = Data(repeating: 7, count: count)
            #expect(code("sha256/\(data.base64EncodedString())") == .wrongLength, "\(count)")
            #expect(code("cert-sha256/" + String(repeating: "07", count: count)) != nil, "\(count)")
        }
        #expect(code("cert-sha256/" + Self.hex.dropLast()) == .wrongLength)
    }

    @Test(
        "Base64 in any form but the canonical one is refused",
        arguments: [
            "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0", "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0==",
            "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa1=", "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0=",
            " ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=", "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=\n",
            "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa\u{0}=", "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa=0",
            "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFé0=",
        ])
    func looseBase64(_ text: String) {
        #expect(code("sha256/\(text)") == .notBase64)
    }

    @Test("A near miss says what to write instead")
    func nearMisses() throws {
        #expect(code("") == .empty)
        #expect(code(Self.base64) == .missingPrefix)
        #expect(error(Self.base64)?.remedy.contains("sha256/\(Self.base64)") == true)
        #expect(code(Self.hex) == .missingPrefix)
        #expect(error(Self.hex)?.remedy.contains("cert-sha256/\(Self.hex)") == true)
        #expect(code("sha256/\(Self.hex)") == .notBase64)
        #expect(error("sha256/\(Self.hex)")?.remedy.contains("cert-sha256/") == true)
        #expect(try Pin("cert-sha256/\(Self.base64)") == Pin("cert-sha256/\(Self.hex)"))
        #expect(code("cert-sha256/\(Self.base64.dropLast())") == .notHexadecimal)
        for text in [
            "sha1/\(Self.base64)", "md5/d41d8cd98f00b204e9800998ecf8427e", "SHA256/\(Self.base64)",
            " sha256/\(Self.base64)",
            "pin-sha256=\"\(Self.base64)\"", "sha512/x", "sha256", "sha256:\(Self.base64)",
        ] {
            #expect(code(text) == .unsupportedAlgorithm, "\(text)")
            let remedy = error(text)?.remedy ?? ""
            #expect(remedy.contains("sha256/") || remedy.contains("Make a new pin with SHA-256"), "\(text): \(remedy)")
        }
    }

    @Test("A digest in another tool's spelling is told as the pin that was meant, or as both that it may be")
    func spellings() throws {
        let (key, certificate) = ("sha256/\(Self.base64)", "cert-sha256/\(Self.hex)")
        let pairs = stride(from: 0, to: 64, by: 2).map { String(Self.hex.dropFirst($0).prefix(2)) }
        let (colons, spaces) = (pairs.joined(separator: ":").uppercased(), pairs.joined(separator: " "))
        let unpadded = String(Self.base64.dropLast())
        let ofURLs = Self.base64.replacing("+", with: "-").replacing("/", with: "_")
        func remedies(_ texts: [String], _ remedy: String) throws {
            for text in texts { #expect(try #require(error(text), "\(text)").remedy == remedy, "\(text)") }
        }
        try remedies(
            [
                "sha256/\(unpadded)", "sha256/\(ofURLs)", "SHA256/\(Self.base64)", "sha256:\(Self.base64)",
                "sha256=\(Self.base64)", "SHA-256/\(Self.base64)", " sha256/\(Self.base64)",
                "\"sha256/\(Self.base64)\"",
                "sha256/\(Self.base64)\n", "pin-sha256=\"\(Self.base64)\"", "sha256/ \(Self.base64)",
                "sha256///\(Self.base64)",
            ], "Write \(key).")
        try remedies(
            [
                "SHA256 Fingerprint=\(colons)", "sha256 Fingerprint=\(colons)", "cert-sha256:\(Self.hex)",
                "cert-sha256/\(spaces)", "cert-sha256/\(unpadded)", "cert-sha256/0x\(Self.hex)",
            ], "Write \(certificate).")
        try remedies(
            [
                Self.base64, unpadded, ofURLs, Self.hex, Self.hex.uppercased(), colons, spaces, "0x\(Self.hex)",
                "sha256/\(Self.hex)", "sha256/\(colons)", "sha256:\(Self.hex)",
            ],
            "If it is the SHA-256 of a key's SubjectPublicKeyInfo, write \(key); if that of a certificate, write "
                + "\(certificate).")
        #expect(try Pin(key).digest == Pin(certificate).digest)
        #expect(error("SHA256:\(unpadded)")?.remedy.contains("holdfastctl pin HOST or FILE") == true)
    }

    @Test("A message about a hostile text stays short and in one line")
    func hostileText() {
        let text = "sha256/" + String(repeating: "\u{202E}\n\u{0}", count: 200_000)
        let message = error(text)?.description ?? ""
        #expect(!message.isEmpty)
        #expect(message.utf8.count < 2_000)
        #expect(message.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "\u{202E}" })
    }

    @Test("Pins with one digest and one subject are one pin in a set")
    func hashing() throws {
        let pin = try Pin("sha256/\(Self.base64)")
        let pins: Set = [pin, try Pin(subject: .publicKey, digest: pin.digest)]
        #expect(pins.count == 1)
        for index in 0..<32 {
            var digest = pin.digest
            digest[index] ^= 1
            #expect(try !pins.contains(Pin(subject: .publicKey, digest: digest)))
        }
        #expect(try !pins.contains(Pin(subject: .certificate, digest: pin.digest)))
    }

    @Test(
        "A text that is no pin is told what it looks like",
        arguments: [
            ("sha1/AAAAAAAAAAAAAAAAAAAAAAAAAAA=", "another algorithm"), ("sha512/AAAA", "another algorithm"),
            ("AAAAAAAAAAAAAAAAAAAAAAAAAAA=", "SHA-1"), ("0123456789abcdef0123456789ABCDEF01234567", "SHA-1"),
            ("01:23:45:67:89:ab:cd:ef:01:23:45:67:89:ab:cd:ef", "MD5"), ("-----BEGIN CERTIFICATE-----", "PEM"),
            ("https://www.example.com", "URL"), ("pin-sha256=\"x\"", "Public Key Pinning"),
        ])
    func resemblance(text: String, looks: String) {
        #expect { try Pin(text) } throws: { error in
            ("\(error)").contains(looks) && (error as? PinError)?.code == .unsupportedAlgorithm
        }
    }
}
