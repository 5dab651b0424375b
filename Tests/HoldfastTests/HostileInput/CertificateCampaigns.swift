import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("100,000 damaged certificates", .timeLimit(.minutes(15)))
struct CertificateCampaigns {
    private static let tokens: [[UInt8]] = [
        [0x30, 0x80], [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF], [0x05, 0x00], [0x01, 0x01, 0xFF], [0x00], [0xFF, 0xFF],
        [0x06, 0x03, 0x55, 0x1D, 0x11], [0x30, 0x00], [0x1F, 0x80], [0x02, 0x01, 0x00], [0x82, 0x01, 0x2A],
        [0x03, 0x02, 0x07, 0x80], [0x04, 0x84, 0x7F, 0xFF, 0xFF, 0xFF],
    ]

    private struct Originals {
        static let shared = Result { try Originals() }
        let certificates: [[UInt8]]
        let keys: [[UInt8]]

        init() throws {
            let root = try Judge.root("Root")
            let issuing = try root.intermediate(name: "Issuing", pathLength: 0) {
                $0.nameConstraints = .init(
                    permitted: [.dns("example.com"), .directory(.empty)],
                    excluded: [.email("a@b"), .dns("evil.example")])
                $0.certificatePolicies = [[2, 5, 29, 32, 0], [2, 23, 140, 1, 2, 1]]
                $0.policyConstraints = .init(requireExplicitPolicy: 0, inhibitPolicyMapping: 300)
            }
            let leaf = try issuing.leaf(names: ["www.example.com", "*.example.com", "192.0.2.1"])
            let other = try root.leaf(names: ["b.example"], key: .ed25519)
            let rsa = try root.leaf(names: ["c.example"], key: .sharedRSA(bits: 2048, index: 0))
            certificates = [leaf.der, issuing.der, other.der, rsa.der]
            keys = try [leaf, other, rsa, root.leaf(names: ["d.example"], key: .p384)].map {
                Array(try X509Certificate(der: $0.der).subjectPublicKeyInfo)
            }
        }
    }

    @Test("are refused, or read to the last extension without a trap", arguments: Campaign.halves)
    func certificates(half: Int) async throws {
        let originals = try Originals.shared.get().certificates
        let leaf = originals[0]
        try await Campaign(
            accepted: originals,
            refused: [
                Array(leaf.prefix(leaf.count / 2)), Array(leaf.dropFirst(9)), leaf + leaf + leaf,
                // Three fields that are none, in three places.
                HandMadeDER.certificate(
                    version: HandMadeDER.element(0xA0, HandMadeDER.element(0x02, [0x77])),
                    serial: HandMadeDER.element(0x05, []), key: HandMadeDER.element(0x31, [])),
            ],
            tokens: Self.tokens
        ).run(half: half, seed: 105) { bytes in
            guard let certificate = try? X509Certificate(der: bytes) else { return false }
            Self.readEverything(of: certificate, bytes)
            return true
        }
    }

    private static let few = {
        var limits = ValidationLimits()
        limits.nameConstraintComparisons = 500
        return limits
    }()

    private static func readEverything(of certificate: X509Certificate, _ bytes: [UInt8]) {
        _ = try? certificate.basicConstraints
        _ = try? certificate.keyUsage
        _ = try? certificate.extendedKeyUsage
        _ = try? certificate.publicKey
        _ = certificate.subjectKeyIdentifier
        _ = certificate.authorityKeyIdentifier
        var work = 0
        _ = CertificateDistributionPoints(of: certificate, work: &work)
        _ = try? PolicyExtensions(of: certificate)
        var meter = WorkMeter(few)
        let names = (try? ConstrainedName.all(of: certificate, meter: &meter)) ?? []
        if let read = try? certificate.nameConstraints,
            let constraints = NameConstraintCheck.Constraints(read, meter: &meter)
        {
            _ = NameConstraintCheck(constraints: constraints).check(names, meter: &meter)
            if meter.effort.nameConstraintComparisons > 500 {
                Issue.record("\(bytes): more comparisons than the budget has")
            }
        }
        // Folding names is slow in a debug build: the last byte of a mutant decides whether it is done.
        if bytes.last.map({ $0 & 7 == 0 }) ?? false {
            _ = certificate.subject.folded
            if certificate.issuer.description.utf8.count > 20_000 { Issue.record("\(bytes): a flood of a name") }
        }
        if (try? SubjectPublicKeyInfo.range(inCertificate: bytes)) != certificate.layout.subjectPublicKeyInfo {
            Issue.record("\(bytes): two readers find two keys")
        }
    }

    @Test("have their key found within them, or are refused; keys that stand alone as well", arguments: Campaign.halves)
    func keys(half: Int) async throws {
        let originals = try Originals.shared.get().keys
        let certificate = HandMadeDER.certificate()
        try await Campaign(
            accepted: originals + [certificate],
            refused: [
                Array(originals[0].prefix(30)), Array(originals[2].dropFirst(8)),
                originals[0] + originals[0] + originals[0],
                HandMadeDER.sequence([0x05, 0], [0x05, 0], [0x05, 0], [0x05, 0]),
            ],
            tokens: Self.tokens
        ).run(half: half, seed: 106) { bytes in
            var isKey = false
            if let found = try? SubjectPublicKeyInfo(certificateDER: bytes) {
                isKey = true
                if found.der.startIndex < 0 || found.der.endIndex > bytes.count || found.der.first != 0x30 {
                    Issue.record("\(bytes): a key that does not lie within")
                }
            }
            if (try? SubjectPublicKeyInfo(der: bytes)) != nil { isKey = true }
            if let key = try? CertificatePublicKey(0..<bytes.count, of: bytes) {
                if !isKey || key.verificationWork < 0 || key.verificationWork > 1_000_000_000 {
                    Issue.record("\(bytes): read in detail and not in outline, or of no sensible cost")
                }
            }
            return isKey
        }
    }
}
