import Foundation
import Holdfast
import HoldfastPublishing
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

@Suite("The page of a change", .timeLimit(.minutes(5)))
struct ChangePageTests {
    @Test("An outlook is read as it was stored, with the worst of each kind and age of client at a host")
    func outlook() throws {
        func row(_ holders: String, _ verdict: String, _ more: String = "") -> String {
            #"{"client":"staticList","dialed":"api.example.com","holders":"\#(holders)","#
                + #""verdict":"\#(verdict)"\#(more)}"#
        }
        let sooner = "2026-12-01T12:00:00Z"
        let why = #""cause":{"code":"pins","instant":"\#(sooner)","words":"why"}"#
        let rows = [
            row("current", "in"), row("replaced", "ending", #","until":"2026-12-24T12:00:00Z""#),
            row("replaced", "ending", #","until":"\#(sooner)",\#(why)"#), row("replaced", "in"),
            row("older", "out", #","cause":{"code":"pins","instant":"x","words":""}"#),
            #"{"holders":"current","verdict":"unknown"}"#,
        ]
        let head = #"{"inputs":{},"premises":["a","b"],"#
        let text = head + #""rows":[\#(rows.joined(separator: ","))],"schema":1,"verdict":"ending"}"#
        let outlook = try StoredOutlook(Array(text.utf8))
        #expect(outlook.verdict == .ending && outlook.premises == ["a", "b"] && outlook.rows.count == 2)
        let fares = try #require(outlook.rows.first).fares
        #expect(fares[.current] == StoredOutlook.Fare(verdict: .in, until: nil, cause: nil))
        let until = UTCText.decode(sooner.utf8)
        #expect(fares[.replaced] == StoredOutlook.Fare(verdict: .ending, until: until, cause: "why"))
        #expect(fares[.older]?.cause == "pins" && fares[.beginning] == nil)
        #expect(outlook.rows.last?.host == "" && outlook.rows.last?.fares[.current]?.verdict == .unknown)
        for damaged in ["", "{}", text.replacing("ending", with: "sometimes"), text.replacing("older", with: "x")] {
            #expect(throws: ServerError.self) { try StoredOutlook(Array(damaged.utf8)) }
        }
    }

    @Test("The judge's own outlook is read whole")
    func judged() async throws {
        try await World.run { world in
            let proposal = try await world.propose()
            let stored = try StoredOutlook(try await world.catalog.change(proposal.change).outlook)
            #expect(stored.verdict == proposal.outlook.verdict && stored.premises == proposal.outlook.premises)
            let places = Set(proposal.outlook.rows.map { [$0.host ?? "", $0.client?.rawValue ?? ""] })
            #expect(Set(stored.rows.map { [$0.host, $0.client] }) == places && stored.rows.count == places.count)
        }
    }

    @Test("Who has approved a change, with which key, who is silent, and what is left to do")
    func approvals() async throws {
        try await World.run { world in
            let id = try await world.propose().change
            try await world.approve(id, by: [.bob])
            let desk = try PageDesk(world)
            let page = PageValue.record(try await desk.made("/apps/bank/changes/\(id)").content)
            let (approvals, bob) = (page["approvals"]?.values ?? [], try Approver.bob.identity)
            #expect(approvals.first?.text("person") == "bob" && approvals.first?.text("says") == "approve")
            #expect(approvals.first?.text("identity") == "\(bob)")
            let silent = approvals.dropFirst()
            #expect(Set(silent.compactMap { $0.text("person") }) == ["alice", "carol"])
            #expect(silent.allSatisfy { $0.text("says") == "nothing yet" })
            #expect(page.text("state") == "proposed" && page.text("needed")?.hasPrefix("2 of 3 approvers") == true)
            #expect(page["verdict"]?.text("id") == "\(id)")
            #expect(page["difference"]?.values.contains("adds host api.example.com:443") == true)
            let html = try await desk.html("/apps/bank/changes/\(id)")
            #expect(html.contains("holdfast-server approve \(id) --key FILE"))
            // No approver has a passkey, so there is nothing to press, and no script.
            #expect(!html.contains("<script") && !html.contains("data-passkey="))
            try await world.approve(id, by: [.alice])
            _ = try await world.publisher.publish(id)
            try await world.everybodyFollows(isThorough: false)
            let later = PageValue.record(try await desk.made("/apps/bank/changes/\(id)").content)
            #expect(later.text("state") == "published" && later["verdict"] == .flag(false))
        }
    }

    @Test("With passkeys among the approvers there are buttons, which carry the viewer's token")
    func passkeys() async throws {
        try await World.run { world in
            let statement = try PasskeyStory.statement(after: try await world.catalog.approvers().head)
            try await world.catalog.append(try PasskeyStory.signed(statement))
            let id = try await world.propose().change
            let html = try await PageDesk(world).html("/apps/bank/changes/\(id)")
            let path = "/changes/bank/\(id)"
            for verdict in ["approve", "reject"] {
                #expect(
                    html.contains(
                        "data-passkey=\"\(verdict)\" data-path=\"\(path)/\(verdict)\" data-csrf=\"token-of-alice\""))
            }
            #expect(html.contains("<script src=\"/passkeys.js\" defer></script>"))
        }
    }

    @Test("What a page cannot read of an outlook, it says")
    func damaged() async throws {
        try await World.run { world in
            let id = try await world.propose().change
            let change = try await world.catalog.change(id)
            let damaged = Change(
                id: id, content: change.content, outlook: Array("{".utf8), baseGeneration: 0, forced: [], proposer: nil,
                reason: "a test", proposed: world.now, canaryBegan: nil, approvals: [], ended: nil)
            let chain = try await world.catalog.approvers()
            func content(_ facts: ChangeFacts?) -> PageValue {
                .record(
                    ChangePage(
                        change: damaged.standing, state: .proposed, chain: chain, facts: facts, others: [],
                        staleness: 86_400, csrfToken: "", now: world.now
                    ).content)
            }
            let page = content(ChangeFacts(of: damaged, replacing: nil, unannounced: [], nil))
            #expect(page.text("verdictWords") == "The outlook that is stored cannot be read.")
            #expect(page["outlook"]?.values.isEmpty == true && page["verdict"]?.text("id") == "\(id)")
            // A change that the page has not read cannot be approved.
            let unread = content(nil)
            #expect(unread["isRead"] == .flag(false) && unread["verdict"] == .flag(false))
        }
    }

    @Test("What is longer than a page has room for is cut, and says how much is left out")
    func long() async throws {
        try await World.run { world in
            let id = try await world.propose(world.draft { $0.formats = World.fewFormats }).change
            let change = try await world.catalog.change(id)
            let row = #"{"client":"staticList","dialed":"h0","holders":"current","verdict":"in"}"#
            let rows = (0..<501).map { row.replacing("h0", with: "h\($0).example.com") }.joined(separator: ",")
            let text = #"{"inputs":{},"premises":[],"rows":[\#(rows)],"schema":1,"verdict":"in"}"#
            let long = Change(
                id: id, content: change.content, outlook: Array(text.utf8), baseGeneration: 0, forced: [],
                proposer: nil, reason: "a test", proposed: world.now, canaryBegan: nil, approvals: [], ended: nil)
            let lines = (0..<501).map { "line \($0)" }
            let facts = ChangeFacts(of: long, replacing: nil, unannounced: lines, nil)
            #expect(facts.unannounced.count == 501 && facts.unannounced.last == "and 1 more")
            #expect(facts.outlook?.rows.count == 500 && facts.outlook?.rowCount == 501)
            let page = ChangePage(
                change: long.standing, state: .proposed, chain: try await world.catalog.approvers(), facts: facts,
                others: [], staleness: 86_400, csrfToken: "", now: world.now)
            let words = PageValue.record(page.content).text("verdictWords")
            #expect(words?.hasSuffix("The table has the first 500 of 501 rows.") == true, "\(words ?? "none")")
        }
    }
}
