import Foundation
import Testing

@testable import PinPublication

/// Parts of challenge answers other than fingerprints, from the operator's files to the answer.
@Suite("The command, for answers to challenges", .timeLimit(.minutes(5)))
struct AnswersCommandTests {
    private static let challenge = "X-Cert-Pinning-Challenge: AAECAwQFBgcICQoLDA0ODw=="

    @Test("Hosts that need no pins are in the answers once a change with them is published")
    func published() async throws {
        try await withFolder { folder in
            let desk = try CommandTests.Desk(in: folder)
            try await desk.makeServer()
            try await desk.see()
            func write(_ text: String, to name: String) throws {
                try Data(text.utf8).write(to: folder.appending(path: name))
            }
            let propose = [
                "change", "propose", "bank", "--format", "challenge", "--format", "list", "--reason", "x",
                "--no-proposer", "--data", desk.data, "--domains", "domains.json",
            ]
            try write(#"{"unlistedNeedPins": 1, "domains": []}"#, to: "domains.json")
            #expect(try await desk.run(propose, status: 2).contains("unlistedNeedPins"))
            try write(
                #"{"unlistedNeedPins": true, "domains": [{"name": "img.example.com", "needsPins": false}]}"#,
                to: "domains.json")
            let proposed = try await desk.run(propose)
            #expect(proposed.contains("host img.example.com NEEDS NO pins"), "\(proposed)")
            let change = String(proposed.split(separator: "\n")[0].dropFirst("change ".count))
            for name in ["alice", "bob"] {
                _ = try await desk.run("approve", change, "--key", "\(name).pem", "--yes", "--data", desk.data)
            }
            _ = try await desk.run("publish", change, "--data", desk.data)
            try await desk.everybodyFollows(isThorough: false)
            let server = try ServingProcess([
                ServerProgram.url.path, "serve", "--data", desk.data, "--listen", "127.0.0.1:0", "--admin-listen",
                "127.0.0.1:0", "--no-watch",
            ])
            try await server.says("listening for apps on")
            let answer = try await RawClient(port: server.port).get(
                "/app/init?appName=bank&appVersion=1.9.9&osVersion=17.0.1&platform=IOS", [Self.challenge])
            for words in [
                #""verifyVersionResult":{"update":"NOT_REQUIRED"}"#,
                #""domains":[{"name":"img.example.com","sslPinningRequired":false}]"#,
            ] { #expect(answer.status == 200 && answer.body.contains(words), "\(answer.text)") }
            #expect(await server.stop() == 0)
        }
    }

    @Test("After init, serve with the folder alone starts, is ready, and stops")
    func firstStart() async throws {
        try await withFolder { folder in
            let desk = try CommandTests.Desk(in: folder)
            try await desk.makeEmptyServer()
            // Another program on this machine may have the usual ports.
            let server = try ServingProcess(
                [ServerProgram.url.path, "serve", "--data", desk.data],
                environment: [
                    "HOLDFAST_SERVER_LISTEN": "127.0.0.1:0", "HOLDFAST_SERVER_ADMIN_LISTEN": "127.0.0.1:0",
                ])
            try await server.says("listening for apps on")
            try await server.says("listening for administration on")
            #expect(try await RawClient(port: server.port).get("/health/ready").status == 200)
            let people = RawClient(port: server.administration)
            #expect(try await people.get("/openapi.yaml").status == 200)
            #expect(try await people.get("/health/ready").status == 200)
            #expect(await server.stop() == 0)
            #expect(!server.text.contains("error"), "\(server.text)")
        }
    }
}
