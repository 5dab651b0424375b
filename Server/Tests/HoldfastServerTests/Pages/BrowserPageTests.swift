import Foundation
import Testing

@testable import HoldfastServer

/// Every page in a real browser, with what browsers are told about it. `scripts/screenshots` keeps the pictures.
@Suite(
    "Pages in Chromium", .enabled(if: Browser.isTested, "no browser: scripts/browser-python"),
    .timeLimit(.minutes(10)))
struct BrowserPageTests {
    @Test(
        "axe finds nothing on any page, at three widths, light and dark; the keyboard reaches everything, and no script is needed"
    )
    func everyPage() async throws {
        try await World.run { world in
            let desk = try PageDesk(world)
            let statement = try PasskeyStory.statement(after: try await world.catalog.approvers().head)
            try await world.catalog.append(try PasskeyStory.signed(statement))
            let open = try await PageDesk.fill(world, "Renewal of api.example.com")
            try await PageDesk.disagree(world)
            var pages = [
                (name: "signin", address: "/signin"), (name: "invitation", address: "/invitation/\(Digest(of: [1]))"),
            ]
            pages += zip(["overview", "app", "host", "change", "reports", "people", "audit"], desk.addresses(open))
                .map { (name: $0, address: $1) }
            let problems = try await Browser.problems(with: pages, try await answers(desk, pages))
            #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
        }
    }

    private func answers(
        _ desk: PageDesk, _ pages: [(name: String, address: String)]
    ) async throws -> [(address: String, answer: ListenerAnswer)] {
        var answers: [(address: String, answer: ListenerAnswer)] = []
        let style = try #require(try await desk.html("/").firstMatch(of: /href="(\/style-[^"]*)"/)).1
        for address in pages.map(\.address) + [String(style), "/passkeys.js"] {
            let isSignedIn = address != "/signin" && !address.hasPrefix("/invitation")
            answers.append((address, try #require(await desk.ask(address, isSignedIn: isSignedIn), "\(address)")))
        }
        return answers
    }
}
