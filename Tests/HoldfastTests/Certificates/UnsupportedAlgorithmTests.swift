import Foundation
import Testing

@testable import Holdfast
@testable import HoldfastTesting

@Suite("Algorithms that are not supported", .timeLimit(.minutes(15)))
struct UnsupportedAlgorithmTests {
    private static let mlDSA65: TestObjectIdentifier = [2, 16, 840, 1, 101, 3, 4, 3, 18]
    static let mtcProof: TestObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 6, 67]

    private static func key(_ algorithm: TestObjectIdentifier, _ parameters: [UInt8] = []) -> [UInt8] {
        let identifier = TestDER.sequence([TestDER.objectIdentifier(algorithm), parameters])
        return TestDER.sequence([identifier, TestDER.bitString([UInt8](repeating: 4, count: 65))])
    }

    @Test(
        "are called by their names",
        arguments: [
            ([1, 3, 101, 113], "Ed448"), ([2, 16, 840, 1, 101, 3, 4, 3, 18], "ML-DSA-65"),
            ([2, 16, 840, 1, 101, 3, 4, 3, 24], "SLH-DSA"), ([1, 3, 6, 1, 5, 5, 7, 6, 45], "composite ML-DSA"),
            ([1, 3, 36, 3, 3, 2, 8, 1, 1, 7], "brainpoolP256r1"), ([1, 3, 132, 0, 10], "secp256k1"),
            ([2, 16, 840, 1, 101, 3, 4, 2, 8], "SHA3-256"), ([1, 2, 156, 10_197, 1, 501], "SM2 with SM3"),
            ([2, 16, 840, 1, 101, 3, 4, 3, 240], "2.16.840.1.101.3.4.3.240"), ([1, 2, 3], "1.2.3"),
            ([1, 3, 6, 1, 5, 5, 7, 6, 45, 1], "1.3.6.1.5.5.7.6.45.1"),
        ] as [(TestObjectIdentifier, String)])
    func names(identifier: TestObjectIdentifier, name: String) {
        // Without the identifier and the length.
        #expect(AlgorithmName.text(TestDER.objectIdentifier(identifier).dropFirst(2)) == name)
    }

    @Test("of a certificate are not taken for a signature that does not verify")
    func signatures() throws {
        let root = try Judge.root()
        let issuer = try X509Certificate(der: root.certificate.der)
        let leaf = try X509Certificate(der: root.leaf(names: ["a"]) { $0.signature = .foreign(Self.mlDSA65) }.der)
        #expect(leaf.signatureCheck(by: issuer) == .unsupported("ML-DSA-65"))
        #expect(SignatureRule.violation(of: leaf, by: issuer)?.code == .unsupportedSignatureAlgorithm)
        let other = try X509Certificate(
            der: root.leaf(names: ["a"]) { $0.faults = [.flippedSignatureBit] }.der)
        #expect(other.signatureCheck(by: issuer) == .invalid)
        #expect(!leaf.isSigned(by: issuer))
    }

    @Test(
        "of an issuer's key name the issuer and its kind of key", arguments: ["secp256k1", "Ed448", "RSA of 1024 bits"])
    func issuerKeys(name: String) throws {
        let weak = try TestKey(.sharedRSA(bits: 1_024, index: 0)).subjectPublicKeyInfoDER
        let curve = Self.key([1, 2, 840, 10_045, 2, 1], TestDER.objectIdentifier([1, 3, 132, 0, 10]))
        let keys = ["secp256k1": curve, "Ed448": Self.key([1, 3, 101, 113]), "RSA of 1024 bits": weak]
        let root = try Judge.root()
        let issuer = try X509Certificate(
            der: TestAuthority.selfSigned(names: ["root"]) { $0.subjectPublicKeyInfo = keys[name] }.der)
        let leaf = try X509Certificate(der: root.leaf(names: ["a"]).der)
        guard case .unsupported(let found) = leaf.signatureCheck(by: issuer) else {
            Issue.record("the key was used")
            return
        }
        #expect(found.contains(name))
        let violation = try #require(SignatureRule.violation(of: leaf, by: issuer))
        #expect(violation.code == (name.hasPrefix("RSA") ? .weakKey : .unsupportedKey))
        let failure = violation.failure(host: nil, chain: PresentedChain([]))
        #expect(failure.found.contains(name))
    }

    @Test("of a revocation list are an error of their own, which names them and keeps the list")
    func revocationLists() async throws {
        let fixture = try RevocationStoreFixture()
        let store = try fixture.store()
        fixture.publish([RevocationStoreFixture.issuingURL: try fixture.list(fixture.leaf)])
        try await store.update()
        fixture.publish([
            RevocationStoreFixture.issuingURL: try fixture.list { $0.signature = .foreign(Self.mlDSA65) }
        ])
        let error = try #require(await store.updateError())
        #expect(error.code == .unsupportedAlgorithm && error.found.contains("ML-DSA-65"))
        #expect(try fixture.code(store) == .revoked)
    }

    @Test("of a signed message, its digest or its signer's key are named and refused")
    func messages() throws {
        let fixture = try TrustServerFixture()
        var message = fixture.message()
        message.signatureAlgorithm = TestSignature.foreign([1, 3, 101, 113]).algorithmIdentifier
        let error = try fixture.refusal(of: message)
        #expect(error?.code == .unsupportedAlgorithm && error?.found == "Ed448")
        #expect(error?.remedy.contains("altered") == false)
        message.signatureAlgorithm = nil
        message.digestAlgorithms = [
            TestDER.sequence([TestDER.objectIdentifier([2, 16, 840, 1, 101, 3, 4, 2, 8])])
        ]
        let digest = try fixture.refusal(of: message)
        #expect(digest?.code == .unsupportedAlgorithm && digest?.found == "SHA3-256")
        // A document of a signer whose key is not supported may be authentic; a configured one is wrong in any case.
        let signer = try X509Certificate(
            der: TestAuthority.selfSigned(names: ["gcx"]) { $0.subjectPublicKeyInfo = Self.key([1, 3, 101, 113]) }.der)
        for (code, expected) in [(.untrustedSigner, .unsupportedAlgorithm), (.invalidPublicKey, .invalidPublicKey)]
            as [(DocumentError.Code, DocumentError.Code)]
        {
            let error = #expect(throws: DocumentError.self) { try TrustServerSigner.key(of: signer, code: code) }
            #expect(error?.code == expected && error?.found.contains("Ed448") == true, "\(error as Any)")
        }
    }

    @Test("A pin of a whole Merkle Tree Certificate is refused with the pin of its key; its key can be pinned")
    func merkleTreeCertificates() throws {
        let root = try Judge.root()
        let forms = try [UInt8(1), 2, 3].map { serial in
            try X509Certificate(
                der: root.leaf(names: ["a"]) {
                    $0.serial = [serial]
                    $0.signature = .foreign(Self.mtcProof)
                }.der)
        }
        for form in forms {
            #expect(form.isMerkleTreeCertificate)
            let error = #expect(throws: PinError.self) { try PinSet(.certificate, of: [form]) }
            #expect(error?.code == .merkleTreeCertificate)
            #expect(error?.remedy.contains(form.publicKeyPin.description) == true)
            #expect(try PinSet(.publicKey, of: [form]).pins == [form.publicKeyPin])
            let refusal = #expect(throws: PolicyConfigurationError.self) {
                try PinnedPolicy(host: HostPattern("a.example"), pinning: .certificate, of: .der([form.der]))
            }
            #expect(refusal?.code == .unstableCertificate)
        }
        let plain = try X509Certificate(der: root.leaf(names: ["a"]).der)
        #expect(try !plain.isMerkleTreeCertificate && plain.pin(.certificate) == plain.certificatePin)
    }

    @Test("A whole Merkle Tree Certificate that is pinned by its hash is refused, and the remedy is the pin of its key")
    func pinnedMerkleTreeCertificate() throws {
        let root = try TestAuthority.root()
        let leaf = try root.leaf(names: ["www.example.com"]) { $0.signature = .foreign(Self.mtcProof) }
        let plain = try root.leaf(names: ["www.example.com"])
        let host = try HostPattern("www.example.com")
        func failure(_ certificate: TestCertificate, _ pin: Pin, pinOnly: Bool) throws -> TrustFailure? {
            let policy = try PinnedPolicy(host: host, pins: PinSet(pins: [pin]), certificatePinOnly: pinOnly)
            let trust = ServerTrust(
                certificates: certificate.chain, host: try DialedHost("www.example.com"),
                anchors: try TrustAnchors(der: [root.root]))
            return TrustManager(policies: [policy]).evaluate(trust).failure
        }
        let refusal = try #require(try failure(leaf, Pin.certificate(leaf.der), pinOnly: true))
        #expect(refusal.code == .pinMismatch && refusal.found.contains("Merkle Tree Certificate"))
        #expect(try refusal.remedy.contains(Pin.publicKey(of: leaf.der).description))
        #expect(try failure(leaf, Pin.publicKey(of: leaf.der), pinOnly: true) == nil)
        for pinOnly in [true, false] {
            #expect(try failure(plain, Pin.certificate(plain.der), pinOnly: pinOnly) == nil)
        }
    }
}
