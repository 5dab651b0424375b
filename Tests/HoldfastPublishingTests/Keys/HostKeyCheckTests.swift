import Crypto
import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import HoldfastPublishing

@Suite("Checks of a host's own key")
struct HostKeyCheckTests {
    /// A SubjectPublicKeyInfo on a named curve, whose point is made up.
    static func key(_ curve: [UInt8], size: Int) -> [UInt8] {
        let oid: [UInt8] = [0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, UInt8(curve.count)] + curve
        let algorithm = [0x30, UInt8(oid.count)] + oid
        let bits: [UInt8] =
            [0x03, UInt8(2 + 2 * size), 0x00, 0x04] + (0..<2 * size).map { UInt8(truncatingIfNeeded: $0) }
        return [0x30, UInt8(algorithm.count + bits.count)] + algorithm + bits
    }

    private func code(_ key: [UInt8]) -> HostCheckError.Code? {
        do throws(HostCheckError) {
            try HostKeyCheck.check(key: key, named: "next.pub")
            return nil
        } catch {
            return error.code
        }
    }

    @Test("Keys pass of the kinds and sizes that validation accepts, and no others")
    func kinds() throws {
        for choice in [TestKey.Choice.p256, .p384, .p521, .ed25519, .sharedRSA(bits: 2_048, index: 0)] {
            #expect(code(try TestKey(choice).subjectPublicKeyInfoDER) == nil)
        }
        #expect(code(try TestKey(.sharedRSA(bits: 1_024, index: 0)).subjectPublicKeyInfoDER) == .weakKey)
        #expect(code(Self.key([0x2B, 0x81, 0x04, 0x00, 0x0A], size: 32)) == .unsupportedKey)
        #expect(code(Self.key([0x2B, 0x81, 0x04, 0x00, 0x21], size: 28)) == .unsupportedKey)
        // P-256 with a point that is not on the curve: clients can verify nothing with it.
        #expect(code(Self.key([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07], size: 32)) == .unsupportedKey)
        for octets in [[], [0x30, 0x00], [0x05, 0x00], [UInt8](repeating: 0, count: 91)] {
            #expect(code(octets) == .unreadable)
        }
    }

    @Test("A request proves that its maker has the key, and names the host if it names any")
    func requests() throws {
        func code(_ der: [UInt8], _ host: String) throws -> HostCheckError.Code? {
            do throws(HostCheckError) {
                _ = try HostKeyCheck.check(request: der, for: try? DialedHost(host), named: "next.csr")
                return nil
            } catch {
                return error.code
            }
        }
        let key = SigningKey()
        let names = [try HostPattern("api.example.com"), try HostPattern("*.example.org")]
        let request = Array(try CertificateRequestDraft(names: names).signed(by: key))
        for host in ["api.example.com", "www.example.org"] { #expect(try code(request, host) == nil) }
        #expect(try code(request, "www.example.com") == .nameMismatch)
        let hostile = #expect(throws: HostCheckError.self) {
            try HostKeyCheck.check(
                namesOfRequest: ["a\nb\u{202E}"], for: DialedHost("api.example.com"), named: "next.csr")
        }
        #expect(hostile?.found == "one for \"a\\nb\\u{202E}\"", "\(hostile as Any)")
        var forged = request
        forged[forged.count - 1] ^= 1
        #expect(try code(forged, "api.example.com") == .unsignedRequest)
        // A foreign key in a request that another key signed.
        let other = try SigningKey().spki
        let at = try #require(request.firstRange(of: try key.spki))
        var stolen = request
        stolen.replaceSubrange(at, with: other)
        #expect(try code(stolen, "api.example.com") == .unsignedRequest)
        #expect(try code(try key.spki, "api.example.com") == .unreadable)
    }

    @Test("A request whose signature is of an algorithm that is not supported is refused for that, wherever it is read")
    func unsupportedRequests() throws {
        let draft = try CertificateRequestDraft(names: [HostPattern("api.example.com")])
        var request = Array(try draft.signed(by: SigningKey()))
        // ecdsa-with-SHA256 becomes ecdsa-with-SHA224 (RFC 5758 3.2).
        let sha256: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02]
        let place = try #require(request.firstRange(of: sha256))
        request[place.upperBound - 1] = 1
        let expected = "ECDSA with SHA-224, which is not supported"
        let error = #expect(throws: HostCheckError.self) {
            try HostKeyCheck.check(request: request, for: nil, named: "next.csr")
        }
        #expect(error?.code == .unsignedRequest && error?.found.contains(expected) == true, "\(error as Any)")
        let entry = try PublicKeyFile(Data(request), path: "next.csr").entry(ofDER: request)
        #expect(entry.remark?.contains("was not verified: ECDSA with SHA-224") == true, "\(entry.remark as Any)")
        let refusal = #expect(throws: PublishingError.self) {
            try entry.checkHost("api.example.com", at: SystemWallClock().now)
        }
        #expect(refusal?.found.contains(expected) == true, "\(refusal as Any)")
    }

    @Test(
        "A private RSA key of a size that clients refuse is refused for its size, and other numbers for what they are")
    func sizesOfPrivateKeys() {
        func reason(_ bits: Int) -> String? {
            let modulus = [0x00, 0x80] + [UInt8](repeating: 1, count: bits / 8 - 1)
            let numbers = [TestDER.integer(0), TestDER.integer(octets: modulus), TestDER.integer(65_537)]
            do throws(PrivateKeyReader.Failure) {
                _ = try PrivateKeyReader(der: TestDER.sequence(numbers))
                return nil
            } catch {
                return error.reason
            }
        }
        for bits in [512, 9_216, 16_384] {
            #expect(reason(bits) == "it is an RSA key of \(bits) bits, and clients accept 2048 to 8192")
        }
        #expect(reason(2_048) == "its numbers are no RSA key")
    }

    @Test("Digests that stand for no key are placeholders; those of keys and certificates are none")
    func placeholders() throws {
        func sha256(_ text: String) -> [UInt8] { Array(SHA256.hash(data: Data(text.utf8))) }
        let repeated = ["A", "B", "z", "/"].map { letter in
            // With the last character that its four bits need.
            Data(base64Encoded: String(repeating: letter, count: 42) + "A=").map(Array.init) ?? []
        }
        let all =
            [
                [UInt8](repeating: 0, count: 32), [UInt8](repeating: 0xFF, count: 32), [UInt8](0..<32),
                Array((0..<32).reversed()), (0..<32).map { [0xDE, 0xAD, 0xBE, 0xEF][$0 % 4] }, sha256(""),
                sha256("\n"), sha256("test"), sha256("backup\n"), Array(SHA256.hash(data: Data([0x30, 0x00]))),
            ] + repeated
        let written = [
            "placeholderplaceholderplaceholderplacehold0=", "YourBackupKeyHashGoesHereYourBackupKeyHash0=",
            "ReplaceMeReplaceMeReplaceMeReplaceMeReplace=",
        ].compactMap { Data(base64Encoded: $0).map(Array.init) }
        let others =
            written + [
                sha256("{}"), sha256("123456\n"), sha256("test\r\n"), Array(SHA256.hash(data: sha256(""))),
                Array("0123456789abcdef0123456789abcdef".utf8),
                Array(SHA256.hash(data: [UInt8](repeating: 0xFF, count: 32))),
                (0..<32).map { [1, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29][$0 % 11] },
            ]
        #expect(written.count >= 2)
        for digest in all + others {
            for subject in Pin.Subject.allCases {
                let pin = try Pin(subject: subject, digest: digest)
                #expect(throws: HostCheckError.self, "\(pin)") { try HostKeyCheck.check(pin) }
            }
        }
        for _ in 0..<200 {
            try HostKeyCheck.check(Pin.publicKey(spkiDER: try SigningKey().spki))
        }
        let short = Array(Insecure.SHA1.hash(data: Data("a key".utf8))), fill = [UInt8](repeating: 0, count: 12)
        for digest in [short + fill, fill + short] {
            #expect(PlaceholderDigest(digest)?.text == "a shorter value that was filled up with zero bytes")
        }
        var almost = [UInt8](repeating: 0, count: 32)
        (almost[7], almost[24]) = (1, 1)
        #expect(PlaceholderDigest(almost) == nil)
    }

    @Test("Placeholders of a file are named, and are no backups")
    func files() throws {
        let real = try Pin.publicKey(spkiDER: try SigningKey().spki)
        let zero = try Pin(subject: .publicKey, digest: [UInt8](repeating: 0, count: 32))
        let host = try HostPattern("api.example.com")
        let file = try PinFile(hosts: [
            PinFile.Host(host, pins: [PinFile.KeyPin(real), PinFile.KeyPin(zero, state: .backup)])
        ])
        #expect(file.hostsWithoutBackup.isEmpty && file.hostsWithoutUsableBackup == [host])
        #expect(file.placeholders.map(\.pin) == [zero])
        #expect(throws: PublishingError.self) { try file.checkPlaceholders("bank.pins.json") }
        var edit = try PinFileEdit(file.json, named: "bank.pins.json")
        let nothing = try Pin(subject: .publicKey, digest: Array(SHA256.hash(data: Data())))
        let refusal = #expect(throws: PublishingError.self) { try edit.add(nothing, state: .backup, to: host) }
        #expect(refusal?.code == .notTheHosts && edit.file == file)
    }
}

extension SigningKey {
    /// DER of the SubjectPublicKeyInfo.
    fileprivate var spki: [UInt8] {
        get throws { Array(try P256.Signing.PrivateKey(pemRepresentation: pem).publicKey.derRepresentation) }
    }
}
