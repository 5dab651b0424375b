#if os(macOS) || os(Linux)
import Foundation
import Holdfast
import HoldfastTestSupport
import HoldfastTesting
import Testing

@Suite("The authority of the test kit, judged by openssl", .needs(.openSSL), .timeLimit(.minutes(15)))
struct TestAuthorityTests {
    /// A key, a signature, and what openssl calls the signature.
    struct Kind: Sendable, CustomTestStringConvertible {
        let key: TestKey.Choice
        let signature: TestSignature
        let name: String
        var testDescription: String { name }
    }

    static let kinds = [
        Kind(key: .p256, signature: .automatic, name: "ecdsa-with-SHA256"),
        Kind(key: .p384, signature: .automatic, name: "ecdsa-with-SHA384"),
        Kind(key: .p521, signature: .automatic, name: "ecdsa-with-SHA512"),
        Kind(key: .p256, signature: .ecdsa(.sha512), name: "ecdsa-with-SHA512"),
        Kind(key: .sharedRSA(bits: 2048, index: 0), signature: .automatic, name: "sha256WithRSAEncryption"),
        Kind(key: .sharedRSA(bits: 2048, index: 0), signature: .rsaPKCS1(.sha512), name: "sha512WithRSAEncryption"),
        Kind(key: .sharedRSA(bits: 2048, index: 0), signature: .rsaPSS(.sha256), name: "rsassaPss"),
        Kind(key: .sharedRSA(bits: 2048, index: 0), signature: .rsaPSS(.sha384), name: "rsassaPss"),
        Kind(key: .sharedRSA(bits: 2048, index: 0), signature: .rsaPSS(.sha512), name: "rsassaPss"),
        Kind(key: .ed25519, signature: .automatic, name: "ED25519"),
    ]

    @Test("Chains of every kind of key and signature are read and verified", arguments: kinds)
    func everyKind(kind: Kind) async throws {
        let root = try TestAuthority.root(key: kind.key) { $0.signature = kind.signature }
        let issuing = try root.intermediate(key: kind.key) { $0.signature = kind.signature }
        let leaf = try issuing.leaf(names: ["www.example.com"], key: kind.key) { $0.signature = kind.signature }
        let text = try await ForeignReading.text(of: leaf.der)
        #expect(text.contains("Signature Algorithm: \(kind.name)"))
        #expect(text.contains("DNS:www.example.com"))
        let complaint = try await ForeignReading.complaint(
            about: leaf.chain, root: leaf.root, host: "www.example.com")
        #expect(complaint == nil)
    }

    @Test("RSA keys of every size sign", arguments: [1024, 2048, 3072])
    func sizes(bits: Int) async throws {
        let certificate = try TestAuthority.selfSigned(names: ["a.example"], key: .sharedRSA(bits: bits, index: 0))
        #expect(try await ForeignReading.text(of: certificate.der).contains("Public-Key: (\(bits) bit)"))
    }

    @Test("Every extension that a specification can hold is read as it was meant")
    func extensions() async throws {
        let root = try TestAuthority.root()
        var specification = CertificateSpecification.intermediate(
            TestName([.init(.country, "DE"), .init(.organization, "Grün & Söhne"), .init(.commonName, "Issuing")]),
            pathLength: 3)
        specification.subjectAltName = [
            "www.example.com", "127.0.0.1", "2001:db8::7", .email("a@example.com"), .uri("https://example.com/x"),
            .directory("Directory"), .other([1, 3, 6, 1, 4, 1, 311, 20, 2, 3], TestDER.utf8String("user")),
        ]
        specification.keyUsage = [.keyCertSign, .crlSign, .decipherOnly]
        specification.extendedKeyUsage = [.serverAuthentication, .clientAuthentication, [1, 2, 3, 4, 5]]
        specification.nameConstraints = .init(
            permitted: [.dns("example.com"), .address([10, 0, 0, 0, 255, 0, 0, 0])], excluded: [.email("b.example")])
        specification.certificatePolicies = [[2, 23, 140, 1, 2, 1]]
        specification.policyConstraints = .init(requireExplicitPolicy: 0, inhibitPolicyMapping: 200)
        specification.subjectKeyIdentifier = .octets([1, 2, 3])
        specification.extensions = [.init([1, 2, 3, 4], isCritical: true, value: TestDER.null)]
        // Versions of openssl differ in the spaces and slashes of names.
        let text = try await ForeignReading.text(of: root.issue(specification).der)
            .replacingOccurrences(of: " = ", with: "=").replacingOccurrences(of: "DirName:/", with: "DirName:")
        for part in [
            "Version: 3", "C=DE, O=Gr\\C3\\BCn & S\\C3\\B6hne, CN=Issuing", "Issuer: CN=Test Root",
            "CA:TRUE, pathlen:3", "DNS:www.example.com", "IP Address:127.0.0.1", "IP Address:2001:DB8:0:0:0:0:0:7",
            "email:a@example.com", "URI:https://example.com/x", "DirName:CN=Directory", "othername: UPN::user",
            "Certificate Sign, CRL Sign, Decipher Only",
            "TLS Web Server Authentication, TLS Web Client Authentication, 1.2.3.4.5",
            "Permitted:", "DNS:example.com", "IP:10.0.0.0/255.0.0.0", "Excluded:", "email:b.example",
            "Policy: 2.23.140.1.2.1", "Require Explicit Policy:0, Inhibit Policy Mapping:200", "01:02:03",
            "1.2.3.4: critical",
        ] {
            #expect(text.contains(part), "\(part) is missing in \(text)")
        }
    }

    @Test("Absent things are absent: version 1, no subject, no extensions")
    func bare() async throws {
        var specification = CertificateSpecification(subject: .empty)
        specification.version = 1
        specification.serial = [5]
        specification.subjectKeyIdentifier = .absent
        specification.authorityKeyIdentifier = .absent
        let text = try await ForeignReading.text(of: TestAuthority.root().issue(specification).der)
        #expect(text.contains("Version: 1 (0x0)"))
        #expect(text.contains("Serial Number: 5 (0x5)"))
        #expect(!text.contains("X509v3"))
    }

    @Test(
        "Times are written for every century",
        arguments: [
            (0.0, "Jan  1 00:00:00 1970"), (-631_152_000, "Jan  1 00:00:00 1950"),
            (-631_152_001, "Dec 31 23:59:59 1949"), (951_782_400, "Feb 29 00:00:00 2000"),
            (2_524_607_999, "Dec 31 23:59:59 2049"), (2_524_608_000, "Jan  1 00:00:00 2050"),
            (4_107_542_399, "Feb 28 23:59:59 2100"), (253_402_300_799, "Dec 31 23:59:59 9999"),
        ])
    func times(seconds: Double, text: String) async throws {
        let certificate = try TestAuthority.selfSigned(names: ["a.example"]) {
            $0.notAfter = .date(Date(timeIntervalSince1970: seconds))
        }
        #expect(try await ForeignReading.text(of: certificate.der).contains("Not After : \(text) GMT"))
    }

    @Test("Validity counts from the manual clock")
    func manualClock() async throws {
        let clock = ManualClock(now: Date(timeIntervalSince1970: 1_000_000_000))
        let leaf = try TestAuthority.root(clock: clock).leaf(names: ["a.example"]) {
            $0.notAfter = .after(.seconds(60))
        }
        // openssl takes a certificate to be expired in its last second already, which RFC 5280 4.1.2.5 still counts.
        clock.advance(by: .seconds(59))
        #expect(try await ForeignReading.complaint(about: leaf.chain, root: leaf.root, at: clock.now) == nil)
        clock.advance(by: .seconds(1))
        #expect(leaf.notAfter == clock.now)
        clock.advance(by: .seconds(1))
        let complaint = try await ForeignReading.complaint(about: leaf.chain, root: leaf.root, at: clock.now)
        #expect(complaint?.contains("certificate has expired") == true)
    }

    /// A fault and words of openssl's complaint.
    static let faults: [(CertificateFault, String)] = [
        (.flippedSignatureBit, "certificate signature failure"),
        (.contentAfterSigning { Array($0.dropLast()) + [0xFF] }, "signature"),
        (.trailingBytes([0]), ""),
        (.outerSignatureAlgorithm(.ecdsa(.sha384)), "signature"),
        (.innerSignatureAlgorithm(.ecdsa(.sha384)), "signature"),
        (.truncated(1), "Could not read"),
        (.extensionContent(.basicConstraints, [0x30, 0x05]), "invalid certificate"),
        (.duplicatedExtension(.subjectAltName), "invalid certificate"),
    ]

    @Test("A good certificate is refused once it has a fault")
    func faultsAreSeen() async throws {
        let root = try TestAuthority.root()
        let stranger = try TestKey()
        for (fault, words) in Self.faults + [(.signedBy(stranger), "certificate signature failure")] {
            let leaf = try root.leaf(names: ["a.example"]) { $0.faults = [fault] }
            let complaint = try await ForeignReading.complaint(about: leaf.chain, root: leaf.root)
            if words.isEmpty {
                #expect(complaint == nil)
            } else {
                let text = try #require(complaint, "\(fault) passed")
                #expect(text.contains(words), "\(fault): \(text)")
            }
        }
    }

    @Test("A certificate can be renewed, impersonated and cross-signed")
    func reissue() async throws {
        let (first, second) = (try TestAuthority.root(name: "First"), try TestAuthority.root(name: "Second"))
        let leaf = try first.leaf(names: ["a.example"])
        let renewed = try first.renew(leaf)
        #expect(renewed.key == leaf.key)
        #expect(renewed != leaf)
        let impostor = try first.impersonate(leaf)
        #expect(impostor.key != leaf.key)
        #expect(try await ForeignReading.complaint(about: impostor.chain, root: first.root, host: "a.example") == nil)
        let crossed = try second.crossSign(first)
        #expect(crossed.certificate.key == first.certificate.key)
        let chain = leaf.chain + crossed.certificate.chain
        #expect(try await ForeignReading.complaint(about: chain, root: second.root) == nil)
        #expect(try await ForeignReading.complaint(about: leaf.chain, root: second.root) != nil)
    }

    @Test("Private and public keys of every kind are read", arguments: kinds)
    func keys(kind: Kind) async throws {
        let key = try TestKey(kind.key)
        try await withTemporaryFolder { folder in
            try Data(key.privateKeyPEM.utf8).write(to: folder.appending(path: "key.pem"))
            let output = try await OpenSSLProgram.run(["pkey", "-in", "key.pem", "-pubout"], in: folder)
            #expect(output.text == key.publicKeyPEM)
        }
    }
}
#endif
