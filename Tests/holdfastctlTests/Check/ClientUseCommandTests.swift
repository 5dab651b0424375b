import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

/// From 2027-03-15 on public authorities issue no certificates for client authentication.
@Suite("Commands and certificates of public authorities for clients", .timeLimit(.minutes(15)))
struct ClientUseCommandTests {
    private static let day = "2027-03-15"

    /// Writes a certificate that a public authority might have issued, for a server and perhaps for a client.
    @discardableResult
    private static func leaf(
        _ site: SigningSite, _ name: String, forClients: Bool = true, isPublic: Bool = true
    ) throws -> TestCertificate {
        let leaf = try site.leaf("\(name).pem") {
            $0.extendedKeyUsage = forClients ? [.serverAuthentication, .clientAuthentication] : [.serverAuthentication]
            // Domain validated, as the CA/Browser Forum names it.
            if isPublic { $0.certificatePolicies = [[2, 23, 140, 1, 2, 1]] }
        }
        try site.write("\(name).key", leaf.key.privateKeyPEM, mode: 0o600)
        return leaf
    }

    @Test("show warns of a client's certificate of a public authority, once, and of no other")
    func show() async throws {
        try await SigningSite.with { site in
            // An authority's certificate has both purposes as well, and authenticates no client.
            let issuing = try site.root.intermediate {
                $0.extendedKeyUsage = [.serverAuthentication, .clientAuthentication]
                $0.certificatePolicies = [[2, 23, 140, 1, 2, 1]]
            }
            try site.write("authority.pem", issuing.certificate.pem)
            try Self.leaf(site, "public")
            let run = try await site.run(["show", "public.pem"])
            #expect(run.status == 0)
            #expect(run.output.components(separatedBy: Self.day).count == 2, "\(run.output)")
            try Self.leaf(site, "own", isPublic: false)
            try Self.leaf(site, "server", forClients: false)
            for file in ["own.pem", "server.pem", "authority.pem"] {
                #expect(try await !site.run(["show", file]).output.contains(Self.day), "\(file)")
            }
        }
    }

    @Test("check and gate warn if they present a certificate of a public authority")
    func presented() async throws {
        try await SigningSite.with { site in
            let served = try site.leaf("served.pem")
            try Self.leaf(site, "public")
            try Self.leaf(site, "own", isPublic: false)
            try await withLoopbackTLSServer(serving: served) { server in
                for (name, isWarned) in [("public", true), ("own", false)] {
                    let run = try await site.check(
                        server, [PinFile.Host(HostPattern(SigningSite.name), pins: [SigningSite.pin(served.der)])],
                        "--client-cert", "\(name).pem", "--client-key", "\(name).key")
                    #expect(run.status == 0 && run.errors.contains(Self.day) == isWarned, "\(run.output)\(run.errors)")
                    let gate = try await site.run(
                        Self.gate(server, next: "served.pem")
                            + ["--client-cert", "\(name).pem", "--client-key", "\(name).key"])
                    #expect(
                        gate.status == 0 && gate.errors.contains(Self.day) == isWarned, "\(gate.output)\(gate.errors)")
                }
            }
        }
    }

    @Test("gate warns if the next certificate can no longer authenticate the host as a client")
    func lost() async throws {
        try await SigningSite.with { site in
            let served = try Self.leaf(site, "served")
            try Self.leaf(site, "next", forClients: false)
            try await withLoopbackTLSServer(serving: served) { server in
                let pins = [try SigningSite.pin(served.der), try SigningSite.pin(site.leaf("other.pem").der)]
                _ = try await site.check(server, [PinFile.Host(HostPattern(SigningSite.name), pins: pins)])
                let lost = try await site.run(Self.gate(server, next: "next.pem"))
                #expect(lost.output.contains(Self.day), "\(lost.output)\(lost.errors)")
                let kept = try await site.run(Self.gate(server, next: "served.pem"))
                #expect(kept.status == 0 && !kept.output.contains(Self.day), "\(kept.output)\(kept.errors)")
            }
        }
    }

    private static func gate(_ server: LoopbackTLSServer, next: String) -> [String] {
        [
            "gate", SigningSite.name, "--next", next, "--pins", "app.pins.json", "--ca", "root.pem", "--connect-to",
            "127.0.0.1:\(server.port)", "--timeout", "60s",
        ]
    }
}
