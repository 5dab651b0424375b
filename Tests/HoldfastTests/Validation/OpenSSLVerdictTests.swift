#if os(macOS) || os(Linux)
import Foundation
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite(
    "Verdicts beside openssl verify -purpose sslserver",
    .needs(.openSSL), .timeLimit(.minutes(15)))
struct OpenSSLVerdictTests {
    private func opensslAccepts(_ chain: [[UInt8]], root: [UInt8], host: String) async throws -> Bool {
        try await withTemporaryFolder { folder in
            for (name, certificates) in [("root", [root]), ("leaf", [chain[0]]), ("rest", Array(chain.dropFirst()))] {
                let text = certificates.map(TestCertificate.pem).joined()
                try Data(text.utf8).write(to: folder.appending(path: "\(name).pem"))
            }
            let output = try await OpenSSLProgram.run(
                [
                    "verify", "-no-CAstore", "-no-CApath", "-CAfile", "root.pem", "-untrusted", "rest.pem", "-purpose",
                    "sslserver",
                    "-verify_hostname", host, "-attime", String(Int(Judge.now.timeIntervalSince1970)), "leaf.pem",
                ], in: folder)
            return output.status == 0
        }
    }

    @Test("Leaves with one fault: the same verdict, or a difference with a reason")
    func leaves() async throws { try await compare(VerdictCase.ofLeaves) }

    @Test("Authorities with one fault: the same verdict, or a difference with a reason")
    func authorities() async throws { try await compare(VerdictCase.ofAuthorities) }

    private func compare(_ cases: [VerdictCase]) async throws {
        for one in cases {
            let (chain, root) = try one.chain()
            let code = try Judge.complaint(chain, trusting: [root], for: one.host)
            let accepts = try await opensslAccepts(chain, root: root, host: one.host)
            let difference: Difference? =
                switch (code == nil, accepts) {
                case (true, true), (false, false): nil
                case (true, false): .holdfastAccepts
                case (false, true): .opensslAccepts
                }
            let known = Self.differences["\(one.place): \(one.name)"]
            #expect(difference == known, "\(one.place): \(one.name), Holdfast \(code?.rawValue ?? "accepts")")
        }
    }

    private enum Difference { case holdfastAccepts, opensslAccepts }

    /// openssl at its defaults (security level 1, no strict checking) is laxer on purpose: it serves old authorities.
    private static let differences: [String: Difference] = [
        // RFC 5280 4.2.1.12 lets an application accept anyExtendedKeyUsage; an issuer that includes every use means it.
        "leaf: any purpose": .holdfastAccepts,
        "intermediate: any purpose": .holdfastAccepts,
        // RFC 9525 leaves it to the issuer. Private authorities name hosts of one label; `.strict` knows public suffixes.
        "leaf: wildcard of a top level": .holdfastAccepts,
        // Key identifiers are hints for path building (RFC 5280 4.2.1.1, RFC 4158 3.5.12); the signature decides.
        "leaf: wrong authorityKeyIdentifier": .holdfastAccepts,

        // RFC 9525 2: a common name is no identity.
        "leaf: common name alone": .opensslAccepts,
        "leaf: common name beside an e-mail address": .opensslAccepts,
        "leaf: no names": .opensslAccepts,
        // RFC 9525 6.3: a wildcard is a whole label.
        "leaf: wildcard of a part": .opensslAccepts,
        // CA/B BR 6.1.5, NIST SP 800-131A.
        "leaf: RSA 1024": .opensslAccepts,
        "intermediate: RSA 1024": .opensslAccepts,
        "root: RSA 1024": .opensslAccepts,
        // RFC 6194, RFC 9155.
        "leaf: SHA-1": .opensslAccepts,
        "intermediate: SHA-1": .opensslAccepts,
        // RFC 5280 4.1.2.1, 4.2.1.9: only version 3 with basicConstraints says who is a CA.
        "leaf: version 1": .opensslAccepts,
        "intermediate: version 1": .opensslAccepts,
        "root: version 1": .opensslAccepts,
        "root: no basicConstraints": .opensslAccepts,
        // RFC 5280 4.2.1.10: only in a CA's certificate, and never empty.
        "leaf: name constraints": .opensslAccepts,
        "intermediate: malformed constraints": .opensslAccepts,
        // openssl processes policies when asked to; Holdfast does not, and refuses what it does not process.
        "intermediate: critical policyConstraints": .opensslAccepts,
    ]
}
#endif
