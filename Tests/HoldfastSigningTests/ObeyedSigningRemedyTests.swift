import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting
import Testing

/// Remedies of keys, documents and files of certificates that say what to call or to write are obeyed literally, and lead
/// to a good state.
@Suite("Remedies of signing that are obeyed", .timeLimit(.minutes(15)))
struct ObeyedSigningRemedyTests {
    /// A refusal with its remedy.
    struct Refusal: Sendable, CustomTestStringConvertible {
        /// The type of the error and its code.
        let code: String
        /// The part of the remedy that says what is done.
        let says: String
        let refused: @Sendable () throws -> Void
        let obeyed: @Sendable () throws -> Void

        var testDescription: String { "\(code): \(says)" }

        func check() throws {
            let error = try #require(throws: (any Error).self) { try refused() } as? any HoldfastError
            let found = try #require(error, "\(code) is no error of Holdfast")
            let name = "\(type(of: found)).\(Self.rawCode(of: found))"
            #expect(name == code && found.remedy.contains(says), "\(name): \(found.remedy)")
            try obeyed()
        }

        private static func rawCode(of error: some HoldfastError) -> String { "\(error.code)" }
    }

    private static let key = SigningKey()
    private static let time = Date(timeIntervalSince1970: 1_800_000_000)

    private static func signed(_ names: [String], by key: SigningKey) throws -> Data {
        try PinListDraft(
            names.map { try FingerprintEntry(name: $0, pin: Pin.certificate([1]), expires: 1_900_000_000) }
        ).signed(by: key)
    }

    private static func signing(
        _ code: String, _ says: String, _ refused: @escaping @Sendable () throws -> Void,
        _ obeyed: @escaping @Sendable () throws -> Void
    ) -> Refusal {
        Refusal(code: "SigningError.\(code)", says: says, refused: refused, obeyed: obeyed)
    }

    static let lists: [Refusal] = [
        signing("unknownField", "Remove the field") {
            let text = String(decoding: try signed(["www.example.com"], by: key), as: UTF8.self)
            let more = text.replacing("{\"fingerprints\"", with: "{\"comment\":\"spring\",\"fingerprints\"")
            _ = try PinListDraft(reading: Data(more.utf8), signedBy: key.publicKey)
        } _: {
            let draft = try PinListDraft(reading: signed(["www.example.com"], by: key), signedBy: key.publicKey)
            #expect(draft.entries.count == 1)
        },
        signing("unsignedEntry", "Sign the list with the key") {
            var draft = try PinListDraft(reading: signed(["a.example"], by: key), signedBy: key.publicKey)
            draft.add(try FingerprintEntry(name: "b.example", pin: Pin.certificate([2]), expires: 1_900_000_000))
            _ = try draft.withItsSignatures()
        } _: {
            var draft = try PinListDraft(reading: signed(["a.example"], by: key), signedBy: key.publicKey)
            draft.add(try FingerprintEntry(name: "b.example", pin: Pin.certificate([2]), expires: 1_900_000_000))
            let list = try FingerprintList(verifying: draft.signed(by: key), with: key.publicKey)
            #expect(list.entries.count == 2)
        },
        signing("invalidChallenge", "Send the Base64 of 16 to 32 random octets") {
            _ = try ChallengeSigner(key: key).answer(to: "AAAA", entries: [], at: time)
        } _: {
            for count in [16, 32] {
                let challenge = Data((0..<count).map { _ in UInt8.random(in: 0...255) }).base64EncodedString()
                _ = try ChallengeSigner(key: key).answer(to: challenge, entries: [], at: time)
            }
        },
    ]

    static let keys: [Refusal] = [
        signing("invalidNumber", "holdfastctl export-private") {
            _ = try SigningKey(exportedPrivateKey: "AAAA")
        } _: {
            let read = try SigningKey(exportedPrivateKey: key.exportedPrivateKey)
            let (found, expected) = (try read.publicKey, try key.publicKey)
            #expect(found == expected)
        },
        signing("passwordNeeded", "Give the password of the key") {
            _ = try SigningKey(pem: key.pem(password: [1, 2, 3], rounds: 1_000))
        } _: {
            let read = try SigningKey(pem: key.pem(password: [1, 2, 3], rounds: 1_000), password: [1, 2, 3])
            let (found, expected) = (try read.publicKey, try key.publicKey)
            #expect(found == expected)
        },
        signing("invalidName", "such as ann or vault-2") {
            _ = try TUFSigningKey().publicKey.named("ann's key")
        } _: {
            for name in ["ann", "vault-2"] { _ = try TUFSigningKey().publicKey.named(name) }
        },
        signing("invalidRequest", "such as www.example.com or *.example.com") {
            _ = try CertificateRequestDraft(names: [HostPattern("**.example.com")])
        } _: {
            let names = try ["www.example.com", "*.example.com"].map { try HostPattern($0) }
            _ = try CertificateRequestDraft(names: names).pem(signedBy: key)
        },
        signing("wrongSignature", "Check that it signs with this key") {
            let other = SigningKey()
            let outside = OutsideSigningKey(publicKey: try key.publicKey) { try other.signature(for: $0) }
            _ = try outside.signature(for: [1])
        } _: {
            let own = key
            _ = try OutsideSigningKey(publicKey: own.publicKey) { try own.signature(for: $0) }.signature(for: [1])
        },
        signing("signerFailed", "try again") {
            let outside = OutsideSigningKey(publicKey: try key.publicKey) { _ in throw CancellationError() }
            _ = try outside.signature(for: [1])
        } _: {
            let own = key
            _ = try OutsideSigningKey(publicKey: own.publicKey) { try own.signature(for: $0) }.signature(for: [1])
        },
    ]

    private static func document(at time: Date, by key: TrustServerKey) throws -> Data {
        let certificate = try X509Certificate(der: TestAuthority.root().leaf(names: ["www.example.com"]).der)
        let host = TrustServerHost(
            hostname: "www.example.com", port: 443, fingerprints: [TrustServerHost.fingerprint(of: certificate)],
            publicKeys: [TrustServerHost.publicKey(of: certificate)], validated: time)
        return try TrustServerDraft(customer: "bank", hosts: [host], timestamp: time).signed(by: key)
    }

    static let trustServers: [Refusal] = [
        signing("invalidCustomer", "Give a name of 1 to 64 letters, digits, periods, hyphens and underscores") {
            _ = try TrustServerKey(customer: "../bank", kind: .p256, at: time)
        } _: {
            for name in ["b", "Bank-1_a.b", String(repeating: "x", count: 64)] {
                _ = try TrustServerKey(customer: name, kind: .p256, at: time)
            }
        },
        signing("wrongCertificate", "Give the certificate and the key that") {
            let made = try TrustServerKey(customer: "bank", kind: .p256, at: time)
            let other = try TrustServerKey(customer: "bank", kind: .p256, at: time)
            _ = try TrustServerKey(certificate: made.certificate, privateKeyPEM: other.privateKeyPEM)
        } _: {
            let made = try TrustServerKey(customer: "bank", kind: .p256, at: time)
            _ = try TrustServerKey(certificate: made.certificate, privateKeyPEM: made.privateKeyPEM)
        },
        signing("unreadableDocument", "Correct what the error names") {
            let key = try TrustServerKey(customer: "bank", kind: .p256, at: time)
            let milliseconds = Date(timeIntervalSince1970: time.timeIntervalSince1970 * 1_000)
            _ = try document(at: milliseconds, by: key)
        } _: {
            let key = try TrustServerKey(customer: "bank", kind: .p256, at: time)
            _ = try document(at: time, by: key)
        },
    ]

    private static func file(_ code: String, _ says: String, _ content: Data?) -> Refusal {
        Refusal(code: "CertificateFileError.\(code)", says: says) {
            let url = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            defer { try? FileManager.default.removeItem(at: url) }
            try content?.write(to: url)
            _ = try CertificateFile.read(url)
        } obeyed: {
            let url = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            defer { try? FileManager.default.removeItem(at: url) }
            let certificate = try TestAuthority.root().root
            try Data(TestCertificate.pem(certificate).utf8).write(to: url)
            let read = try CertificateFile.read(url).map { Array($0.der) }
            #expect(read == [certificate])
        }
    }

    static let files: [Refusal] = [
        file("unreadable", "Check the path", nil),
        file("tooLarge", "Name a file that contains certificates", Data(count: CertificateFile.maximumBytes + 1)),
        file(
            "invalidPEM", "Replace or remove", Data("-----BEGIN CERTIFICATE-----\n%\n-----END CERTIFICATE-----\n".utf8)),
        file("notACertificate", "Replace or remove", Data("hello".utf8)),
    ]

    @Test("Each remedy is obeyed literally", arguments: lists + keys + trustServers + files)
    func obeyed(_ refusal: Refusal) throws { try refusal.check() }
}
