import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("holdfastctl repository publish of roots alone", .timeLimit(.minutes(15)))
struct RootsAloneTests {
    private static func place(_ port: Int) -> [String] {
        ["--ca", "root.pem", "--connect-to", "127.0.0.1:\(port)", "--timeout", "60s"]
    }

    /// Publishes the next root.
    private static func publish(_ site: SigningSite, _ more: [String], status: Int32) async throws -> CommandRun {
        try await site.repository("rotate", "site", "--role", "root", "--key", "offline.pem")
        let run = try await site.run(["repository", "publish", "site", "--key", "online.pem"] + more)
        #expect(run.status == status, "\(run.output)\(run.errors)")
        return run
    }

    @Test("The hosts of the published pins are asked after it, and what is not known is no good news")
    func asked() async throws {
        try await SigningSite.with { site in
            let (leaf, backup) = (try site.leaf("leaf.pem"), try site.leaf("b.pem"))
            try await site.beginPublishedRepository(active: leaf, backup: backup)
            try await withLoopbackTLSServer(serving: leaf) { server in
                let good = try await Self.publish(site, Self.place(server.port) + ["--no-shipped-pins"], status: 0)
                #expect(
                    good.lines.first
                        == "Published: root 2, targets 1, timestamp 2, and clients get in at every host that was asked")
                let unsaid = try await Self.publish(site, Self.place(server.port), status: 3)
                #expect(unsaid.output.contains("app versions unknown"), "\(unsaid.output)")
                let forced = try await Self.publish(
                    site, Self.place(server.port) + ["--force", "unreachable"], status: 0)
                #expect(forced.output.contains("overridden: unreachable: app versions unknown"), "\(forced.output)")
                #expect(!forced.output.contains("clients get in at every host"))
                // A wrong certificate is there whatever the root says: the root is published, and the answer is bad.
                try server.serve(site.leaf("wrong.pem"))
                let out = try await Self.publish(site, Self.place(server.port) + ["--no-shipped-pins"], status: 1)
                #expect(out.lines.first?.hasPrefix("CLIENTS ARE LOCKED OUT: ") == true, "\(out.output)")
                #expect(out.output.contains("wrote site/public/metadata/5.root.json"), "\(out.output)")
            }
            let down = try await Self.publish(site, Self.place(1) + ["--no-shipped-pins"], status: 3)
            #expect(down.lines.first?.hasPrefix("Nobody knows whether clients get in: ") == true, "\(down.output)")
            let offline = try await Self.publish(site, ["--force", "offline"], status: 0)
            #expect(offline.lines.first == "Published: root 7, targets 1, timestamp 7")
            #expect(offline.output.contains("overridden: offline: no host was asked"), "\(offline.output)")
        }
    }
}
