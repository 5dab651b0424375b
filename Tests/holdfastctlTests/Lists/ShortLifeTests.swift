import Foundation
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("holdfastctl sign and short lives", .timeLimit(.minutes(15)))
struct ShortLifeTests {
    @Test(
        "Of 200, 100, 47 and 6 days a third has to be as long as clients may use an older list",
        arguments: [(200.0, "66d", "67d"), (100, "33d", "34d"), (47, "15d", "16d"), (6, "2d", "3d")])
    func lives(days: Double, enough: String, tooLong: String) async throws {
        try await SigningSite.with { site in
            _ = try site.leaf("leaf.pem") { $0.notAfter = .days(days) }
            let signed = try await site.sign(["leaf.pem", "--staleness", enough])
            #expect(signed.status == 0 && !signed.output.isEmpty, "\(signed.errors)")
            let refused = try await site.sign(["leaf.pem", "--staleness", tooLong])
            #expect(refused.status == 1 && refused.output.isEmpty, "\(refused.errors)")
            #expect(refused.errors.contains("lives \(Int(days)) days: renewed after two thirds"), "\(refused.errors)")
            // Without a word, clients may use a list for a week.
            #expect(try await site.sign(["leaf.pem"]).status == (days < 21 ? 1 : 0))
        }
    }

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
