#if os(macOS) || os(Linux)
import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@Suite("Keys of trust servers", .timeLimit(.minutes(15)))
struct TrustServerKeyTests {
    private let now = Date(timeIntervalSince1970: SystemWallClock().now.timeIntervalSince1970.rounded(.down))

    private static let leaf = Result {
        try TestAuthority.root().leaf(names: ["www.example.com"])
    }

    private func draft(at time: Date? = nil) throws -> TrustServerDraft {
        let leaf = try Self.leaf.get()
        let host = try DialedHost("www.example.com", port: 8443)
        let anchors = try TrustAnchors(der: [leaf.root])
        let path = try #require(
            PathValidator(anchors: anchors).validate(
                PresentedChain(leaf.chain), for: .server(identity: host), at: time ?? now
            ) { _ in true }.path)
        let round = PublishingRound(
            [(host: host, answer: .validated(path))], earlier: [], rules: .init(),
            at: time ?? now)
        return try TrustServerDraft(
            customer: "gcx", hosts: round.hosts, timestamp: time ?? now)
    }

    private func code(_ body: () throws -> Void) -> SigningError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? SigningError)?.code
        }
    }

    /// RSA keys of the test kit are shared, since making one of 4096 bits takes seconds.
    private func keys() throws -> [TrustServerKey] {
        let rsa = try TestAuthority.selfSigned(
            CertificateSpecification(subject: "gcx"), key: .sharedRSA(bits: 2048, index: 0))
        return [
            try TrustServerKey(customer: "gcx", kind: .p256, at: now),
            try TrustServerKey(certificate: Data(rsa.der), privateKeyPEM: rsa.key.privateKeyPEM),
        ]
    }

    @Test("A document is read as it was signed, with either kind of key")
    func roundTrip() throws {
        let leaf = try X509Certificate(der: try Self.leaf.get().der)
        for key in try keys() {
            let document = try TrustServerDocument(
                verifying: try draft().signed(by: key), by: try TrustServerSigner(certificate: key.certificate),
                customer: "gcx", at: now)
            #expect(document.timestamp == now)
            let entry = try #require(document.entries.first)
            #expect(entry.hostname == "www.example.com" && entry.port == 8443)
            #expect(entry.certificatePins == [leaf.certificatePin])
            #expect(entry.publicKeyPins == [leaf.publicKeyPin])
        }
    }

    @Test(
        "openssl smime and openssl cms verify the documents", .needs(.openSSL),
        arguments: ["smime", "cms"])
    func foreignReader(verb: String) async throws {
        for key in try keys() + [try TrustServerKey(customer: "gcx", kind: .rsa4096, at: now)] {
            let draft = try draft()
            let data = try draft.signed(by: key)
            try await withTemporaryFolder { folder in
                try data.write(to: folder.appending(path: "d"))
                try Data(key.certificatePEM.utf8).write(to: folder.appending(path: "c.pem"))
                let output = try await OpenSSLProgram.run(
                    [verb, "-verify", "-inform", "der", "-in", "d", "-CAfile", "c.pem", "-out", "content"], in: folder)
                #expect(output.status == 0, "\(output.text)")
                #expect(try Data(contentsOf: folder.appending(path: "content")) == draft.content)
                var altered = data
                altered[altered.count / 2] ^= 1
                try altered.write(to: folder.appending(path: "d"))
                let other = try await OpenSSLProgram.run(
                    [verb, "-verify", "-inform", "der", "-in", "d", "-CAfile", "c.pem"], in: folder)
                #expect(other.status != 0)
            }
        }
    }

    @Test("The customer is the certificate's common name as it is written there")
    func customer() throws {
        for name in ["Example, Inc.", "Grün+Söhne"] {
            let certificate = try TestAuthority.selfSigned(
                CertificateSpecification(subject: .commonName(name)), key: .p256)
            let key = try TrustServerKey(
                certificate: Data(certificate.der), privateKeyPEM: certificate.key.privateKeyPEM)
            #expect(key.customer == name)
        }
    }

    @Test("The certificate names the customer, may sign and nothing else, and openssl reads it so")
    func certificate() async throws {
        let key = try TrustServerKey(customer: "gcx", kind: .p256, at: now, lifetime: .seconds(30 * 31_557_600))
        let certificate = try X509Certificate(der: [UInt8](key.certificate))
        #expect(certificate.subject.commonName == "gcx" && key.customer == "gcx")
        #expect(certificate.isSelfIssued && certificate.version == 3)
        #expect(certificate.notBefore == now)
        // After 2049, times are written otherwise.
        #expect(certificate.validityEnd == now + 30 * 31_557_600)
        guard ForeignProgram.openSSL.runsPart() else { return }
        try await withTemporaryFolder { folder in
            try Data(key.certificatePEM.utf8).write(to: folder.appending(path: "c.pem"))
            try Data(key.privateKeyPEM.utf8).write(to: folder.appending(path: "k.pem"))
            let text = try await OpenSSLProgram.run(["x509", "-in", "c.pem", "-noout", "-text"], in: folder).text
            #expect(text.contains("CN = gcx") || text.contains("CN=gcx"))
            #expect(text.contains("X509v3 Key Usage: critical") && text.contains("Digital Signature"))
            let verdict = try await OpenSSLProgram.run(
                ["verify", "-x509_strict", "-check_ss_sig", "-CAfile", "c.pem", "-purpose", "smimesign", "c.pem"],
                in: folder)
            #expect(verdict.text.contains("c.pem: OK") || verdict.status != 0)
            let public1 = try await OpenSSLProgram.run(["pkey", "-in", "k.pem", "-pubout"], in: folder).text
            let public2 = try await OpenSSLProgram.run(["x509", "-in", "c.pem", "-noout", "-pubkey"], in: folder).text
            #expect(public1 == public2)
        }
    }

    @Test("A key and certificate that are written are read again")
    func files() throws {
        for key in try keys() {
            for certificate in [key.certificate, Data(key.certificatePEM.utf8)] {
                let again = try TrustServerKey(certificate: certificate, privateKeyPEM: key.privateKeyPEM)
                #expect(again.certificate == key.certificate)
                #expect(again.privateKeyPEM == key.privateKeyPEM)
            }
        }
    }

    @Test("A certificate of another key, and what is no certificate or key, are refused")
    func mismatch() throws {
        let key = try TrustServerKey(customer: "gcx", kind: .p256, at: now)
        let other = try TrustServerKey(customer: "gcx", kind: .p256, at: now)
        #expect(
            code { _ = try TrustServerKey(certificate: other.certificate, privateKeyPEM: key.privateKeyPEM) }
                == .wrongCertificate)
        #expect(
            code { _ = try TrustServerKey(certificate: Data([1]), privateKeyPEM: key.privateKeyPEM) }
                == .wrongCertificate)
        let two = Data((key.certificatePEM + other.certificatePEM).utf8)
        #expect(
            code { _ = try TrustServerKey(certificate: two, privateKeyPEM: key.privateKeyPEM) } == .wrongCertificate)
        #expect(code { _ = try TrustServerKey(certificate: key.certificate, privateKeyPEM: "") } == .notAKeyFile)
        let encrypted = try SigningKey().pem(password: [1], rounds: 1)
        #expect(
            code { _ = try TrustServerKey(certificate: key.certificate, privateKeyPEM: encrypted) } == .passwordNeeded)
        let p384 = try TestKey(.p384).privateKeyPEM
        #expect(code { _ = try TrustServerKey(certificate: key.certificate, privateKeyPEM: p384) } == .unsupportedKey)
    }

    @Test(
        "A customer's name is one that files can have",
        arguments: ["", ".", "..", ".hidden", "a/b", "a b", "a\n", "ä", String(repeating: "a", count: 65)])
    func customers(name: String) {
        #expect(code { _ = try TrustServerKey(customer: name, kind: .p256, at: now) } == .invalidCustomer)
        #expect(
            code { _ = try TrustServerDraft(customer: name, hosts: [], timestamp: now) } == .invalidCustomer)
    }

    @Test("A document that a client would refuse is not let go")
    func selfCheck() throws {
        let key = try TrustServerKey(customer: "gcx", kind: .p256, at: now)
        let draft = try draft()
        #expect(code { _ = try draft.signed(by: key, limits: DocumentLimits(entries: 0)) } == .unreadableDocument)
        #expect(code { _ = try draft.signed(by: key, limits: DocumentLimits(bytes: 100)) } == .unreadableDocument)
    }

    @Test("A key says nothing about itself")
    func description() throws {
        let key = try TrustServerKey(customer: "gcx", kind: .p256, at: now)
        #expect("\(key)" == "the private key of a trust server")
    }

    @Test("Signing times before and after 2050 are those that openssl reads", .needs(.openSSL))
    func times() async throws {
        let key = try TrustServerKey(customer: "gcx", kind: .p256, at: now)
        for (seconds, text) in [
            (951_782_399, "Feb 28 23:59:59 2000 GMT"), (951_782_400, "Feb 29 00:00:00 2000 GMT"),
            (2_524_607_999, "Dec 31 23:59:59 2049 GMT"), (2_524_608_000, "Jan  1 00:00:00 2050 GMT"),
            (4_107_542_400, "Mar  1 00:00:00 2100 GMT"),
        ] {
            let data = try key.sign(Data("x".utf8), at: Date(timeIntervalSince1970: Double(seconds)))
            try await withTemporaryFolder { folder in
                try data.write(to: folder.appending(path: "d"))
                let output = try await OpenSSLProgram.run(
                    ["cms", "-cmsout", "-print", "-noout", "-inform", "der", "-in", "d"], in: folder)
                #expect(output.text.contains(text), "\(output.text)")
            }
        }
    }
}
#endif
