import Crypto
import CryptoExtras
import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@Suite("Keys outside this process that sign lists and documents of trust servers")
struct OutsideKeyTests {
    private struct Trouble: Error {}

    private func code(_ body: () throws -> Void) -> SigningError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? SigningError)?.code
        }
    }

    @Test("A list is signed in DER and with r and s side by side, and what does not verify is refused")
    func lists() throws {
        let secret = P256.Signing.PrivateKey()
        let publicKey = try DocumentPublicKey(x963: Array(secret.publicKey.x963Representation))
        let pin = try Pin(subject: .certificate, digest: [UInt8](repeating: 7, count: 32))
        let draft = PinListDraft([
            try FingerprintEntry(name: "www.example.com", pin: pin, until: SystemWallClock().now + 86_400)
        ])
        let forms: [@Sendable ([UInt8]) throws -> [UInt8]] = [
            { Array(try secret.signature(for: $0).derRepresentation) },
            { Array(try secret.signature(for: $0).rawRepresentation) },
        ]
        for form in forms {
            let list = try draft.signed(by: OutsideSigningKey(publicKey: publicKey, signing: form))
            #expect(try FingerprintList(verifying: list, with: publicKey).entries == draft.entries)
        }
        let other = P256.Signing.PrivateKey()
        for wrong in [{ Array(try other.signature(for: $0).derRepresentation) }, { _ in [] }, { _ in [1, 2, 3] }]
            as [@Sendable ([UInt8]) throws -> [UInt8]]
        {
            let key = OutsideSigningKey(publicKey: publicKey, signing: wrong)
            #expect(code { _ = try draft.signed(by: key) } == .wrongSignature)
        }
        let broken = OutsideSigningKey(publicKey: publicKey) { _ in throw Trouble() }
        #expect(code { _ = try draft.signed(by: broken) } == .signerFailed)
    }

    @Test("A trust server's document is signed with P-256 and RSA, and clients with the certificate accept it")
    func documents() throws {
        let now = Date(timeIntervalSince1970: SystemWallClock().now.timeIntervalSince1970.rounded(.down))
        let host = TrustServerHost(
            hostname: "www.example.com", port: 443, fingerprints: [String(repeating: "9f", count: 32)], publicKeys: [],
            validated: now)
        let draft = try TrustServerDraft(customer: "gcx", hosts: [host], timestamp: now)
        let own = try TrustServerKey(customer: "gcx", kind: .p256, at: now)
        let p256 = try P256.Signing.PrivateKey(pemRepresentation: own.privateKeyPEM)
        let shared = try TestAuthority.selfSigned(
            CertificateSpecification(subject: "gcx"), key: .sharedRSA(bits: 2_048, index: 0))
        let rsa = try _RSA.Signing.PrivateKey(pemRepresentation: shared.key.privateKeyPEM)
        let keys: [OutsideTrustServerKey] = [
            try OutsideTrustServerKey(certificate: own.certificate) { request in
                #expect(Data(request.message).range(of: Data(SHA256.hash(data: request.content))) != nil)
                return Array(try p256.signature(for: request.message).rawRepresentation)
            },
            try OutsideTrustServerKey(certificate: own.certificate) { request in
                Array(try p256.signature(for: request.message).derRepresentation)
            },
            try OutsideTrustServerKey(certificate: Data(shared.der)) { request in
                let digest = SHA256.hash(data: request.message)
                return Array(try rsa.signature(for: digest, padding: .insecurePKCS1v1_5).rawRepresentation)
            },
        ]
        // It reads what it signs as a client does.
        for key in keys { #expect(try !draft.signed(by: key).isEmpty) }
        let wrong = try OutsideTrustServerKey(certificate: Data(shared.der)) { request in
            Array(try p256.signature(for: request.message).derRepresentation)
        }
        #expect(code { _ = try draft.signed(by: wrong) } == .wrongSignature)
        let broken = try OutsideTrustServerKey(certificate: own.certificate) { _ in throw Trouble() }
        #expect(code { _ = try draft.signed(by: broken) } == .signerFailed)
        let p384 = try TestAuthority.selfSigned(CertificateSpecification(subject: "gcx"), key: .p384)
        #expect(
            code { _ = try OutsideTrustServerKey(certificate: Data(p384.der)) { _ in [] } } == .unsupportedKey)
        #expect(code { _ = try OutsideTrustServerKey(certificate: Data([1])) { _ in [] } } == .wrongCertificate)
    }
}
