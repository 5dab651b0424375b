import Foundation
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation

@Suite("Other changes that are open", .timeLimit(.minutes(5)))
struct OtherChangesTests {
    @Test("A proposal names the other changes of its app that are still open, and their page does as well")
    func others() async throws {
        try await AdministrationSite.run { site in
            func others(_ answer: RawAnswer) -> [String] {
                (answer.json["stillOpen"] as? [[String: Any]] ?? []).compactMap { $0["id"] as? String }
            }
            let first = try await site.call(
                "POST", "/v1/changes", token: "propose", body: AdministrationSite.proposal())
            #expect(first.status == 201 && others(first) == [] && first.json["stillOpen"] != nil, "\(first.text)")
            let older = try #require(first.json["id"] as? String)
            let second = try await site.call(
                "POST", "/v1/changes", token: "propose", body: AdministrationSite.proposal())
            let newer = try #require(second.json["id"] as? String)
            #expect(second.status == 201 && others(second) == [older], "\(second.text)")
            let desk = try PageDesk(site.world)
            for (id, other) in [(newer, older), (older, newer)] {
                #expect(others(try await site.call("GET", "/v1/changes/\(id)", token: "read")) == [other])
                let html = try await desk.html("/apps/bank/changes/\(id)")
                #expect(html.contains("Publish one of them only") && html.contains("/apps/bank/changes/\(other)\""))
            }
            // Once one is published, the other has lapsed.
            let id = try #require(RandomID(hex: newer.utf8))
            try await site.approve(id)
            _ = try await site.world.publisher.publish(id)
            try await site.world.everybodyFollows()
            for id in [newer, older] {
                #expect(others(try await site.call("GET", "/v1/changes/\(id)", token: "read")) == [])
                #expect(try await !desk.html("/apps/bank/changes/\(id)").contains("Publish one of them only"))
            }
        }
    }
}
