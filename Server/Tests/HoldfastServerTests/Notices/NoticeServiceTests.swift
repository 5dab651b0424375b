import Foundation
import HoldfastTesting
import NIOCore
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import PublicAPI
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerModel
@testable import ServerStore

/// The program itself, telling people.
@Suite("serve tells people", .timeLimit(.minutes(3)))
struct NoticeServiceTests {
    @Test("An open change, an alarm and a round reach the program and the webhook once, whatever the webhook does")
    func tells() async throws {
        try await ServeSite.run { site in
            let root = try TestAuthority.root(name: "Hooks")
            let certificate = try root.leaf(names: [.address([127, 0, 0, 1])])
            try await WebhookReceiver.run(certificate, .status(500)) { receiver in
                let (anchors, secret) = (site.folder.appending(path: "ca.pem"), site.folder.appending(path: "hook"))
                try Data(root.certificate.pem.utf8).write(to: anchors)
                try Data("\(WebhookReceiver.line)\n".utf8).write(to: secret)
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: secret.path)
                let told = site.folder.appending(path: "told")
                let program = site.folder.appending(path: "program")
                try await ExecutableScript.write("#!/bin/sh\ncat >>\(told.path)\n", to: program)
                let arguments = [
                    "--no-watch", "--webhook", "https://127.0.0.1:\(receiver.port)/s3cret", "--webhook-secret",
                    secret.path, "--webhook-ca", anchors.path, "--allow", "127.0.0.0/8", "--on-event", program.path,
                    "--log-format", "json",
                ]
                let server = try await ServingProcess.start(site, arguments)
                try await server.says("telling the webhook: it answered with the status 500")
                receiver.answer(.takes)
                let change = try await site.approvedChange()
                let alarm = Digest(of: [1])
                let host = try #require(try await site.open.catalog.hosts(of: site.app).first)
                try await site.open.catalog.alarm(about: alarm, on: host, of: site.app, words: "evil")
                func everybodyKnows(_ words: String) async throws {
                    try await eventually("everybody is told of \(words): \(server.text)") {
                        let text = (try? String(contentsOf: told, encoding: .utf8)) ?? ""
                        let bodies = receiver.requests.map { String(decoding: $0.body, as: UTF8.self) }
                        return text.contains(words) && bodies.contains { $0.contains(words) }
                    }
                }
                try await everybodyKnows("\(change)")
                try await everybodyKnows("\(alarm)")
                try await site.open.publisher.publish(change)
                try await everybodyKnows(#""count":"\#(site.open.catalog.ledger.chain.head.count)""#)
                // After a restart it is still news, but was sent already.
                let open = try await site.approvedChange(until: 170)
                try await everybodyKnows("\(open)")
                #expect(await server.stop() == 0)
                try await report(site)
                let again = try await ServingProcess.start(site, arguments)
                try await everybodyKnows(#""kind":"report""#)
                try await site.publish()
                try await everybodyKnows(#""count":"\#(site.open.catalog.ledger.chain.head.count)""#)
                let metrics = try await RawClient(port: again.administration).get("/metrics").body
                #expect(metrics.contains(#"holdfast_notices_waiting{to="webhook"} "#), "\(metrics)")
                #expect(await again.stop() == 0)

                let lines = try String(contentsOf: told, encoding: .utf8).split(separator: "\n")
                #expect(Set(lines).count == lines.count, "told twice: \(lines)")
                #expect(lines.count { $0.contains("\(alarm)") } == 1)
                #expect(lines.count { $0.contains(#""about":"failures""#) } == 1)
                let said = server.text + again.text + lines.joined()
                for secret in ["s3cret", "whsec", "MfKQ9r8G", "evil"] { #expect(!said.contains(secret), "\(secret)") }
            }
        }
    }

    /// Clients report failures.
    private func report(_ site: ServeSite) async throws {
        let (catalog, inbox) = (site.open.catalog, ReportInbox())
        try await catalog.set(ReportSettings(isEnabled: true), of: site.app, by: "test")
        inbox.intake.replace(with: try await catalog.reportHosts(remembering: [:]).apps)
        let body = ByteBuffer(string: ReportDesk.networkError())
        let counting = ReportCounting(inbox, in: catalog)
        for _ in 0..<300 {
            #expect(inbox.intake.take(body, for: site.app, from: .unknown) && counting.countNext())
        }
        try await counting.write()
    }
}
