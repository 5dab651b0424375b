import Foundation
import NIOHTTP1
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

/// Every page in a real browser, with its headers. `scripts/lib/screenshots` keeps the pictures.
@Suite(
    "Pages in Chromium", .needs(.browser),
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
            var pages = [
                (name: "signin", address: "/signin"), (name: "invitation", address: "/invitation/\(Digest(of: [1]))"),
            ]
            pages += zip(["overview", "app", "host", "change", "reports", "people", "audit"], desk.addresses(open))
                .map { (name: $0, address: $1) }
            let keeper = try PageDesk(world, viewer: PageDesk.keeper)
            let forms = try await Self.forms(keeper)
            let addresses = ["/apps/bank", "/apps/bank/hosts/\(World.host)"]
            let kept = addresses.map { (name: "keeper", address: $0) }
            let more = try await answers(keeper, kept).prefix(kept.count).enumerated().map { number, answer in
                (address: "/keeper/\(number)", answer: answer.answer)
            }
            let problems = try await Browser.problems(
                with: pages + (forms + more).map { (name: Self.name($0.address), address: $0.address) },
                try await answers(desk, pages) + forms + more)
            #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
        }
    }

    /// The name of a picture of a form.
    private static func name(_ address: String) -> String {
        String(address.dropFirst().prefix { $0 != "?" }).replacing("/", with: "-").replacing("-bank", with: "")
    }

    /// Each form as a visitor finds it, and one as they get it back.
    private static func forms(_ desk: PageDesk) async throws -> [(address: String, answer: ListenerAnswer)] {
        var forms: [(address: String, answer: ListenerAnswer)] = []
        for address in PageDesk.forms { forms.append((address, try #require(await desk.ask(address)))) }
        let entries = FormEntries(["name": "<Shop>", "title": "Shop", "staleness": "never", "anchors": "none"])
        let refusal = FormRefusal("staleness", "a number from 1 to 366", "another text")
        let answer = await desk.responder.form(.app, entries, refusal, to: PageDesk.keeper)
        // A browser complains about every status that is none of success.
        forms.append(("/add/again", ListenerAnswer(.ok, body: answer.body, headers: answer.headers)))
        let problem = await desk.responder.refusal(SignInResponder.strangePage, to: PageDesk.keeper)
        return forms + [("/add/refused", ListenerAnswer(.ok, body: problem.body, headers: problem.headers))]
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
