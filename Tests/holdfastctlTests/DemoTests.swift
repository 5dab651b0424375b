import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("holdfastctl demo")
struct DemoTests {
    @Test("The demo's every verdict is the expected one, and it says so without colours in a pipe")
    func demo() async throws {
        let run = try await CommandRun.holdfastctl(["demo"])
        #expect(run.status == 0)
        #expect(run.errors.isEmpty)
        #expect(!run.actsOnTerminal)
        #expect(run.lines.filter { $0.hasPrefix("ok ") }.count == 13)
        #expect(!run.output.contains("WRONG"))
        #expect(run.output.contains("8 refused: not one byte of a request reached a server."))
        #expect(run.output.contains("All 13 verdicts as expected"))
        for code in ["pinMismatch", "expired", "hostNameMismatch", "unknownIssuer"] {
            #expect(run.output.contains(code))
        }
    }

    @Test("Verbose prints each refusal in full")
    func verbose() async throws {
        let run = try await CommandRun.holdfastctl(["demo", "--verbose"])
        #expect(run.status == 0)
        #expect(run.lines.filter { $0.contains("remedy: ") }.count == 8)
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
