import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastTestSupport
import HoldfastTesting
import Testing

/// `scripts/measure trust-server` runs it with a thousand.
@Suite("A trust server with many hosts", .needs(.openSSL), .timeLimit(.minutes(15)))
struct TrustServerScaleTests {
    @Test("So many hosts are published from loopback servers in one round")
    func many() async throws {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["HOLDFAST_MEASURE_HOSTS"].flatMap { Int($0) } ?? 30
        let program =
            try environment["HOLDFAST_MEASURE_PROGRAM"].map { URL(filePath: $0) } ?? #require(CommandRun.program)
        let root = try TestAuthority.root()
        let leaf = try root.intermediate().leaf(names: [.address([127, 0, 0, 1])])
        try await withTemporaryFolder { folder in
            try Data(root.certificate.pem.utf8).write(to: folder.appending(path: "root.pem"))
            var servers: [LoopbackTLSServer] = []
            for _ in 0..<count {
                servers.append(try await LoopbackTLSServer.start(chain: leaf.chain, key: leaf.key, options: .init()))
            }
            try FileManager.default.createDirectory(
                at: folder.appending(path: "data"), withIntermediateDirectories: false)
            try TrustServerSite.makeKey(in: folder)
            let hosts = servers.map { "127.0.0.1:\($0.port)" }
            try Data(hosts.map { "\($0)\n" }.joined().utf8).write(to: folder.appending(path: "data/acme.domains"))
            let clock = ContinuousClock()
            for round in 1...3 {
                var run: CommandRun?
                let time = try await clock.measure {
                    run = try await CommandRun.run(
                        program,
                        [
                            "trust-server", "publish", "--customer", "acme", "--domains", "data/acme.domains",
                            "--folder", "output", "--ca", "root.pem", "--no-shipped-pins",
                        ], in: folder)
                }
                #expect(run?.status == 0, "\(run?.errors.prefix(2_000) ?? "")")
                var usage = rusage()
                // RUSAGE_CHILDREN, whose type differs between systems.
                unsafe getrusage(-1, &usage)
                report("publish, round \(round): \(count) hosts in \(time), peak memory \(usage.ru_maxrss / 1024) MiB")
            }
            let certificate = Data(try CertificateFile.read(folder.appending(path: "output/acme.crt"))[0].der)
            let data = try Data(contentsOf: folder.appending(path: "output/acme.json.signed"))
            var document: TrustServerDocument?
            let reading = try clock.measure {
                document = try TrustServerDocument(
                    verifying: data, by: try TrustServerSigner(certificate: certificate), customer: "acme",
                    at: SystemWallClock().now)
            }
            #expect(document?.entries.count == count)
            report("the document has \(data.count) bytes and is read in \(reading)")

            let script = """
                while read -r host; do
                  openssl s_client -connect "$host" -CAfile root.pem -verify_return_error </dev/null 2>/dev/null |
                    openssl x509 -noout -fingerprint -sha256 -pubkey >> fingerprints || exit 1
                done < data/acme.domains; true
                """
            let loop = try await clock.measure {
                let run = try await CommandRun.run(URL(filePath: "/bin/sh"), ["-c", script], in: folder)
                #expect(run.status == 0)
            }
            let fingerprints = try String(contentsOf: folder.appending(path: "fingerprints"), encoding: .utf8)
            #expect(fingerprints.matches(of: /sha256 Fingerprint/).count == count)
            report("a loop of openssl s_client and openssl x509: \(loop)")
            for server in servers { await server.shutdown() }
        }
    }

    private func report(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }
}
