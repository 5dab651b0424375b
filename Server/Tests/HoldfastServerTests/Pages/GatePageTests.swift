import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

@Suite("Gates on the page of a change", .timeLimit(.minutes(5)))
struct GatePageTests {
    /// The rows of the page, by gate.
    private func gates(_ change: RandomID, _ desk: PageDesk) async throws -> [String: PageValue] {
        let page = PageValue.record(try await desk.made("/apps/bank/changes/\(change)").content)
        let rows = page["gates"]?.values ?? []
        return Dictionary(rows.compactMap { row in row.text("gate").map { ($0, row) } }) { first, _ in first }
    }

    @Test("Each gate is passed, waits until a time, refuses with its words, or was not asked yet")
    func standings() async throws {
        try await World.run(canary: 86_400) { world in
            let desk = try PageDesk(world)
            let id = try await world.propose(world.draft { $0.formats = World.fewFormats }).change
            let first = try await gates(id, desk)
            #expect(first.count == Gate.allCases.count)
            for gate in [Gate.validation, .base, .lint, .replay, .outlook, .signatures] {
                #expect(first[gate.rawValue]?.text("words") == "passed", "\(gate)")
            }
            #expect(first["canary"]?.text("words") == "waits" && first["canary"]?.text("rank") == "warn")
            #expect(first["canary"]?["refusals"]?.values.isEmpty == false)
            #expect(first["readback"]?.text("words") == "is asked after the upload")
            try await world.approve(id)
            guard case .canary(let until) = try await world.publisher.publish(id).stage else {
                Issue.record("no canary")
                return
            }
            let waiting = try await gates(id, desk)
            #expect(waiting["canary"]?.text("words")?.hasPrefix("waits until \(PageText.time(until))") == true)
            // Documents that end before clients have asked again are refused.
            let short = try await world.propose(
                world.draft {
                    $0.formats = World.fewFormats
                    $0.lifetime = 3_600
                }
            ).change
            let refused = try await gates(short, desk)
            #expect(refused["lint"]?.text("words") == "refuses" && refused["lint"]?.text("rank") == "bad")
            #expect(refused["replay"]?.text("words") == "is asked after those above")
            let html = try await desk.html("/apps/bank/changes/\(short)")
            #expect(html.contains("documents can be signed until"))
            try await world.catalog.add(try await world.statement(.alice, .reject, of: short))
            #expect(try await gates(short, desk).isEmpty)
            #expect(
                try await desk.html("/apps/bank/changes/\(short)").contains("The gates no longer run for this change."))
            try await world.publish(world.draft { $0.formats = World.fewFormats }, forcing: [.canary])
        }
    }

    @Test("A gate that is forced says who lets the change pass")
    func forced() async throws {
        try await World.run(canary: 86_400) { world in
            let desk = try PageDesk(world)
            let id = try await world.propose(
                world.draft { $0.formats = World.fewFormats }, forcing: [.canary]
            ).change
            let before = try await gates(id, desk)["canary"]?.text("words")
            #expect(before == "would refuse, and is forced once it is approved")
            try await world.approve(id)
            let after = try await gates(id, desk)["canary"]
            #expect(after?.text("words") == "would refuse, and is forced by alice, bob")
            _ = try await world.publisher.publish(id)
            try await world.everybodyFollows(isThorough: false)
            #expect(
                try await desk.html("/apps/bank/changes/\(id)").contains("It was published, so it passed each gate"))
        }
    }

    @Test("What gates said counts for a minute, unless something happens")
    func kept() async throws {
        try await World.run { world in
            let desk = try PageDesk(world)
            let id = try await world.propose(world.draft { $0.formats = World.fewFormats }).change
            func asked() async throws -> Int64? {
                try await desk.responder.changes.facts(
                    about: world.catalog.standing(of: id), isOpen: true, to: PageDesk.viewer, from: world.publisher
                )?.answer?.time
            }
            let first = try await asked()
            world.clock.advance(by: .seconds(59))
            #expect(try await asked() == first)
            try await world.approve(id, by: [.alice])
            #expect(try await asked() == world.now)
            let second = world.now
            world.clock.advance(by: .seconds(60))
            #expect(try await asked() == second + 60)
        }
    }

    @Test("Kinds of clients have words, all of them")
    func clients() async throws {
        try await World.run { world in
            let proposal = try await world.propose()
            let page = PageValue.record(
                try await PageDesk(world).made("/apps/bank/changes/\(proposal.change)").content)
            let names = Set(proposal.outlook.rows.compactMap { $0.client?.rawValue })
            let shown = Set(page["outlook"]?.values.compactMap { $0.text("client") } ?? [])
            #expect(names.count >= 4 && shown.isDisjoint(with: names) && shown.count >= names.count, "\(shown)")
            #expect(shown.contains("Apps that download the signed list"))
        }
    }
}
