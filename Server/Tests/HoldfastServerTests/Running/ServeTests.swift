import Foundation
import HoldfastTesting
import NIOCore
import Testing

@testable import HoldfastServer
@testable import PinChanges
@testable import PinPublication
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

/// The program itself, serving.
@Suite("serve", .timeLimit(.minutes(2)))
struct ServeTests {
    private static let challenge = ["X-Cert-Pinning-Challenge: AAECAwQFBgcICQoLDA0ODw=="]

    @Test("What is published while it serves, real clients of every format get, and commands go on working")
    func follows() async throws {
        try await ServeSite.run { site in
            let server = try await ServingProcess.start(site)
            let client = RawClient(port: server.port)
            #expect(try await client.get("/lists/bank.json").status == 404)
            let change = try await site.approvedChange()
            let (status, output) = try await ServerProgram.run(
                ["publish", "\(change)", "--data", site.data], in: site.folder)
            #expect(status == 0 && output.contains("published: generation 1"), "\(output)")
            try await server.says("bank: generation 1")
            for certificate in [site.shown, site.announced] {
                #expect(try await site.clientsThatLetIn(certificate, server.port) == World.everybody)
            }
            try await site.everybodyFollows(server.port)
            let metrics = try await RawClient(port: server.administration).get("/metrics")
            #expect(metrics.status == 200 && metrics.body.contains("bank"), "\(metrics.text)")
            #expect(try await client.get("/health/ready").status == 200)
            try await site.publish()
            try await server.says("bank: generation 2")
            #expect(await server.stop() == 0)
            #expect(server.text.contains("stopped"))
        }
    }

    @Test("Each round's line in the log has the head of the audit, with which a restored server is checked")
    func heads() async throws {
        try await ServeSite.run { site in
            try await site.publish()
            let server = try await ServingProcess.start(site)
            try await server.says("signed again: ")
            await server.stop()
            let lines = server.text.matches(of: /signed again: [^\n]*; head ([0-9]+ [0-9a-f]{64})/)
            let logged = try #require(lines.last).1
            var (chain, heads) = (AuditChain(), Set<String>())
            for entry in try await site.open.catalog.audit(after: -1, limit: 10_000) {
                try chain.follow(entry)
                heads.insert("\(chain.head)")
            }
            #expect(heads.contains(String(logged)), "\(logged)")
        }
    }

    @Test("With TLS, clients of a canary ask the challenges of its own listener, which shows a certificate of nobody's")
    func canaryOverTLS() async throws {
        try await ServeSite.run { site in
            try await site.publish()
            let known = try await site.open.catalog.app(site.app).settings
            try await site.open.catalog.set(
                AppSettings(staleness: known.staleness, canary: 3_600, anchors: known.anchors, builds: []),
                of: site.app, by: "test")
            let stage = try await site.open.publisher.publish(try await site.approvedChange(until: 170)).stage
            guard case .canary = stage else {
                Issue.record("\(stage)")
                return
            }
            let files = ListenerFiles(site.folder)
            try files.install(TestAuthority.root(name: "Known to nobody"))
            let server = try await ServingProcess.start(
                site,
                [
                    "--no-watch", "--tls-certificate", files.chain.path, "--tls-key", files.key.path, "--log-level",
                    "debug",
                ])
            try await server.says("/app/init")
            let metrics = try await RawClient(port: server.administration).get("/metrics").text
            #expect(metrics.contains(#"holdfast_answers_total{route="challenge",status="200"} 1"#), "\(metrics)")
            #expect(!server.text.contains("challenge answers of bank-canary"), "\(server.text)")
            #expect(await server.stop() == 0)
        }
    }

    @Test("It stops within ten seconds whoever is connected", arguments: [SIGTERM, SIGINT])
    func stops(_ signal: Int32) async throws {
        try await ServeSite.run { site in
            try await site.publish()
            let server = try await ServingProcess.start(site)
            let client = RawClient(port: server.port)
            // Each connection would be kept for longer.
            #expect(ServerProcess.stopping < .seconds(10))
            // One is idle, one has sent half a request; both stay as long as they are let.
            try await client.connected { idle, idleOutput in
                try await idleOutput.write(.init(string: "GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n"))
                for try await _ in idle { break }
                try await client.connected { _, half in
                    try await half.write(.init(string: "GET /lists/ba"))
                    server.signal(signal)
                    #expect(await server.status() == 0)
                }
            }
            #expect(server.text.contains("stopped"))
            // The folder is free again.
            let next = try await ServingProcess.start(site)
            #expect(try await site.clientsThatLetIn(site.shown, next.port) == World.everybody)
            await next.stop()
        }
    }

    @Test("A second server on a folder refuses to start, with and without the file of the lock, and the first goes on")
    func second() async throws {
        try await ServeSite.run { site in
            try await site.publish()
            let first = try await ServingProcess.start(site)
            for isFileOfLockThere in [true, false] {
                if !isFileOfLockThere {
                    try FileManager.default.removeItem(at: site.server.url.appending(path: "lock"))
                }
                let (status, output) = try await ServerProgram.run(
                    ["serve", "--data", site.data, "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"],
                    in: site.folder)
                #expect(status == 3 && output.contains("folderInUse") && output.contains(site.data), "\(output)")
            }
            #expect(try await site.clientsThatLetIn(site.shown, first.port) == World.everybody)
            await first.stop()
        }
    }

    @Test("A list that somebody changed in the folder is written again, and the log says so")
    func mending() async throws {
        try await ServeSite.run { site in
            try await site.publish()
            let (folder, list) = (site.server.publicFolder, "lists/\(site.app).json")
            let published = try #require(try folder.read(list))
            try Data("theirs".utf8).write(to: folder.url.appending(path: list))
            let server = try await ServingProcess.start(site)
            try await server.says("written again: \(list)")
            #expect(try folder.read(list) == published)
            try await site.everybodyFollows(server.port)
            #expect(await server.stop() == 0)
        }
    }

    @Test("Without its secret, or with another, it serves what was signed, and says that it cannot sign")
    func secret() async throws {
        for isMissing in [true, false] {
            try await ServeSite.run { site in
                try await site.publish()
                try FileManager.default.removeItem(at: site.secret)
                if !isMissing {
                    var generator = SystemRandomNumberGenerator()
                    try SecretFile(site.secret).create(SigningSecret(using: &generator), outside: site.server.url)
                }
                let server = try await ServingProcess.start(site)
                #expect(server.text.contains("error nothing can be signed: \(isMissing ? "file" : "sealedKey")"))
                let inside = try await site.clientsThatLetIn(site.shown, server.port)
                #expect(inside == World.everybody.subtracting(["challenge"]))
                let client = RawClient(port: server.port)
                let answer = try await client.get("/app/init?appName=bank", Self.challenge)
                #expect(answer.status == 503 && answer.header("X-Cert-Pinning-Signature") == nil, "\(answer.text)")
                #expect(try await client.get("/health/ready").status == 200)
                let writable = try await client.get("/health/writable")
                #expect(writable.status == 503 && !writable.text.contains(site.secret.path), "\(writable.text)")
                try await server.says("signing again: bank: \(isMissing ? "secretFile" : "sealedKey")")
                #expect(await server.stop() == 0)
            }
        }
    }

    @Test("Settings that cannot be are named, with what to do; flags go before variables, and these before the file")
    func settings() async throws {
        try await ServeSite.run { site in
            let file = site.folder.appending(path: "settings.json")
            func refused(
                _ arguments: [String], _ json: String? = nil, _ words: String..., status: Int32 = 2,
                sourceLocation: SourceLocation = #_sourceLocation
            ) async throws {
                if let json { try Data(json.utf8).write(to: file) }
                let answer = try await ServerProgram.run(
                    ["serve", "--data", site.data] + arguments + (json == nil ? [] : ["--config", file.path]),
                    in: site.folder)
                #expect(answer.status == status, "\(answer.output)", sourceLocation: sourceLocation)
                for word in words {
                    #expect(answer.output.contains(word), "\(answer.output)", sourceLocation: sourceLocation)
                }
            }
            try await refused(["--listen", "0.0.0.0:0"], nil, "of listen:", "--behind-proxy")
            try await refused(["--admin-listen", "0.0.0.0:0"], nil, "of admin-listen:", "--admin-tls-certificate")
            // A proxy speaks TLS in the place of the listener for apps alone.
            try await refused(
                ["--admin-listen", "0.0.0.0:0", "--behind-proxy", "10.0.0.5/32"], nil, "of admin-listen:",
                "--admin-tls-certificate")
            try await refused(["--listen", "8080"], nil, "of listen:", "ADDRESS:PORT")
            try await refused(["--behind-proxy", "10.0.0.0/33"], nil, "of behind-proxy:", "10.0.0.0/8")
            try await refused(["--admin-behind-proxy", "10.0.0.0/33"], nil, "of admin-behind-proxy:", "10.0.0.0/8")
            for block in ["0.0.0.0/0", "128.0.0.0/1", "::/0", "2000::/3"] {
                try await refused(["--behind-proxy", block], nil, "of behind-proxy:", "at most as large as 10.0.0.0/8")
                try await refused(["--allow", block], nil, "of allow:", "at most as large as 10.0.0.0/8")
            }
            try await refused(["--tls-certificate", "x.pem"], nil, "of tls-key:", "Give both")
            try await refused(["--vantage", "a b"], nil, "of vantage:")
            try await refused([], #"{"lisen": "127.0.0.1:0"}"#, "lisen", "admin-listen")
            try await refused([], #"{"allow": 10}"#, "allow", "lists of texts")
            try await refused([], #"{"watch": "perhaps"}"#, "of watch:", "true or false")
            try await refused(
                [], "{\"listen\": \"127.0.0.1:0\",\n\"watch\": false,\n\"listen\": \"192.0.2.1:1\"}",
                "listen in line 1, and again in line 3", "Remove one of the two")
            try await refused([], "{\"watch\": \"true\",", "settings.json", "a text")
            try await refused(["--config", "missing.json"], nil, "missing.json", "--config", status: 3)
            let taken = try await ServingProcess.start(site)
            try await ServeSite.run { other in
                let (status, output) = try await ServerProgram.run(
                    [
                        "serve", "--data", other.data, "--listen", "127.0.0.1:\(taken.port)", "--admin-listen",
                        "127.0.0.1:0",
                    ], in: other.folder)
                #expect(status == 2 && output.contains("127.0.0.1:\(taken.port)"), "\(output)")
            }
            await taken.stop()

            // The flag's port counts, although file and variable name others that would be refused.
            try Data(#"{"listen": "192.0.2.1:1", "vantage": "file", "watch": false}"#.utf8).write(to: file)
            let server = try await ServingProcess.start(
                site, ["--config", file.path],
                environment: ["HOLDFAST_SERVER_LISTEN": "192.0.2.2:2", "HOLDFAST_SERVER_ALLOW": "10.0.0.0/8"])
            #expect(server.port != 0)
            await server.stop()
            try Data(#"{"vantage": "file", "watch": false, "allow": ["10.0.0.0/8", "192.168.0.0/16"]}"#.utf8).write(
                to: file)
            let settings = try await ServeSettings(
                flags: [:], environment: ["HOLDFAST_SERVER_VANTAGE": "variable"], file: file)
            #expect(settings.vantage == "variable" && !settings.watches && settings.allowed.count == 2)
            await expectError(.invalidValue) {
                try await ServeSettings(flags: [:], environment: ["HOLDFAST_SERVER_LISEN": "x"], file: nil)
            }
        }
    }
}
