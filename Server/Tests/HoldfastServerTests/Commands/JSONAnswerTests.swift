import Foundation
import HoldfastTesting
import Testing

@testable import PinPublication
@testable import ServerFoundation
@testable import ServerImport
@testable import ServerModel

/// The command's output for programs.
@Suite("The command with --json", .timeLimit(.minutes(5)))
struct JSONAnswerTests {
    private typealias Desk = CommandTests.Desk

    /// The members that these tests read of an object that a verb prints.
    private struct Answer: Decodable {
        struct Finding: Decodable {
            let isFault: Bool
            let words: String
        }

        struct GateResult: Decodable {
            let gate: String
            let refusals: [String]
        }

        struct Seen: Decodable { let certificate: String? }

        struct App: Decodable {
            let name: String
            let generation: Int
            let verdict: String?
            let end: String?
            let losses: [String]
            let open: [Summary]
        }

        struct Summary: Decodable {
            let id: String
            let state: String
        }

        let schema: Int
        let name, displayName, app, id, state, scope, end, published, until, words: String?
        let generation, entries: Int?
        let isGood, ready, passed, hasEnded: Bool?
        let difference, problems: [String]?
        let findings: [Finding]?
        let gates: [GateResult]?
        let seen: [Seen]?
        let apps: [App]?
    }

    /// The objects that a verb prints. Everything else that it prints is on standard error, and makes it fail.
    private func answers(
        _ desk: Desk, _ arguments: [String], status: Int32 = 0, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> [Answer] {
        let output = try await desk.run(
            arguments + ["--data", desk.data, "--json"], status: status, sourceLocation: sourceLocation)
        let lines = output.split(separator: "\n").filter { status == 0 || $0.hasPrefix("{") }
        let answers = try lines.map { line in try JSONDecoder().decode(Answer.self, from: Data(line.utf8)) }
        #expect(answers.allSatisfy { $0.schema == 1 }, "\(output)", sourceLocation: sourceLocation)
        return answers
    }

    /// The only object that a verb prints.
    private func answer(
        _ desk: Desk, _ arguments: String..., status: Int32 = 0, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Answer {
        let all = try await answers(desk, arguments, status: status, sourceLocation: sourceLocation)
        #expect(all.count == 1, sourceLocation: sourceLocation)
        return try #require(all.first, sourceLocation: sourceLocation)
    }

    @Test("Each verb that shows something prints one object a line, before a publication and after it")
    func shown() async throws {
        try await withFolder { folder in
            let desk = try Desk(in: folder)
            try await desk.makeServer()
            try await desk.see()
            let proposed = try await desk.run(
                "change", "propose", "bank", "--data", desk.data, "--format", "list", "--reason", "first",
                "--no-proposer")
            let change = String(proposed.split(separator: "\n")[0].dropFirst("change ".count))

            let early = try await answer(desk, "app", "list")
            #expect(early.name == "bank" && early.generation == 0 && early.published == nil)
            let host = try await answer(desk, "host", "list", "bank")
            #expect(host.name == World.host)
            #expect(host.seen?.map(\.certificate) == ["\(Digest(of: desk.shown.der))"])
            let listed = try await answer(desk, "change", "list", "bank")
            #expect(listed.id == change && listed.app == "bank" && listed.state == "proposed")
            let whole = try await answer(desk, "change", "show", change)
            #expect(whole.id == change && whole.passed == true)
            #expect(whole.difference?.contains { $0.contains("adds host \(World.host):443") } == true)
            #expect(whole.gates?.first?.gate == "validation" && whole.gates?.allSatisfy(\.refusals.isEmpty) == true)
            let digest = "\(Digest(of: desk.next.der))"
            let closed = try await answer(desk, "gate", "bank", World.host, "--digest", digest, status: 1)
            #expect(closed.ready == false && closed.words == "nothing is published yet")
            let waiting = try #require(try await answer(desk, "status").apps?.first)
            #expect(waiting.name == "bank" && waiting.generation == 0 && waiting.end == nil && waiting.verdict == nil)
            #expect(waiting.open.map(\.id) == [change] && waiting.open.map(\.state) == ["proposed"])

            for name in ["alice", "bob"] {
                _ = try await desk.run("approve", change, "--data", desk.data, "--key", "\(name).pem", "--yes")
            }
            _ = try await desk.run("publish", change, "--data", desk.data)
            try await desk.everybodyFollows(isThorough: false)
            let later = try await answer(desk, "app", "list")
            #expect(later.generation == 1 && later.published?.hasSuffix("Z") == true)
            #expect(try await answer(desk, "change", "list", "bank").state == "published")
            #expect(try await answer(desk, "gate", "bank", World.host, "--digest", digest).ready == true)
            let status = try await answer(desk, "status")
            #expect(status.isGood == true && status.problems == [])
            let standing = try #require(status.apps?.first)
            #expect(standing.generation == 1 && standing.losses == [] && standing.open.isEmpty)
            #expect(standing.end?.hasSuffix("Z") == true && standing.verdict != nil)
            let doctor = try await answer(desk, "doctor")
            #expect(doctor.isGood == true && (doctor.entries ?? 0) > 5)
            #expect(doctor.findings?.contains { !$0.isFault && $0.words.contains("backup") } == true)
        }
    }

    @Test("Nothing that anybody wrote into a text controls a terminal, and a secret that is missing is a field")
    func strange() async throws {
        try await withFolder { folder in
            let desk = try Desk(in: folder)
            try await desk.makeServer()
            let name = "Shop\u{202E}\u{9B}\u{2028}\u{E0001}\"é"
            _ = try await desk.run(
                "app", "add", "shop", "--data", desk.data, "--anchors", "roots.pem", "--no-shipped-pins",
                "--display-name", name)
            #expect(try await answers(desk, ["app", "list"]).map(\.displayName) == ["bank", name])
            let printed = try await desk.run("app", "list", "--data", desk.data, "--json")
            #expect(printed.contains(#"Shop\u202e\u009b\u2028\udb40\udc01\"é"#), "\(printed)")

            #expect(try await answers(desk, ["token", "list"]).isEmpty)
            _ = try await desk.run(
                "token", "add", "pipeline", "--data", desk.data, "--app", "bank", "--gate", World.host)
            let token = try await answer(desk, "token", "list")
            #expect(token.name == "pipeline" && token.app == "bank" && token.scope == "gate \(World.host):443")
            #expect(token.hasEnded == false && token.end?.hasSuffix("Z") == true)

            try FileManager.default.removeItem(atPath: desk.path("secret"))
            let status = try await answer(desk, "status", status: 1)
            #expect(status.isGood == false && status.problems?.count == 1 && status.apps?.count == 2)
            let doctor = try await answer(desk, "doctor", status: 1)
            #expect(doctor.isGood == false && doctor.findings?.first?.isFault == true)
        }
    }
}
