import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting
import NIOHTTP1
import Testing

@testable import HoldfastServer
@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

/// A server that says as much as it can, asked everything that can be asked.
@Suite("No secret leaves a server that runs", .timeLimit(.minutes(3)))
struct ServerSecretLeakTests {
    private static let challenge = "X-Cert-Pinning-Challenge: AAECAwQFBgcICQoLDA0ODw=="

    /// Everything that must be nowhere, by what it is.
    private func secrets(_ site: ServeSite, _ tokens: [AccessToken]) throws -> [[UInt8]] {
        let own = Secrets(
            secret: try Array(Data(contentsOf: site.secret)), pems: [site.listKey.pem, site.trust.privateKeyPEM])
        let texts = tokens.flatMap { token in
            let text = Array(token.secretText.utf8)
            // Also without what all tokens begin with.
            return [text, Array(text.suffix(32)), Array(Base64.encode(text).utf8)]
        }
        return own.needles + texts
    }

    @Test("With every address asked, well and badly, no secret is in an answer, a log, the audit, or the folder")
    func everything() async throws {
        try await ServeSite.run { site in
            try await site.publish()
            let change = try await site.approvedChange(until: 170)
            var generator = SystemRandomNumberGenerator()
            var tokens: [AccessToken] = []
            for (name, scope) in [
                ("read", TokenGrant.Scope.read), ("propose", .propose), ("administer", .administer),
                ("gate", .gate(hosts: ["\(World.host):443"])),
            ] {
                tokens.append(
                    try await site.open.catalog.add(
                        TokenGrant(
                            name: name, app: scope == .read ? nil : site.app, scope: scope, end: site.now + 86_400),
                        by: "test", using: &generator))
            }
            let needles = try secrets(site, tokens)
            #expect(needles.count > 20)
            // The needles find what they are of.
            for text in [try String(contentsOf: site.secret, encoding: .utf8), site.listKey.pem, tokens[0].secretText] {
                #expect(Secrets.found(needles, in: Array(text.utf8)) != nil)
            }

            let server = try await ServingProcess.start(site, ["--no-watch", "--log-level", "trace"])
            try await server.says("signed again")
            var answers: [String] = []
            let apps = RawClient(port: server.port)
            for path in [
                "/app/init?appName=bank", "/app/init?appName=bank&appVersion=1.0.0&osVersion=1.0&platform=IOS",
                "/app/init?appName=nobody", "/app/init", "/app/init/public-key?appName=bank", "/lists/bank.json",
                "/lists/bank-canary.json", "/trust/\(World.customer).json.signed", "/pins/bank.pins.json", "/reports",
                "/health/live", "/health/ready", "/health/writable", "/metrics", "/secret", "/../secret",
                "/%2e%2e/secret", "/server.db",
                "/head", "/clock", "/configuration.json", "/",
            ] {
                for headers in [[Self.challenge], [], ["Authorization: Bearer \(tokens[0].secretText)"]] {
                    answers.append(try await apps.request("GET", path, headers).text)
                    answers.append(try await apps.request("POST", path, headers).text)
                }
            }
            let people = RawClient(port: server.administration)
            let digest = "\(Digest(of: site.shown.der))"
            for route in AdministrationRoute.allCases.filter({ $0 != .publish }) + [.publish] {
                let path = route.template.replacing("{app}", with: "bank").replacing("{host}", with: World.host)
                    .replacing("{digest}", with: digest).replacing("{change}", with: "\(change)")
                let query = route == .listChanges ? "?app=bank" : ""
                for token in tokens.map(\.secretText) + [String(repeating: "x", count: 43), ""] {
                    for body in route.hasBody ? ["{}", #"{"reason": "\#(tokens[1].secretText)"}"#] : [""] {
                        answers.append(
                            try await people.request(
                                route.method.rawValue, path + query,
                                [
                                    "Authorization: Bearer \(token)", "Content-Type: application/json",
                                    "Content-Length: \(body.utf8.count)", "", body,
                                ]
                            ).text)
                    }
                }
                // A token where none belongs.
                answers.append(try await people.get("\(path)?token=\(tokens[0].secretText)").text)
            }
            #expect(answers.contains { $0.hasPrefix("HTTP/1.1 200") } && answers.allSatisfy { !$0.isEmpty })
            for answer in answers {
                #expect(Secrets.found(needles, in: Array(answer.utf8)) == nil, "\(answer.prefix(300))")
            }
            #expect(await server.stop() == 0)
            #expect(server.text.contains(" debug ") || server.text.contains(" trace "), "\(server.text)")
            #expect(Secrets.found(needles, in: Array(server.text.utf8)) == nil)

            for entry in try await site.open.catalog.audit(after: -1, limit: 10_000) {
                #expect(Secrets.found(needles, in: entry) == nil, "\(String(decoding: entry, as: UTF8.self))")
            }
            let backup = site.folder.appending(path: "backup")
            _ = try await site.server.backUp(site.open, to: backup, for: BackupExample.key.recipient)
            var files = [backup]
            for case let file as URL in FileManager.default.enumerator(
                at: site.server.url, includingPropertiesForKeys: nil) ?? .init() where !file.hasDirectoryPath
            {
                files.append(file)
            }
            #expect(files.count > 8)
            for file in files {
                #expect(
                    Secrets.found(needles, in: try Array(Data(contentsOf: file))) == nil, "\(file.lastPathComponent)")
            }
        }
    }
}
