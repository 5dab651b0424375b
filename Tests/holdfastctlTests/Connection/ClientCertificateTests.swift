import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastTestSupport
import HoldfastTesting
import NIOSSL
import Testing

@Suite("holdfastctl with a certificate of the client", .timeLimit(.minutes(15)))
struct ClientCertificateTests {
    private struct Client {
        let authority: TestAuthority
        let certificate: TestCertificate

        init() throws {
            authority = try TestAuthority.root(name: "Client Root")
            certificate = try authority.intermediate(name: "Client Issuing CA").leaf(
                names: [.dns("me.example")], purposes: [.clientAuthentication])
        }
    }

    @Test("A server that asks for a certificate gets it", arguments: ["check", "pin"], [TLSVersion.tlsv12, .tlsv13])
    func accepted(verb: String, version: TLSVersion) async throws {
        let (site, client) = (try TestSite(), try Client())
        try await withTemporaryFolder { folder in
            let (certificate, key) = (folder.appending(path: "me.pem"), folder.appending(path: "key.pem"))
            try Data(client.certificate.chainPEM.utf8).write(to: certificate)
            try Data(client.certificate.key.privateKeyPEM.utf8).write(to: key)
            let (run, server) = try await site.run(
                verb, ["--client-cert", certificate.path, "--client-key", key.path],
                options: .init(newestTLSVersion: version, clientRoots: [client.authority.certificate.der]))
            #expect(run.status == 0, "\(run.errors)")
            #expect(server.handshakesCompleted == 1)
            // The question for a key of another kind, which the server has not.
            #expect(server.handshakesFailed == 1)
        }
    }

    @Test("The key may be in the file of the certificate")
    func oneFile() async throws {
        let (site, client) = (try TestSite(), try Client())
        try await withTemporaryFolder { folder in
            let file = folder.appending(path: "me.pem")
            try Data((client.certificate.key.privateKeyPEM + client.certificate.chainPEM).utf8).write(to: file)
            let (run, server) = try await site.run(
                "check", ["--client-cert", file.path],
                options: .init(clientRoots: [client.authority.certificate.der]))
            #expect(run.status == 0, "\(run.errors)")
            #expect(server.handshakesCompleted == 1)
        }
    }

    private struct Line: Decodable {
        let asksForClientCertificate: Bool?
    }

    @Test("Whether a server that is accepted asks for a certificate is said", arguments: [TLSVersion.tlsv12, .tlsv13])
    func asks(version: TLSVersion) async throws {
        let (site, client) = (try TestSite(), try Client())
        try await withTemporaryFolder { folder in
            let file = folder.appending(path: "me.pem")
            try Data((client.certificate.key.privateKeyPEM + client.certificate.chainPEM).utf8).write(to: file)
            let asking = LoopbackTLSServer.Options(
                newestTLSVersion: version, clientRoots: [client.authority.certificate.der])
            func asks(
                _ arguments: [String], trustingRoot: Bool = true, _ options: LoopbackTLSServer.Options
            ) async throws -> Bool? {
                let (run, _) = try await site.run(
                    "check", ["--json"] + arguments, trustingRoot: trustingRoot, options: options)
                return try run.json(Line.self).asksForClientCertificate
            }
            #expect(try await asks(["--client-cert", file.path], asking) == true)
            #expect(try await asks([], .init(newestTLSVersion: version)) == false)
            #expect(try await asks(["--client-cert", file.path], trustingRoot: false, asking) == nil)
            let (run, _) = try await site.run("check", ["--client-cert", file.path], options: asking)
            #expect(run.output.contains("The server asks for the client's certificate"))
            // With TLS 1.3 the server refuses it only after the handshake.
            if version == .tlsv13 { #expect(try await asks([], asking) == true) }
        }
    }

    @Test("Without it a server of TLS 1.2 ends the handshake: 3, with the option to use")
    func missing() async throws {
        let (site, client) = (try TestSite(), try Client())
        let (run, server) = try await site.run(
            "check", ["--json"],
            options: .init(newestTLSVersion: .tlsv12, clientRoots: [client.authority.certificate.der]))
        #expect(run.status == 3)
        #expect(run.errors.contains("--client-cert"))
        #expect(server.handshakesCompleted == 0)
    }

    @Test("A server that is not trusted sees no certificate of the client", arguments: [TLSVersion.tlsv12, .tlsv13])
    func untrusted(version: TLSVersion) async throws {
        let (site, client) = (try TestSite(), try Client())
        try await withTemporaryFolder { folder in
            let file = folder.appending(path: "me.pem")
            try Data((client.certificate.key.privateKeyPEM + client.certificate.chainPEM).utf8).write(to: file)
            let (run, server) = try await site.run(
                "check", ["--client-cert", file.path], trustingRoot: false,
                options: .init(newestTLSVersion: version, clientRoots: [client.authority.certificate.der]))
            #expect(run.status == 1)
            #expect(server.handshakesCompleted == 0)
        }
    }

    @Test("Files that cannot be used exit with 3 and are named")
    func unusable() async throws {
        let client = try Client()
        let encrypted = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMAA=\n-----END ENCRYPTED PRIVATE KEY-----\n"
        try await withTemporaryFolder { folder in
            func write(_ name: String, _ text: String) throws {
                try Data(text.utf8).write(to: folder.appending(path: name))
            }
            try write("me.pem", client.certificate.chainPEM)
            try write("key.pem", client.certificate.key.privateKeyPEM)
            try write("other.pem", try TestKey().privateKeyPEM)
            try write("encrypted.pem", encrypted)
            try write("root.pem", client.authority.certificate.pem)
            for (certificate, key, hint) in [
                ("missing.pem", "key.pem", "missing.pem cannot be read"),
                ("me.pem", "missing.pem", "missing.pem cannot be read"),
                ("key.pem", "key.pem", "key.pem has no certificate"),
                ("me.pem", "me.pem", "me.pem has no private key"),
                ("me.pem", "other.pem", "other.pem does not belong to the first certificate of me.pem"),
                ("me.pem", "encrypted.pem", "encrypted.pem: expected a private key without encryption"),
            ] {
                let run = try await CommandRun.inProcess(
                    [
                        "check", "127.0.0.1:1", "--ca", "root.pem", "--client-cert", certificate, "--client-key", key,
                    ], in: folder)
                #expect(run.status == 3)
                #expect(run.output.isEmpty)
                #expect(run.errors.contains(hint), "\(run.errors)")
            }
        }
    }
}
