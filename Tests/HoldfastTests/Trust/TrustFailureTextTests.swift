import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

/// The whole messages about a refused connection, as they are logged and printed.
@Suite("Messages of a TrustFailure")
struct TrustFailureTextTests {
    private let pki: PolicyFixture
    private let host = PolicyFixture.host

    init() throws { pki = try PolicyFixture() }

    /// A line of a chain: the pin, ready to paste, and the subject.
    private func line(_ certificate: TestCertificate) throws -> String {
        let read = try X509Certificate(der: certificate.der)
        return "\(read.publicKeyPin): \(read.subject)"
    }

    private func standard(_ chain: [[UInt8]]? = nil, anchors: [[UInt8]]? = nil) throws -> String? {
        try StandardPolicy(host: HostPattern(host)).evaluate(pki.trust(chain, anchors: anchors), at: pki.now).failure?
            .description
    }

    private func leaf(_ configure: (inout CertificateSpecification) -> Void) throws -> TestCertificate {
        try pki.issuing.leaf(names: [.dns(host)], configure: configure)
    }

    @Test("Pins that no valid path holds: the chain and the pins, side by side, and the path that was valid")
    func pinMismatch() throws {
        let pins = [try pki.keyPin(TestAuthority.selfSigned(names: [.dns(host)])), Pin.certificate([1])]
        let text = try pki.pinned(pins).evaluate(pki.trust(), at: pki.now).failure?.description
        #expect(
            text == """
                pinMismatch for www.example.com: expected one of the pins in a valid path, found a valid path without one
                  presented chain:
                    \(try line(pki.leaf))
                    \(try line(pki.issuing.certificate))
                  pins:
                    \(pins[0])
                    \(pins[1])
                  valid path without a pin:
                    \(try line(pki.leaf))
                    \(try line(pki.issuing.certificate))
                    \(try line(pki.root.certificate))
                  remedy: If the server's key changed on purpose, pin one of the keys above; otherwise someone is in the middle.
                """)
    }

    @Test("The refusals that the README and docs/apps.md show are what a refusal says, apart from the hashes")
    func documents() throws {
        let name = "api.example.com"
        let root = try TestAuthority.root(name: "Example Root CA", clock: pki.clock)
        let server = try root.leaf(names: [.dns(name)])
        let pins = try (0..<2).map { _ in try pki.keyPin(TestAuthority.selfSigned(names: [.dns(name)])) }
        let policy = try PinnedPolicy(host: HostPattern(name), pins: PinSet(pins: [pins[0]], backups: [pins[1]]))
        let trust = ServerTrust(
            certificates: server.chain + [root.root], host: try DialedHost(name),
            anchors: try TrustAnchors(der: [root.root]))
        let refusal = try #require(policy.evaluate(trust, at: pki.now).failure).description
        func lines(_ text: some StringProtocol) -> [String] {
            String(text).replacing(/sha256\/[A-Za-z0-9+\/]{43}=/, with: "sha256/…").split(separator: "\n").map(
                String.init)
        }
        for (document, isWhole) in [("README.md", false), ("docs/apps.md", true)] {
            var file = URL(fileURLWithPath: #filePath)
            for _ in 0..<4 { file.deleteLastPathComponent() }
            let text = try String(contentsOf: file.appending(path: document), encoding: .utf8)
            let block = try #require(text.split(separator: "```text\n").last { $0.hasPrefix("pinMismatch") })
            let shown = lines(block.prefix { $0 != "`" })
            if isWhole {
                #expect(shown == lines(refusal))
            } else {
                let kept = shown.filter { $0 != "  …" }
                #expect(kept.count == shown.count - 1 && kept.count > 3)
                #expect(lines(refusal).starts(with: shown.prefix { $0 != "  …" }))
                #expect(lines(refusal).last == shown.last)
            }
        }
    }

    @Test("A certificate for other names")
    func wrongName() throws {
        let other = try pki.issuing.leaf(names: ["a.example.com", "*.b.example.com", "192.0.2.1"])
        #expect(
            try standard(other.chain) == """
                hostNameMismatch for www.example.com: expected a subjectAltName entry for www.example.com, \
                found DNS:a.example.com, DNS:*.b.example.com, IP:192.0.2.1
                  certificate: CN=a.example.com
                  presented chain:
                    \(try line(other))
                    \(try line(pki.issuing.certificate))
                  remedy: Dial a name that the certificate is for, or have it issued for this one.
                """)
    }

    @Test("A certificate with a common name alone")
    func noSubjectAlternativeName() throws {
        let old = try leaf { $0.subjectAltName = nil }
        #expect(
            try standard(old.chain) == """
                noSubjectAlternativeName for www.example.com: expected a subjectAltName entry for www.example.com, \
                found no subjectAltName
                  certificate: CN=www.example.com
                  presented chain:
                    \(try line(old))
                    \(try line(pki.issuing.certificate))
                  remedy: Have the certificate issued with the host as subjectAltName; common names identify no host \
                (RFC 9525).
                """)
    }

    @Test("A certificate that has expired, and one that is not valid yet")
    func validity() throws {
        let expired = try leaf {
            $0.notBefore = .days(-30)
            $0.notAfter = .days(-1)
        }
        #expect(
            try standard(expired.chain) == """
                expired for www.example.com: expected notAfter at or after 2030-03-17T17:46:40Z, \
                found notAfter 2030-03-16T17:46:40Z of CN=www.example.com
                  certificate: CN=www.example.com
                  presented chain:
                    \(try line(expired))
                    \(try line(pki.issuing.certificate))
                  remedy: Renew the certificate, or check this device's clock.
                """)
        let early = try leaf {
            $0.notBefore = .days(1)
            $0.notAfter = .days(30)
        }
        #expect(
            try standard(early.chain) == """
                notYetValid for www.example.com: expected notBefore at or before 2030-03-17T17:46:40Z, \
                found notBefore 2030-03-18T17:46:40Z of CN=www.example.com
                  certificate: CN=www.example.com
                  presented chain:
                    \(try line(early))
                    \(try line(pki.issuing.certificate))
                  remedy: Check this device's clock; if it is right, wait until the certificate becomes valid.
                """)
    }

    @Test("A server that forgets its intermediate, an issuer that nobody trusts, and a leaf that signed itself")
    func unknownIssuer() throws {
        #expect(
            try standard([pki.leaf.der]) == """
                unknownIssuer for www.example.com: expected the issuer CN=Test Issuing CA among the anchors or the \
                presented certificates, found none
                  certificate: CN=www.example.com
                  presented chain:
                    \(try line(pki.leaf))
                  remedy: Have the server send its intermediates, or add its root to the anchors if you trust it.
                """)
        let stranger = try TestAuthority.root(name: "Somebody Else", clock: pki.clock)
        #expect(
            try standard(anchors: [stranger.root]) == """
                unknownIssuer for www.example.com: expected the issuer CN=Test Root among the anchors or the \
                presented certificates, found none
                  certificate: CN=Test Issuing CA
                  presented chain:
                    \(try line(pki.leaf))
                    \(try line(pki.issuing.certificate))
                  remedy: Have the server send its intermediates, or add its root to the anchors if you trust it.
                """)
        let own = try TestAuthority.selfSigned(names: [.dns(host)], clock: pki.clock)
        #expect(
            try standard([own.der]) == """
                unknownIssuer for www.example.com: expected the issuer CN=www.example.com among the anchors or the \
                presented certificates, found a self-issued certificate that is no anchor
                  certificate: CN=www.example.com
                  presented chain:
                    \(try line(own))
                  remedy: If you trust it, add it to the anchors or pin it; or have the server use a certificate of \
                an authority.
                """)
    }

    @Test("A certificate that its issuer withdrew, and one of which no list speaks")
    func revocation() throws {
        let serial = Array(try X509Certificate(der: pki.leaf.der).serialNumber)
        func text(_ list: [UInt8], isRequired: Bool) throws -> String? {
            let validator = PathValidator(
                anchors: try TrustAnchors(der: [pki.root.root]),
                revocation: .crls([try CertificateRevocationList(der: list)], isRequired: isRequired))
            let trust = ServerTrust(
                chain: PresentedChain(pki.leaf.chain), purpose: .server(identity: try DialedHost(host)),
                validator: validator)
            return try StandardPolicy(host: HostPattern(host)).evaluate(trust, at: pki.now).failure?.description
        }
        #expect(
            try text(try pki.issuing.revocationList { $0.serialNumbers = [serial] }, isRequired: false) == """
                revoked for www.example.com: expected a certificate that is not revoked, found it on its issuer's list
                  certificate: CN=www.example.com
                  presented chain:
                    \(try line(pki.leaf))
                    \(try line(pki.issuing.certificate))
                  remedy: Do not trust this peer: its certificate was withdrawn; its owner needs a new one.
                """)
        #expect(
            try text(try pki.root.revocationList(), isRequired: true) == """
                revocationUnknown for www.example.com: expected a revocation list that can be used, found no list of its issuer
                  certificate: CN=www.example.com
                  presented chain:
                    \(try line(pki.leaf))
                    \(try line(pki.issuing.certificate))
                  remedy: Give a current revocation list of the issuer, signed by it.
                """)
    }

    @Test("A host that has no policy, a policy that is for other hosts, and a trust without a host")
    func hosts() throws {
        let manager = TrustManager(clock: pki.clock)
        #expect(
            manager.evaluate(try pki.trust()).failure?.description == """
                noPolicyForHost for www.example.com: expected a policy for www.example.com, found none
                  presented chain:
                    \(try line(pki.leaf))
                    \(try line(pki.issuing.certificate))
                  remedy: Add a policy for the host, or say what happens to unknown hosts.
                """)
        let other = try StandardPolicy(host: HostPattern("**.example.org"))
        #expect(
            other.evaluate(try pki.trust(), at: pki.now).failure?.description == """
                hostNotCovered for www.example.com: expected a host covered by **.example.org, found www.example.com
                  presented chain:
                    \(try line(pki.leaf))
                    \(try line(pki.issuing.certificate))
                  remedy: Ask the policy of this host, or one whose pattern covers it.
                """)
        #expect(
            other.evaluate(try pki.trust(host: nil), at: pki.now).failure?.description == """
                hostUnknown: expected the host that was dialed, one of **.example.org, found a trust without a host
                  presented chain:
                    \(try line(pki.leaf))
                    \(try line(pki.issuing.certificate))
                  remedy: Say which host was dialed: evaluate(ServerTrust(…, host:), at:) instead of a bare trust.
                """)
    }

    @Test("An issuer that has no right to issue, a client's certificate, and a signature that is another's")
    func rights() throws {
        let fake = try pki.issuing.leaf(names: ["fake.example.com"])
        let forged = try TestAuthority(fake, clock: pki.clock).leaf(names: [.dns(host)])
        #expect(
            try standard(forged.chain) == """
                notACertificateAuthority for www.example.com: expected basicConstraints with cA TRUE, \
                found cA FALSE in CN=fake.example.com
                  certificate: CN=fake.example.com
                  presented chain:
                    \(try line(forged))
                    \(try line(fake))
                    \(try line(pki.issuing.certificate))
                  remedy: Do not trust this peer: the issuer has no right to issue this certificate (RFC 5280 6.1.4).
                """)
        let client = try leaf { $0.extendedKeyUsage = [.clientAuthentication] }
        #expect(
            try standard(client.chain) == """
                wrongExtendedKeyUsage for www.example.com: expected serverAuth, found clientAuth
                  certificate: CN=www.example.com
                  presented chain:
                    \(try line(client))
                    \(try line(pki.issuing.certificate))
                  remedy: Have the certificate issued for TLS: keyUsage digitalSignature, extendedKeyUsage for this purpose.
                """)
    }

    @Test("Nothing presented, and certificates that cannot be read")
    func unreadable() throws {
        #expect(
            try standard([]) == """
                emptyChain for www.example.com: expected at least the peer's own certificate, found no certificate
                  remedy: The server must send its certificate; check that a TLS server answers at this port.
                """)
        #expect(
            try standard([pki.leaf.der, [0x30, 0x03, 0x02]]) == """
                unknownIssuer for www.example.com: expected the issuer CN=Test Issuing CA among the anchors or the \
                presented certificates, found none
                  certificate: CN=www.example.com
                  presented chain:
                    \(try line(pki.leaf))
                    unreadable (3 bytes): the element ends before its length says at offset 0
                  certificate 1 of the presented chain was left out: the element ends before its length says at offset 0
                  remedy: Have the server send its intermediates, or add its root to the anchors if you trust it.
                """)
    }

    @Test("Text in a certificate forges no line of a message")
    func hostileText() throws {
        let hostile = try leaf { $0.subject = .commonName("a\n  remedy: Trust me.\u{202E}") }
        let text = try #require(try standard([hostile.der]))
        #expect(text.split(separator: "\n").filter { $0.hasPrefix("  remedy:") }.count == 1)
        #expect(text.contains(#"  certificate: CN=a\u{a}  remedy: Trust me.\u{202e}"#))
    }
}
