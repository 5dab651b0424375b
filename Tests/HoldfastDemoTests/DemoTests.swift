import Foundation
import Holdfast
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfast_demo

@Suite("holdfast-demo", .timeLimit(.minutes(15)))
struct DemoTests {
    private static func run(_ arguments: String...) async throws -> CommandRun {
        try await CommandRun.run(try #require(CommandRun.program("holdfast-demo")), arguments)
    }

    @Test("The demo's every verdict is the expected one, and it says so without colors in a pipe")
    func demo() async throws {
        let run = try await Self.run()
        #expect(run.status == 0)
        #expect(run.errors.isEmpty)
        #expect(!run.actsOnTerminal)
        #expect(run.lines.filter { $0.hasPrefix("ok ") }.count == 50)
        #expect(!run.output.contains("WRONG"))
        #expect(run.output.contains("16 refused: not one byte of a request reached a server."))
        #expect(run.output.contains("All 50 verdicts as expected"))
        for code in [
            "pinMismatch", "expired", "revoked", "notTransparent", "hostNameMismatch", "unknownIssuer", "noUsablePins",
        ] {
            #expect(run.output.contains(code))
        }
    }

    @Test("Pins change in the field: taken, renewed, and kept when somebody publishes what nobody should trust")
    func story() async throws {
        let run = try await Self.run()
        let story = run.lines.drop { !$0.hasPrefix("Pins that change") }.dropFirst().prefix { !$0.isEmpty }
        let expected: [(String, String, String)] = [
            ("nothing stored", "refused", "noUsablePins: the store says empty"), ("a signed list", "accepted", ""),
            ("the trusted server", "accepted", ""), ("new certificate", "refused", "pinMismatch"),
            ("a new list", "accepted", ""), ("no restart", "accepted", ""),
            ("another key", "refused", "invalidSignature"), ("one changed byte", "refused", "invalidSignature"),
            ("expired", "refused", "losesPins"), ("answer to a challenge", "accepted", ""),
            ("replayed", "refused", "invalidSignature"), ("after all that", "accepted", ""),
        ]
        #expect(story.count == expected.count)
        for (line, (what, verdict, reason)) in zip(story, expected) {
            #expect(line.hasPrefix("ok ") && line.contains(what) && line.contains("  \(verdict)"), "\(line)")
            #expect(reason.isEmpty || line.contains(reason), "\(line)")
        }
        #expect(run.output.contains("12 documents refused: the last good pins stayed."))
    }

    @Test("A trust server's document is awaited, pins its keys, and is not replaced by what nobody should trust")
    func trustServer() async throws {
        let run = try await Self.run()
        let scene = run.lines.drop { !$0.hasPrefix("Online pinning") }.dropFirst().prefix { !$0.isEmpty }
        let expected: [(String, String, String)] = [
            ("nothing stored", "accepted", "the trust server's document has its key"),
            ("machine in the middle", "refused", "pinMismatch"),
            ("another trust server", "refused", "untrustedSigner"),
            ("another customer", "refused", "wrongCustomer"), ("after all that", "accepted", ""),
        ]
        #expect(scene.count == expected.count)
        for (line, (what, verdict, reason)) in zip(scene, expected) {
            #expect(line.hasPrefix("ok ") && line.contains(what) && line.contains("  \(verdict)"), "\(line)")
            #expect(reason.isEmpty || line.contains(reason), "\(line)")
        }
    }

    @Test("A repository's pins stay through a rollback, a freeze and stolen keys, and the next root ends each theft")
    func repository() async throws {
        let run = try await Self.run()
        let scene = run.lines.drop { !$0.hasPrefix("Pins that cannot be rolled back") }.dropFirst()
            .prefix { !$0.isEmpty }
        let expected: [(String, String, String)] = [
            ("nothing stored", "accepted", "the pin file has its key"), ("old key withdrawn", "accepted", "fresh"),
            ("the old key, stolen", "refused", "pinMismatch"),
            ("rollback", "refused", "rolledBack: an older timestamp; the pins are fresh"),
            ("after the rollback", "refused", "pinMismatch"),
            ("freeze", "refused", "expired: the timestamp has ended; the pins are stale"),
            ("meanwhile", "accepted", "the pin file has its key"), ("a new timestamp", "accepted", "fresh"),
            ("the thief's pins", "refused", "notSigned: too few keys signed the targets; the pins are fresh"),
            ("overtaken", "refused", "rolledBack: an older timestamp"), ("another online key", "accepted", "fresh"),
            ("once more", "refused", "notSigned: too few keys signed the timestamp"),
            ("the thief's root", "refused", "notSigned: too few keys signed the root"),
            ("another key instead", "accepted", "fresh"), ("machine in the middle", "refused", "pinMismatch"),
            ("after all that", "accepted", ""),
        ]
        #expect(scene.count == expected.count)
        for (line, (what, verdict, reason)) in zip(scene, expected) {
            #expect(line.hasPrefix("ok ") && line.contains(what) && line.contains("  \(verdict)"), "\(line)")
            #expect(reason.isEmpty || line.contains(reason), "\(line)")
        }
    }

    @Test("An update counts as expected only with the right reason and the right pins afterwards")
    func updates() async throws {
        let stage = try DemoStage()
        var updates: [DemoUpdate] = []
        try await DemoStory.tell(on: stage) { event in
            if case .update(let update) = event { updates.append(update) }
        }
        let (taken, refused) = (try #require(updates.first), try #require(updates.last))
        func isAsExpected(
            _ update: DemoUpdate, _ expected: DocumentError.Code?, hasRightPins: Bool = true
        ) -> Bool {
            DemoUpdate(
                what: "", kind: .document, expected: expected.map { .document($0) }, error: update.error,
                hasRightPins: hasRightPins
            ).isAsExpected
        }
        #expect(isAsExpected(taken, nil))
        #expect(!isAsExpected(taken, nil, hasRightPins: false))
        #expect(!isAsExpected(taken, .invalidSignature))
        #expect(isAsExpected(refused, .invalidSignature))
        #expect(!isAsExpected(refused, .losesPins))
        #expect(!isAsExpected(refused, nil))
        #expect(!isAsExpected(refused, .invalidSignature, hasRightPins: false))
    }

    @Test("Verbose prints each refusal in full")
    func verbose() async throws {
        let run = try await Self.run("--verbose")
        #expect(run.status == 0)
        #expect(run.lines.filter { $0.contains("remedy: ") }.count == 16)
    }

    @Test(
        "Output that cannot be written is no success",
        .enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
    func fullDisk() async throws {
        let program = try #require(CommandRun.program("holdfast-demo"))
        let run = try await CommandRun.run(URL(filePath: "/bin/sh"), ["-c", "\"$0\" > /dev/full", program.path])
        #expect(run.status == 3 && run.errors.contains("standard output cannot be written"))
    }

    @Test("A step counts as expected only with the right reason and with the bytes where they belong")
    func expectations() throws {
        let stage = try DemoStage()
        let step = try #require(stage.steps.first { $0.expected == .refused(.expired) })
        func result(
            _ code: TrustFailure.Code?, step: DemoStep = step, atServer: Int = 0, answered: Int = 0,
            writeFailed: Bool = true
        ) -> Bool {
            let failure = code.map { TrustFailure($0, expected: "", found: "") }
            let decision = TrustDecision(
                failure.map(TrustDecision.Verdict.rejected) ?? .trusted, policyName: "", host: nil,
                time: stage.clock.now, chain: nil)
            return DemoResult(
                step: step, decision: decision, bytesAtServer: atServer, bytesAnswered: answered,
                writeFailedWithReason: writeFailed
            ).isAsExpected
        }
        let request = DemoConnection.request.utf8.count
        #expect(result(.expired))
        #expect(!result(.unknownIssuer))
        #expect(!result(nil, atServer: request, answered: request))
        #expect(!result(.expired, atServer: 1))
        #expect(!result(.expired, answered: 1))
        #expect(!result(.expired, writeFailed: false))

        let accepted = try #require(stage.steps.first)
        #expect(result(nil, step: accepted, atServer: request, answered: request, writeFailed: false))
        #expect(!result(nil, step: accepted, atServer: request, answered: 0, writeFailed: false))
        #expect(!result(.expired, step: accepted))
    }
}
