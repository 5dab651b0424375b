import Foundation
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("holdfastctl sign and short lives", .timeLimit(.minutes(15)))
struct ShortLifeTests {
    @Test(
        "A certificate is not signed for if its successor could not reach every client, and the reason is reckoned up")
    func shortLife() async throws {
        try await SigningSite.with { site in
            _ = try site.leaf("short.pem") { $0.notAfter = .days(6) }
            _ = try site.leaf("47.pem") { $0.notAfter = .days(47) }
            let short = try await site.sign(["short.pem"])
            #expect(short.status == 1 && short.output.isEmpty)
            #expect(
                short.errors.contains("lives 6 days: renewed after two thirds of that, 4 days, it leaves 2 days"),
                "\(short.errors)")
            #expect(try await site.sign(["short.pem", "--staleness", "2d"]).status == 0)
            #expect(try await site.sign(["47.pem"]).status == 0)
            #expect(try await site.sign(["47.pem", "--staleness", "30d"]).status == 1)
        }
    }
}
