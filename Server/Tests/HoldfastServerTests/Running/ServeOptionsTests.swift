import Foundation
import Testing

@testable import PinPublication
@testable import ServerFoundation

/// The program itself, told where its secret is and how to log.
@Suite("serve under a service manager", .timeLimit(.minutes(2)))
struct ServeOptionsTests {
    private static let challenge = ["X-Cert-Pinning-Challenge: AAECAwQFBgcICQoLDA0ODw=="]

    @Test("The secret is read where --secret says, such as among the credentials of a service")
    func secret() async throws {
        try await ServeSite.run { site in
            try await site.publish()
            let credential = site.folder.appending(path: "credential")
            try FileManager.default.moveItem(at: site.secret, to: credential)
            let server = try await ServingProcess.start(site, ["--no-watch", "--secret", credential.path])
            #expect(!server.text.contains("nothing can be signed"), "\(server.text)")
            let answer = try await RawClient(port: server.port).get("/app/init?appName=bank", Self.challenge)
            #expect(answer.status == 200 && answer.header("X-Cert-Pinning-Signature") != nil, "\(answer.text)")
            #expect(await server.stop() == 0)
            // The rules for the file are the same wherever it is.
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: credential.path)
            let open = try await ServingProcess.start(site, ["--no-watch", "--secret", credential.path])
            #expect(open.text.contains("nothing can be signed: secretFile"), "\(open.text)")
            #expect(await open.stop() == 0)
        }
    }

    @Test("With --log-format json each line is one object with time, level and message, and facts apart")
    func json() async throws {
        try await ServeSite.run { site in
            try await site.publish()
            let server = try await ServingProcess.start(
                site, ["--no-watch", "--log-format", "json", "--log-level", "debug"])
            let answer = try await RawClient(port: server.port).get("/nothing")
            let id = try #require(answer.header("X-Request-Id"))
            try await server.says(#""request":"\#(id)""#)
            #expect(await server.stop() == 0)
            struct Line: Decodable {
                let time: String
                let level: String
                let message: String
                let facts: [String: String]
            }
            let lines = try server.text.split(separator: "\n").map {
                try JSONDecoder().decode(Line.self, from: Data($0.utf8))
            }
            #expect(lines.contains { $0.level == "info" && $0.message.contains("listening for apps on") })
            let request = try #require(lines.first { $0.facts["request"] == id })
            #expect(request.level == "debug" && request.message == "answered" && request.facts["status"] == "404")
            #expect(lines.allSatisfy { UTCText.decode(Array($0.time.utf8)) != nil })
        }
    }

    @Test("Settings of logs and notices that cannot be are named, and nothing of an address or a secret is repeated")
    func settings() async throws {
        try await ServeSite.run { site in
            // A folder to which others can write.
            let shared = site.folder.appending(path: "shared")
            let program = shared.appending(path: "tell")
            try FileManager.default.createDirectory(at: shared, withIntermediateDirectories: false)
            try Data("#!/bin/sh\n".utf8).write(to: program)
            for (file, mode) in [(program, 0o755), (shared, 0o777)] {
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
            }
            for (arguments, words) in [
                (["--on-event", program.path], "replaced by other users"),
                (["--log-format", "xml"], "of log-format:"),
                (["--webhook", "https://hooks.example.net/s3cret"], "of webhook-secret:"),
                (["--webhook", "http://hooks.example.net/s3cret", "--webhook-secret", site.secret.path], "webhook"),
                (["--webhook-secret", site.secret.path], "of webhook:"), (["--on-event", "tell"], "of on-event:"),
                (["--webhook", "https://a.example/s3cret", "--webhook-secret", site.secret.path], "webhook-secret"),
            ] {
                let (status, output) = try await ServerProgram.run(
                    ["serve", "--data", site.data] + arguments, in: site.folder)
                #expect(status != 0 && output.contains(words) && !output.contains("s3cret"), "\(output)")
            }
        }
    }
}
