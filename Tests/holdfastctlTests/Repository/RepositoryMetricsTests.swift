import Foundation
import HoldfastNIOTesting
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("Metrics of a repository", .timeLimit(.minutes(5)))
struct RepositoryMetricsTests {
    @Test("renew and publish write metrics instead of text, whatever the answer is, and also if nothing was done")
    func written() async throws {
        try await SigningSite.with { site in
            let (leaf, other) = (try site.leaf("leaf.pem"), try site.leaf("other.pem"))
            try await site.beginRepository(active: leaf, backup: try site.leaf("b.pem"))
            try await withLoopbackTLSServer(serving: leaf) { server in
                let place = [
                    "--ca", "root.pem", "--connect-to", "127.0.0.1:\(server.port)", "--timeout", "60s", "--format",
                    "prometheus", "-o", "site.prom",
                ]
                func metrics(_ arguments: [String], status: Int32) async throws -> [Substring] {
                    try site.write("site.prom", "yesterday\n")
                    let run = try await site.run(arguments + place)
                    #expect(run.status == status && run.output.isEmpty, "\(arguments): \(run.output)\(run.errors)")
                    let text = try site.text("site.prom").replacing("\(site.folder.path)/", with: "")
                    #expect(!text.contains("yesterday"))
                    return text.split(separator: "\n")
                }
                let published = try await metrics(
                    ["repository", "publish", "site", "--key", "online.pem", "--no-shipped-pins"], status: 0)
                #expect(published.contains(#"holdfast_status{verb="repository publish",subject="site"} 0"#))
                let renew = ["repository", "renew", "site", "--key", "online.pem", "--no-shipped-pins"]
                let good = try await metrics(renew, status: 0)
                #expect(good.contains(#"holdfast_status{verb="repository renew",subject="site"} 0"#), "\(good)")
                #expect(
                    good.contains { $0.contains(#"what="timestamp"} "#) }
                        && good.contains { $0.contains(#"what="pins"} "#) })
                try server.serve(other)
                let refused = try await metrics(renew, status: 1)
                #expect(refused.contains(#"holdfast_status{verb="repository renew",subject="site"} 1"#))
                let nobody = renew.map { $0 == "online.pem" ? "nowhere.pem" : $0 }
                let failed = try await metrics(nobody, status: 3)
                #expect(failed.contains(#"holdfast_status{verb="repository renew",subject="site"} 3"#))
                let missing = try await metrics(["repository", "status", "nowhere", "--no-shipped-pins"], status: 3)
                #expect(missing.contains(#"holdfast_status{verb="repository status",subject="nowhere"} 3"#))
                let usage = try await site.run(renew + ["--plan", "--format", "prometheus"])
                #expect(usage.status == 2 && usage.errors.contains("--plan without --format"), "\(usage.errors)")
            }
        }
    }
}
